// refuse: runs a program, lets one system call of it fail, and says how often it did: no tracer, so figures are not withheld.
//
// refuse NUMBER ERRNO all|one|later|none SKIP WHICH FILE PROGRAM [ARGUMENT]...
// The first SKIP calls of each process go on: the loader makes as many. "all": every later one fails, in every process. "one": only
// in the process that is the WHICHth to make a later one. "later": all but the first SKIP calls of all processes together fail. "none":
// no call fails. FILE gets: failed calls, processes with a failed
// call, and the calls of the process that made the most.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { MOST = 1 << 16 };
static struct task { int thread, process; } tasks[MOST];
static struct process { int id, rank; long calls, failed; } processes[MOST];
static int known_tasks, known_processes, ranks;

// The process of a thread.
static int process_of(int thread) {
    for (int at = known_tasks; at-- > 0;)
        if (tasks[at].thread == thread) return tasks[at].process;
    char name[40], line[128];
    int process = thread;
    snprintf(name, sizeof name, "/proc/%d/status", thread);
    FILE *file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Tgid: %d", &process) == 1) break;
    if (file) fclose(file);
    if (known_tasks < MOST) tasks[known_tasks++] = (struct task){thread, process};
    return process;
}

static struct process *known(int id) {
    for (int at = known_processes; at-- > 0;)
        if (processes[at].id == id) return &processes[at];
    if (known_processes == MOST) return NULL;
    processes[known_processes] = (struct process){.id = id};
    return &processes[known_processes++];
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count < 8) return 98;
    unsigned number = atoi(words[1]);
    int error = atoi(words[2]), all = !strcmp(words[3], "all"), one = !strcmp(words[3], "one"),
        later = !strcmp(words[3], "later");
    long skip = atol(words[4]), together = 0;
    int which = atoi(words[5]);
    volatile int *listener = mmap(NULL, sizeof *listener, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (listener == MAP_FAILED) return 98;
    *listener = -1;
    // One table of descriptors, until the child becomes the program: so its listener is ours, too.
    pid_t child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (child < 0) return 98;
    if (child == 0) {
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog filter = {sizeof code / sizeof *code, code};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        int fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
        if (fd < 0) _exit(99);
        *listener = fd;
        execvp(words[7], &words[7]);
        _exit(98);
    }
    int status = 0, ended = 0;
    double end = 0;
    for (;;) {
        if (!ended && waitpid(child, &status, WNOHANG) == child) ended = 1, end = now();
        // Whoever is still there then is found by the campaign.
        if (ended && (*listener < 0 || now() - end > 3)) break;
        struct pollfd wait = {*listener, POLLIN, 0};
        if (poll(&wait, 1, 20) <= 0) continue;
        if (wait.revents & POLLHUP && !(wait.revents & POLLIN)) {
            if (!ended) waitpid(child, &status, 0), ended = 1;
            break;
        }
        struct seccomp_notif asked;
        struct seccomp_notif_resp answer;
        memset(&asked, 0, sizeof asked);
        memset(&answer, 0, sizeof answer);
        if (ioctl(*listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
        struct process *process = known(process_of(asked.pid));
        int fails = 0;
        if (process) {
            process->calls++;
            together++;
            if (later) {
                fails = together > skip;
            } else if (process->calls > skip) {
                if (!process->rank) process->rank = ++ranks;
                fails = all || (one && process->rank == which);
            }
        }
        answer.id = asked.id;
        // The kernel's brk knows no error: it answers with a break that is lower than was asked for.
        if (fails) answer.error = number == SYS_brk ? 0 : -error;
        else answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        if (ioctl(*listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 && fails) process->failed++;
    }
    long failed = 0, met = 0, most = 0;
    for (int at = 0; at < known_processes; at++) {
        failed += processes[at].failed;
        met += processes[at].failed > 0;
        if (processes[at].calls > most) most = processes[at].calls;
    }
    FILE *file = fopen(words[6], "we");
    if (!file || fprintf(file, "%ld %ld %ld\n", failed, met, most) < 0 || fclose(file) != 0) return 98;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

/* Starts a program under a seccomp filter that plants a fault: filter HOW CALL[,CALL]... PROGRAM [ARGUMENT]...
 *
 *   fake    the calls return 0 and are not made
 *   refuse  the calls fail with EPERM
 *   allow   the filter looks at the calls and lets all of them pass, as a container's does
 *   delay   in place of calls a number of instructions, which are run at every entry: they look at an argument */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct { const char *name; int number; } CALLS[] = {
    {"getppid", SYS_getppid}, {"getpid", SYS_getpid}, {"read", SYS_read}, {"write", SYS_write},
    {"semtimedop", SYS_semtimedop}, {"semop", SYS_semop}, {"getrusage", SYS_getrusage}, {"futex", SYS_futex},
    {"sched_yield", SYS_sched_yield}, {"flock", SYS_flock}, {"newfstatat", SYS_newfstatat},
    {"clock_gettime", SYS_clock_gettime}, {"mq_timedsend", SYS_mq_timedsend}, {"msgsnd", SYS_msgsnd},
    {"sched_getaffinity", SYS_sched_getaffinity}, {"getcpu", SYS_getcpu},
};

int main(int count, char **argument) {
    if (count < 4) { fprintf(stderr, "filter fake|refuse|allow|delay CALL[,CALL]...|NUMBER PROGRAM [ARGUMENT]...\n"); return 2; }
    unsigned answer = !strcmp(argument[1], "fake") ? SECCOMP_RET_ERRNO
                    : !strcmp(argument[1], "refuse") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
    struct sock_filter filter[64];
    unsigned short length = 0;
    if (!strcmp(argument[1], "delay")) {
        for (int left = atoi(argument[2]); left > 2 && length < 62; left--)
            filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
        argument[2][0] = 0;
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(argument[2], ","); name; name = strtok(NULL, ",")) {
        int number = -1;
        for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) if (!strcmp(CALLS[i].name, name)) number = CALLS[i].number;
        if (number < 0) { fprintf(stderr, "filter: the call '%s' is not in its table\n", name); return 2; }
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) { perror("filter"); return 1; }
    execvp(argument[3], argument + 3);
    perror(argument[3]);
    return 127;
}

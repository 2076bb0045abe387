// Independent C programs with known calls: the first argument says which one is run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char block[70000];

static void ask(int times) { while (times--) syscall(SYS_getppid); }

static void through(int from, int to, int times, size_t size)
{
	while (times--)
		if (write(to, block, size) != (ssize_t)size || read(from, block, sizeof block) != (ssize_t)size)
			exit(9);
}

static void *asks(void *times) { ask((int)(long)times); return NULL; }

static void threads(int number, long times)
{
	pthread_t all[300];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < number; i++)
		if (pthread_create(&all[i], &small, asks, (void *)times)) exit(9);
	for (int i = 0; i < number; i++) pthread_join(all[i], NULL);
}

static volatile int heard;
static void hear(int signal) { (void)signal; heard++; }

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = hear, .sa_flags = flags };
	sigaction(signal, &action, NULL);
}

static void *asks_on(void *nothing) { for (;;) { ask(1000); usleep(500); } return nothing; }

static void *execs(void *path) { execl(path, path, "ask", "100", NULL); return NULL; }

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	int ends[2];

	if (!strcmp(what, "ask")) {
		ask(atoi(words[2]));
	} else if (!strcmp(what, "pipe")) {
		if (pipe(ends)) return 9;
		through(ends[0], ends[1], 500, 100);
	} else if (!strcmp(what, "stream")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 9;
		through(ends[0], ends[1], 300, 100);
	} else if (!strcmp(what, "datagram")) {
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 9;
		through(ends[0], ends[1], 300, 1000);
	} else if (!strcmp(what, "tcp") || !strcmp(what, "udp")) {
		int is_tcp = *what == 't', one = socket(AF_INET, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
		int other = socket(AF_INET, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
		struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t size = sizeof at;
		if (bind(one, (void *)&at, size) || getsockname(one, (void *)&at, &size)) return 9;
		if (is_tcp && listen(one, 1)) return 9;
		if (connect(other, (void *)&at, size)) return 9;
		through(is_tcp ? accept(one, NULL, NULL) : one, other, 200, 100);
	} else if (!strcmp(what, "connects")) {
		// Without waiting for it: each connection is still being made when the call returns.
		int one = socket(AF_INET, SOCK_STREAM, 0);
		struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t size = sizeof at;
		if (bind(one, (void *)&at, size) || getsockname(one, (void *)&at, &size) || listen(one, 20)) return 9;
		for (int i = 0; i < 10; i++) {
			int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
			if (connect(other, (void *)&at, size) && errno != EINPROGRESS) return 9;
		}
	} else if (!strcmp(what, "eventfd")) {
		int it = eventfd(0, 0);
		unsigned long one = 1;
		for (int i = 0; i < 400; i++)
			if (write(it, &one, 8) != 8 || read(it, &one, 8) != 8) return 9;
	} else if (!strcmp(what, "inotify")) {
		char folder[] = "/tmp/oscost-bill-XXXXXX", path[sizeof folder + 2];
		int it = inotify_init();
		if (!mkdtemp(folder) || inotify_add_watch(it, folder, IN_DELETE) < 0) return 9;
		snprintf(path, sizeof path, "%s/a", folder);
		for (int i = 0; i < 50; i++) {
			close(open(path, O_CREAT | O_WRONLY, 0600));
			unlink(path);
			if (read(it, block, sizeof block) != sizeof(struct inotify_event) + 16) return 9;
		}
		rmdir(folder);
	} else if (!strcmp(what, "futex")) {
		int word = 0;
		for (int i = 0; i < 1000; i++) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
		for (int i = 0; i < 100; i++) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0);
	} else if (!strcmp(what, "semop")) {
		int it = semget(IPC_PRIVATE, 1, 0600);
		struct sembuf up = { 0, 1, 0 }, down = { 0, -1, 0 };
		for (int i = 0; i < 1000; i++) if (semop(it, &up, 1) || semop(it, &down, 1)) return 9;
		semctl(it, 0, IPC_RMID);
	} else if (!strcmp(what, "file")) {
		FILE *it = tmpfile();
		for (int i = 0; i < 50; i++) if (write(fileno(it), block, 65536) != 65536) return 9;
		for (int i = 0; i < 5; i++) fsync(fileno(it));
	} else if (!strcmp(what, "threads")) {
		threads(8, 100);
	} else if (!strcmp(what, "300-threads")) {
		threads(300, 10);
	} else if (!strcmp(what, "forks")) {
		for (int i = 0; i < 50; i++) {
			if (!fork()) { ask(20); _exit(0); }
			wait(NULL);
		}
	} else if (!strcmp(what, "ignores-children")) {
		// Whoever ignores them waits until none is left, and for none of them.
		signal(SIGCHLD, SIG_IGN);
		for (int i = 0; i < 5; i++) if (!fork()) { ask(20); _exit(0); }
		return wait(NULL) == -1 && errno == ECHILD ? 0 : 9;
	} else if (!strcmp(what, "32-bits")) {
#ifdef __x86_64__
		// getpid of the 32-bit ABI, which is writev here.
		for (int i = 0; i < 100; i++) {
			long result = 20;
			__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
			if (result != getpid()) return 9;
		}
#else
		return 8;
#endif
	} else if (!strcmp(what, "exec-chain")) {
		int rest = atoi(words[2]);
		char next[16];
		ask(10);
		snprintf(next, sizeof next, "%d", rest - 1);
		if (rest) execl(words[0], words[0], what, next, NULL);
	} else if (!strcmp(what, "exec-by-thread")) {
		pthread_t it;
		ask(50);
		pthread_create(&it, NULL, execs, words[0]);
		pthread_join(it, NULL);
		return 9;
	} else if (!strcmp(what, "vfork")) {
		for (int i = 0; i < 20; i++) {
			if (!vfork()) { execl(words[0], words[0], "ask", "5", NULL); _exit(9); }
			wait(NULL);
		}
	} else if (!strcmp(what, "storm")) {
		handle(SIGUSR1, 0);
		for (int i = 0; i < 1000; i++) kill(getpid(), SIGUSR1);
		return heard == 1000 ? 0 : 9;
	} else if (!strcmp(what, "ignores")) {
		signal(SIGTERM, SIG_IGN);
		for (int i = 0; i < 100; i++) kill(getpid(), SIGTERM);
		ask(100);
	} else if (!strcmp(what, "seccomp")) {
		struct sock_filter rules[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog program = { 4, rules };
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
		ask(200);
	} else if (!strcmp(what, "traces")) {
		int child = fork(), status;
		if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); ask(77); _exit(0); }
		waitpid(child, &status, WUNTRACED);
		if (ptrace(PTRACE_CONT, child, 0, 0)) { kill(child, SIGKILL); return 9; }
		waitpid(child, &status, 0);
	} else if (!strcmp(what, "restarts")) {
		// A read that a signal interrupts and the kernel restarts is one read; a poll is told EINTR, and made again.
		struct pollfd nobody;
		int child;
		if (pipe(ends)) return 9;
		nobody = (struct pollfd){ ends[0], POLLIN, 0 };
		handle(SIGUSR1, SA_RESTART);
		child = fork();
		if (!child) {
			for (int i = 0; i < 5; i++) { usleep(20000); kill(getppid(), SIGUSR1); }
			usleep(20000);
			_exit(write(ends[1], block, 100) != 100);
		}
		while (poll(&nobody, 1, -1) < 0) ;
		if (read(ends[0], block, 1000) != 100) return 9;
		child = fork();
		if (!child) {
			for (int i = 0; i < 5; i++) { usleep(20000); kill(getppid(), SIGUSR1); }
			usleep(20000);
			_exit(write(ends[1], block, 100) != 100);
		}
		if (read(ends[0], block, 1000) != 100) return 9;
		while (wait(NULL) > 0) ;
	} else if (!strcmp(what, "poll")) {
		struct pollfd all[10];
		for (int i = 0; i < 10; i++) all[i] = (struct pollfd){ -1, POLLIN, 0 };
		for (int i = 0; i < 100; i++) poll(all, 10, 0);
	} else if (!strcmp(what, "clock")) {
		struct timespec now;
		for (int i = 0; i < 300; i++) syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	} else if (!strcmp(what, "map")) {
		for (int i = 0; i < 200; i++)
			munmap(mmap(NULL, 3 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 3 << 20);
	} else if (!strcmp(what, "killed")) {
		ask(100);
		raise(SIGKILL);
	} else if (!strcmp(what, "orphan")) {
		if (!fork()) { usleep(100000); ask(33); _exit(0); }
	} else if (!strcmp(what, "stops")) {
		int child = fork(), status;
		if (!child) { raise(SIGSTOP); ask(44); _exit(0); }
		if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) return 9;
		kill(child, SIGCONT);
		if (waitpid(child, &status, 0) != child || status) return 9;
	} else if (!strcmp(what, "stops-in-a-read")) {
		int child, status;
		if (pipe(ends)) return 9;
		if (!(child = fork())) _exit(read(ends[0], block, 1000) != 100);
		usleep(100000);
		kill(child, SIGSTOP);
		if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) return 9;
		usleep(300000);
		kill(child, SIGCONT);
		if (write(ends[1], block, 100) != 100 || waitpid(child, &status, 0) != child || status) return 9;
	} else if (!strcmp(what, "first-ends")) {
		// Its first thread ends at the first line, and another one works on.
		pthread_t it;
		pthread_create(&it, NULL, asks_on, NULL);
		if (read(0, block, 1) == 1) syscall(SYS_exit, 0);
	} else if (!strcmp(what, "runs")) {
		// Until it is ended: one line for each thousand calls.
		for (;;) { ask(1000); if (write(1, "\n", 1) != 1) return 0; usleep(500); }
	} else {
		return 8;
	}
	return 0;
}

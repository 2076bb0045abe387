/* Faults planted by interposition: libc functions that do nothing, do it only at first, do more, or take longer.
 *
 * FAULT names them: "sem_wait=noop sem_post=noop", "semop=after:3000", "sem_post=extra", "semop=slow:200".
 *   noop     returns success and does nothing
 *   after:N  does the work N times in each process, then nothing
 *   extra    does the work and one more system call
 *   slow:N   does the work after N passes of an empty loop
 *   every:N  leaves out each Nth call
 *   other    makes another system call in its place
 *   partner  does nothing in processes that were forked, such as the partners of a hand-over
 *   fails:N  does the work N times in each process, then fails
 * FAULT_CLOCK=1/2 lets every clock of libc run at that rate; FAULT_COARSE=N lets it advance in steps of N ns;
 * FAULT_JUMP=N/M lets it jump by N ns once in M readings. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum kind { HONEST, NOOP, AFTER, EXTRA, SLOW, EVERY, OTHER, PARTNER, FAILS };
enum way { MAKE_IT, LEAVE_OUT, FAIL };
struct fault { enum kind kind; long number; long calls; };

/* What FAULT says of `name`; looked up once for each function. */
static struct fault planted(const char *name) {
    struct fault fault = {HONEST, 0, 0};
    const char *text = getenv("FAULT");
    size_t length = strlen(name);
    for (; text && *text; text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL) {
        if (strncmp(text, name, length) || text[length] != '=') continue;
        text += length + 1;
        if (!strncmp(text, "noop", 4)) fault.kind = NOOP;
        else if (!strncmp(text, "after:", 6)) { fault.kind = AFTER; fault.number = atol(text + 6); }
        else if (!strncmp(text, "extra", 5)) fault.kind = EXTRA;
        else if (!strncmp(text, "slow:", 5)) { fault.kind = SLOW; fault.number = atol(text + 5); }
        else if (!strncmp(text, "every:", 6)) { fault.kind = EVERY; fault.number = atol(text + 6); }
        else if (!strncmp(text, "other", 5)) fault.kind = OTHER;
        else if (!strncmp(text, "partner", 7)) fault.kind = PARTNER;
        else if (!strncmp(text, "fails:", 6)) { fault.kind = FAILS; fault.number = atol(text + 6); }
        else { fprintf(stderr, "FAULT: '%s'?\n", text); abort(); }
        break;
    }
    return fault;
}

/* Whether this process was forked from the one that loaded us. */
static int forked;
static void in_child(void) { forked = 1; }
__attribute__((constructor)) static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

/* What becomes of the call. */
static inline enum way way_of(struct fault *fault) {
    switch (fault->kind) {
    case HONEST: return MAKE_IT;
    case NOOP: return LEAVE_OUT;
    case AFTER: return fault->calls++ >= fault->number ? LEAVE_OUT : MAKE_IT;
    case EXTRA: syscall(SYS_getppid); return MAKE_IT;
    case SLOW: for (long i = 0; i < fault->number; i++) __asm__ volatile(""); return MAKE_IT;
    case EVERY: return ++fault->calls % fault->number ? MAKE_IT : LEAVE_OUT;
    case OTHER: syscall(SYS_getppid); return LEAVE_OUT;
    case PARTNER: return forked ? LEAVE_OUT : MAKE_IT;
    case FAILS: return fault->calls++ >= fault->number ? FAIL : MAKE_IT;
    }
    return MAKE_IT;
}

#define FAULT_ABOUT(type, name, parameters, arguments, answer) FAULT_ABOUT_IF(1, type, name, parameters, arguments, answer)
#define FAULT_ABOUT_IF(condition, type, name, parameters, arguments, answer)            \
    type name parameters {                                                            \
        static type (*real) parameters;                                               \
        static struct fault fault;                                                        \
        if (!real) { fault = planted(#name); real = (type (*) parameters)dlsym(RTLD_NEXT, #name); } \
        enum way way = (condition) ? way_of(&fault) : MAKE_IT;                          \
        if (way == FAIL) { errno = EIO; return (type)-1; }                            \
        if (way == LEAVE_OUT) return answer;                                          \
        return real arguments;                                                        \
    }

FAULT_ABOUT(int, sem_wait, (sem_t *s), (s), 0)
FAULT_ABOUT(int, sem_post, (sem_t *s), (s), 0)
FAULT_ABOUT(int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n), 0)
FAULT_ABOUT(int, pthread_mutex_lock, (pthread_mutex_t *m), (m), 0)
FAULT_ABOUT(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m), 0)
FAULT_ABOUT(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l), 0)
FAULT_ABOUT(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l), 0)
FAULT_ABOUT(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l), 0)
FAULT_ABOUT(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m), 0)
FAULT_ABOUT(int, pthread_cond_signal, (pthread_cond_t *c), (c), 0)
FAULT_ABOUT(int, flock, (int fd, int how), (fd, how), 0)
/* Tokens alone: what the program reads and writes of its own is longer. */
#define TOKEN 8
FAULT_ABOUT_IF(n <= TOKEN, ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), (ssize_t)n)
FAULT_ABOUT_IF(n <= TOKEN, ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), (ssize_t)n)
FAULT_ABOUT(int, msgsnd, (int id, const void *m, size_t n, int flags), (id, m, n, flags), 0)
FAULT_ABOUT(ssize_t, msgrcv, (int id, void *m, size_t n, long type, int flags), (id, m, n, type, flags), (ssize_t)n)
FAULT_ABOUT(int, mq_send, (mqd_t q, const char *m, size_t n, unsigned p), (q, m, n, p), 0)
FAULT_ABOUT(ssize_t, mq_receive, (mqd_t q, char *m, size_t n, unsigned *p), (q, m, n, p), 1)
FAULT_ABOUT(pid_t, getpid, (void), (), 4711)
FAULT_ABOUT(int, stat, (const char *path, struct stat *to), (path, to), 0)
FAULT_ABOUT(int, close, (int fd), (fd), 0)
FAULT_ABOUT(int, gettimeofday, (struct timeval *to, void *zone), (to, zone), 0)

/* fcntl has a third argument of any kind; record locks are the only ones lied about. */
static int lock_command(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
#define FAULT_ABOUT_FCNTL(name)                                                         \
    int name(int fd, int command, ...) {                                              \
        static int (*real)(int, int, ...);                                            \
        static struct fault fault;                                                        \
        va_list list;                                                                 \
        va_start(list, command);                                                      \
        void *argument = va_arg(list, void *);                                        \
        va_end(list);                                                                 \
        if (!real) { fault = planted("fcntl"); real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name); } \
        enum way way = lock_command(command) ? way_of(&fault) : MAKE_IT;                \
        if (way == FAIL) { errno = EIO; return -1; }                                  \
        if (way == LEAVE_OUT) return 0;                                               \
        return real(fd, command, argument);                                           \
    }
FAULT_ABOUT_FCNTL(fcntl)
FAULT_ABOUT_FCNTL(fcntl64)

/* A clock that runs at another rate, in steps, with jumps, or answers without reading anything. */
static double fraction(const char *name, double without) {
    const char *text = getenv(name);
    if (!text) return without;
    return strchr(text, '/') ? atof(text) / atof(strchr(text, '/') + 1) : atof(text);
}

int clock_gettime(clockid_t clock, struct timespec *to) {
    static int (*real)(clockid_t, struct timespec *);
    static struct fault fault;
    static double rate;
    static long long coarse, jump, often, readings, jumped;
    static struct timespec first[16];
    if (!real) {
        fault = planted("clock_gettime");
        rate = fraction("FAULT_CLOCK", 1.0);
        coarse = (long long)fraction("FAULT_COARSE", 0.0);
        const char *text = getenv("FAULT_JUMP");
        if (text && strchr(text, '/')) { jump = atoll(text); often = atoll(strchr(text, '/') + 1); }
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    if (way_of(&fault) == LEAVE_OUT) { to->tv_sec = 0; to->tv_nsec = 0; return 0; }
    int result = real(clock, to);
    if ((rate == 1.0 && !coarse && !often) || result || clock < 0 || clock >= 16) return result;
    struct timespec *begin = &first[clock];
    if (!begin->tv_sec && !begin->tv_nsec) *begin = *to;
    long long ns = (to->tv_sec - begin->tv_sec) * 1000000000LL + (to->tv_nsec - begin->tv_nsec);
    if (often && ++readings % often == 0) jumped += jump;
    ns = begin->tv_sec * 1000000000LL + begin->tv_nsec + (long long)((double)ns * rate) + jumped;
    if (coarse) ns -= ns % coarse;
    to->tv_sec = ns / 1000000000LL;
    to->tv_nsec = ns % 1000000000LL;
    return 0;
}

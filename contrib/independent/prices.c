/* The price list in plain C: independent of the figures of oscost.
 *
 * Usage: prices CPU PARTNER_CPU OPERATION     one launch: prints the least and the median cost of an operation, in ns
 *        prices list                          the operations
 *
 * A launch is a process of its own, pinned to CPU. Batches of about 20 us are timed by CLOCK_MONOTONIC for 60 ms after
 * 50 ms of warm-up, less the cost of a pair of readings. Partners are forked and pinned to PARTNER_CPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static int cpu, partner_cpu, set_id = -1, queue_id = -1;
static pid_t partner;

static void die(const char *what) {
    fprintf(stderr, "prices: %s: %s\n", what, strerror(errno));
    if (partner > 0) kill(partner, SIGKILL);
    if (set_id >= 0) semctl(set_id, 0, IPC_RMID);
    if (queue_id >= 0) msgctl(queue_id, IPC_RMID, NULL);
    exit(1);
}
#define OK(call) do { if ((call) < 0) die(#call); } while (0)
#define ZERO(call) do { int code_ = (call); if (code_) { errno = code_; die(#call); } } while (0)

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int free_to_move;
static void pin(int to) {
    cpu_set_t set;
    if (free_to_move) return;
    CPU_ZERO(&set);
    CPU_SET(to, &set);
    OK(sched_setaffinity(0, sizeof set, &set));
}

static void *shared(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) die("mmap");
    memset(memory, 0, size);
    return memory;
}

/* A system call without libc: the instruction alone. */
static inline long call3(long number, long a, long b, long c) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c);
#endif
}
static inline long call4(long number, long a, long b, long c, long fourth) {
#ifdef __x86_64__
    long result;
    register long d __asm__("r10") = fourth;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d) : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, fourth);
#endif
}

/* A lock of one word: 0 free, 1 held, 2 held and waited for (Drepper, "Futexes are tricky", mutex 2). */
static void word_lock(int *word) {
    int free = 0;
    if (__atomic_compare_exchange_n(word, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) syscall(SYS_futex, word, FUTEX_WAIT, 2, NULL, NULL, 0);
}
static void word_unlock(int *word) {
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2) syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- one process ----------------------------------------------------------------------------------------------- */
#define LOOP(body) for (long i = 0; i < n; i++) { body; __asm__ volatile("" ::: "memory"); }
static struct timespec ts;
static struct timeval tv;
static struct stat st;
static int fd = -1, pipe_fds[2] = {-1, -1}, pair_fds[2] = {-1, -1};
static char byte;
static sem_t *sem;
static uint64_t eight;
static struct { pthread_mutex_t mutex; pthread_mutex_t second, third; pthread_rwlock_t rw; pthread_cond_t cond; pthread_spinlock_t spin; sem_t sem[2]; int word; int token; } *area;
static struct sembuf down = {0, -1, 0}, up = {0, 1, 0}, undo_down = {0, -1, SEM_UNDO}, undo_up = {0, 1, SEM_UNDO};
static struct { long type; } message = {1};

static void op_monotonic(long n) { LOOP(clock_gettime(CLOCK_MONOTONIC, &ts)) }
static void op_monotonic_raw(long n) { LOOP(clock_gettime(CLOCK_MONOTONIC_RAW, &ts)) }
static void op_monotonic_coarse(long n) { LOOP(clock_gettime(CLOCK_MONOTONIC_COARSE, &ts)) }
static void op_realtime(long n) { LOOP(clock_gettime(CLOCK_REALTIME, &ts)) }
static void op_cputime(long n) { LOOP(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts)) }
static void op_realtime_coarse(long n) { LOOP(clock_gettime(CLOCK_REALTIME_COARSE, &ts)) }
static void op_boottime(long n) { LOOP(clock_gettime(CLOCK_BOOTTIME, &ts)) }
static void op_tai(long n) { LOOP(clock_gettime(CLOCK_TAI, &ts)) }
static void op_thread_cputime(long n) { LOOP(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts)) }
static void op_time(long n) { LOOP(time(NULL)) }
static void op_gettimeofday(long n) { LOOP(gettimeofday(&tv, NULL)) }
static void op_monotonic_syscall(long n) { LOOP(call3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0)) }
static void op_gettimeofday_syscall(long n) { LOOP(call3(SYS_gettimeofday, (long)&tv, 0, 0)) }
#ifdef __x86_64__
static void op_tsc(long n) { LOOP(__rdtsc()) }
static void op_tscp(long n) { unsigned aux; LOOP(__rdtscp(&aux)) }
#endif
static void op_invalid(long n) { LOOP(call3(100000, 0, 0, 0)) }
static void op_getppid(long n) { LOOP(call3(SYS_getppid, 0, 0, 0)) }
static void op_getpid(long n) { LOOP(call3(SYS_getpid, 0, 0, 0)) }
static void op_getpid_libc(long n) { LOOP(getpid()) }
static void op_read0_libc(long n) { LOOP(read(fd, &byte, 0)) }
static void op_read0(long n) { LOOP(call3(SYS_read, fd, (long)&byte, 0)) }
static void op_read1(long n) { LOOP(call3(SYS_read, fd, (long)&byte, 1)) }
static void op_write1(long n) { LOOP(call3(SYS_write, fd, (long)&byte, 1)) }
static void op_getcpu(long n) { unsigned c, node; LOOP(getcpu(&c, &node)) }
static void op_yield_libc(long n) { LOOP(sched_yield()) }
static void op_yield(long n) { LOOP(call3(SYS_sched_yield, 0, 0, 0)) }
static void op_open_close(long n) { LOOP(close(open("/dev/null", O_RDONLY))) }
static void op_stat(long n) { LOOP(stat("/dev/null", &st)) }
/* What lies where is known before the loop: after a locked instruction a load waits, which costs two cycles or more. */
#define HELD(name, function) __typeof__(&function) name = function; __asm__("" : "+r"(name))
static void op_sem(long n) { sem_t *const it = sem; HELD(take_it, sem_wait); HELD(give_it, sem_post); LOOP(take_it(it); give_it(it)) }
static void op_semop(long n) { LOOP(semop(set_id, &down, 1); semop(set_id, &up, 1)) }
static void op_semop_one(long n) { struct sembuf both[2] = {down, up}; LOOP(semop(set_id, both, 2)) }
static void op_semop_undo(long n) { LOOP(semop(set_id, &undo_down, 1); semop(set_id, &undo_up, 1)) }
static void op_eventfd(long n) { uint64_t one = 1; LOOP(if (read(fd, &eight, 8) < 0 || write(fd, &one, 8) < 0) die("eventfd")) }
static void op_mutex(long n) {
    pthread_mutex_t *const it = &area->mutex;
    HELD(take_it, pthread_mutex_lock);
    HELD(give_it, pthread_mutex_unlock);
    LOOP(take_it(it); give_it(it))
}
static void op_rwlock_read(long n) {
    pthread_rwlock_t *const it = &area->rw;
    HELD(take_it, pthread_rwlock_rdlock);
    HELD(give_it, pthread_rwlock_unlock);
    LOOP(ZERO(take_it(it)); ZERO(give_it(it)))
}
static void op_rwlock_write(long n) {
    pthread_rwlock_t *const it = &area->rw;
    HELD(take_it, pthread_rwlock_wrlock);
    HELD(give_it, pthread_rwlock_unlock);
    LOOP(ZERO(take_it(it)); ZERO(give_it(it)))
}
static void op_word(long n) { LOOP(word_lock(&area->word); word_unlock(&area->word)) }
static void op_spin(long n) {
    LOOP(int free = 0;
         while (!__atomic_compare_exchange_n(&area->word, &free, 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) free = 0;
         __atomic_store_n(&area->word, 0, __ATOMIC_RELEASE))
}
static void op_cond(long n) {
    LOOP(pthread_mutex_lock(&area->mutex);
         while (!area->token) pthread_cond_wait(&area->cond, &area->mutex);
         area->token = 0;
         pthread_mutex_unlock(&area->mutex);
         pthread_mutex_lock(&area->mutex);
         area->token = 1;
         pthread_cond_signal(&area->cond);
         pthread_mutex_unlock(&area->mutex))
}
static uint64_t read_out;
static void op_clock_pair(long n) { LOOP(read_out = now(); read_out = now()) }
static void op_nothing(long n) { while (n > 0) { __asm__ volatile("" : "+r"(n)); n--; } }
static void op_call_once(long n) { LOOP(call3(SYS_getppid, 0, 0, 0)) }
static void op_call_twice(long n) { LOOP(call3(SYS_getppid, 0, 0, 0); call3(SYS_getppid, 0, 0, 0)) }
static void op_call_four_times(long n) {
    LOOP(call3(SYS_getppid, 0, 0, 0); call3(SYS_getppid, 0, 0, 0); call3(SYS_getppid, 0, 0, 0); call3(SYS_getppid, 0, 0, 0))
}
static int own_word;
static void op_futex_wake(long n) { LOOP(syscall(SYS_futex, &own_word, FUTEX_WAKE, 1, NULL, NULL, 0)) }
static void op_futex_mismatch(long n) { LOOP(syscall(SYS_futex, &own_word, FUTEX_WAIT, 1, NULL, NULL, 0)) }
static void op_pipe_token(long n) { LOOP(if (read(pipe_fds[0], &byte, 1) < 0 || write(pipe_fds[1], &byte, 1) < 0) die("pipe")) }
static void op_pipe_alone(long n) { LOOP(if (write(pipe_fds[1], &byte, 1) < 0 || read(pipe_fds[0], &byte, 1) < 0) die("pipe")) }
static void op_message(long n) { LOOP(msgrcv(queue_id, &message, 0, 0, 0); msgsnd(queue_id, &message, 0, 0)) }
static void op_flock(long n) { LOOP(flock(fd, LOCK_EX); flock(fd, LOCK_UN)) }
static void record(int command, int type, int on) {
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = on, .l_len = 1};
    OK(fcntl(fd, command, &lock));
}
static void op_fcntl(long n) { LOOP(record(F_SETLKW, F_WRLCK, 0); record(F_SETLKW, F_UNLCK, 0)) }
static void op_ofd(long n) { LOOP(record(F_OFD_SETLKW, F_WRLCK, 0); record(F_OFD_SETLKW, F_UNLCK, 0)) }

/* --- set-up ------------------------------------------------------------------------------------------------------- */
static void need_devzero(void) { OK(fd = open("/dev/zero", O_RDONLY)); }
static void need_devnull(void) { OK(fd = open("/dev/null", O_WRONLY)); }
static void need_memfd(void) { OK(fd = memfd_create("prices", 0)); OK(ftruncate(fd, 4096)); }
static void need_empty_pipe(void) { OK(pipe(pipe_fds)); fd = pipe_fds[0]; OK(fcntl(fd, F_SETFL, O_NONBLOCK)); }
static void need_pipe(void) { OK(pipe(pipe_fds)); }
static void need_full_pipe(void) { OK(pipe(pipe_fds)); if (write(pipe_fds[1], &byte, 1) != 1) die("write"); }
static void need_area(void) { area = shared(sizeof *area); }
static void need_sem(void) { need_area(); sem = &area->sem[0]; OK(sem_init(sem, 1, 1)); }
static void need_named_sem(void) {
    char name[64];
    snprintf(name, sizeof name, "/prices-%d", getpid());
    sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    if (sem == SEM_FAILED) die("sem_open");
    sem_unlink(name);
}
static void need_set(void) { OK(set_id = semget(IPC_PRIVATE, 2, 0600)); OK(semop(set_id, &up, 1)); }
static void need_eventfd(void) { OK(fd = eventfd(1, EFD_SEMAPHORE)); }
static void need_queue(void) { OK(queue_id = msgget(IPC_PRIVATE, 0600)); OK(msgsnd(queue_id, &message, 0, 0)); }
static void mutex_of(int is_shared, int robust, int inherit) {
    need_area();
    pthread_mutexattr_t attr;
    ZERO(pthread_mutexattr_init(&attr));
    if (is_shared) ZERO(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    if (robust) ZERO(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    if (inherit) ZERO(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
    ZERO(pthread_mutex_init(&area->mutex, &attr));
}
static void need_mutex(void) { mutex_of(0, 0, 0); }
static void need_shared_mutex(void) { mutex_of(1, 0, 0); }
static void need_robust(void) { mutex_of(1, 1, 0); }
static void need_inherit(void) { mutex_of(1, 0, 1); }
static void need_rwlock(void) {
    need_area();
    pthread_rwlockattr_t attr;
    ZERO(pthread_rwlockattr_init(&attr));
    ZERO(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    ZERO(pthread_rwlock_init(&area->rw, &attr));
}
static void need_cond(void) {
    mutex_of(1, 0, 0);
    pthread_condattr_t attr;
    ZERO(pthread_condattr_init(&attr));
    ZERO(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    ZERO(pthread_cond_init(&area->cond, &attr));
    area->token = 1;
}
static void need_file(void) { OK(fd = memfd_create("prices", 0)); OK(ftruncate(fd, 1 << 20)); }
/* Another process holds so many records of the file, from the third byte on, each second one. */
static void beside(int others) {
    int ready[2];
    need_file();
    OK(pipe(ready));
    partner = fork();
    if (partner < 0) die("fork");
    if (partner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 1; i <= others; i++) record(F_SETLKW, F_WRLCK, 2 * i);
        if (write(ready[1], &byte, 1) != 1) die("write");
        for (;;) pause();
    }
    if (read(ready[0], &byte, 1) != 1) die("read");
}
static void need_10(void) { beside(10); }
static void need_100(void) { beside(100); }
static void need_1000(void) { beside(1000); }
static void need_10000(void) { beside(10000); }

#include "offspring.h"
#include "pairs.h"
#include "kernel.h"
#include "layers.h"

#include "list.h"
#define COUNT (sizeof OPERATIONS / sizeof *OPERATIONS)

static int by_value(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }

int main(int count, char **argument) {
    if (count == 2 && !strcmp(argument[1], "list")) {
        for (size_t i = 0; i < COUNT; i++) puts(OPERATIONS[i].id);
        return 0;
    }
    if (count != 4) { fprintf(stderr, "prices CPU PARTNER_CPU OPERATION | prices list\n"); return 2; }
    cpu = atoi(argument[1]);
    partner_cpu = atoi(argument[2]);
    const struct operation *operation = NULL;
    for (size_t i = 0; i < COUNT; i++) if (!strcmp(OPERATIONS[i].id, argument[3])) operation = &OPERATIONS[i];
    if (!operation) { fprintf(stderr, "prices: no operation '%s'\n", argument[3]); return 2; }
    free_to_move = strstr(operation->id, "/unpinned") != NULL;
    /* The partner's CPU is kept awake until this process ends, but where waking it is what is measured. */
    int none = 0, idle = strstr(operation->id, "/cross_cpu") && !strstr(operation->id, "cpu_pair/wake_up") ? open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC) : -1;
    if (idle >= 0 && write(idle, &none, sizeof none) != sizeof none) die("cpu_dma_latency");
    pin(cpu);
    if (operation->need) operation->need();
    if (operation->partner == 1) start_partner(answer);
    /* What a pair of readings costs. */
    double pair = 0;
    for (int i = 0; i < 20000; i++) { uint64_t t = now(); double d = (double)(now() - t); if (i == 0 || d < pair) pair = d; }
    /* Iterations of a batch of 20 us, as long as oscost's (of a clock with steps of 20 ns or less): what is done in a row may cost less each. 16 at least of a hand-over. */
    long n = 1;
    for (; operation->loop; n *= 2) {
        uint64_t least = UINT64_MAX;
        in_a_row = n;
        for (int i = 0; i < 5; i++) { if (arm) arm(); uint64_t t = now(); operation->loop(n); uint64_t d = now() - t; if (d < least) least = d; }
        if (least < 10000) continue;
        n = (n * 20000 + (long)least / 2) / (long)least;
        if (n < 1) n = 1;
        break;
    }
    if (operation->partner && n < 16) n = 16;
    if (arm == let_it_go) n = 32;
    /* Once around what a cache may hold: a floor of many short walks is that of the luckiest. */
    long around = links < 16384 ? links : 16384;
    if (block_bytes) around = (long)(block_bytes < 1 << 20 ? block_bytes : 1 << 20) / 1024;
    if (n < around) n = around;
    in_a_row = n;
    static double samples[200000];
    size_t taken = 0;
    uint64_t start = now(), from = start + 50000000u, until = from + 60000000u;
    if (operation->partner || sample) until += 140000000u;
    if (arm == let_it_go) until += 1500000000u;
    for (uint64_t t = start; (t < until || taken < 7) && taken < sizeof samples / sizeof *samples; ) {
        if (arm) arm();
        t = now();
        double own_time = sample ? sample() : (operation->loop(n), 0);
        uint64_t end = now();
        if (t >= from) samples[taken++] = sample ? own_time : ((double)(end - t) - pair) / (double)(n * operation->parts);
        t = end;
    }
    qsort(samples, taken, sizeof *samples, by_value);
    printf("%.4f %.4f\n", samples[0], samples[taken / 2]);
    if (partner > 0) { kill(partner, SIGKILL); waitpid(partner, NULL, 0); }
    if (set_id >= 0) semctl(set_id, 0, IPC_RMID);
    if (queue_id >= 0) msgctl(queue_id, IPC_RMID, NULL);
    return 0;
}

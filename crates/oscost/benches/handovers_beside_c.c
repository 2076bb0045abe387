/* Hand-overs and fights in a plain C program: the same protocols, written apart from oscost's code.
 * Usage: handovers_beside_c ring|token KIND CPU PARTNERS_CPU
 *          prints, for batches of 1, 2, 8 and 64 iterations, the least and the median ns of a hand-over, and at last that of
 *          one batch that goes on for 15 ms; an iteration is two hand-overs.
 *        handovers_beside_c fight KIND HOLD_US WORKERS CPU...
 *          prints ns of one turn of workers that all want one lock, over 30 ms. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { perror(#what); _exit(1); } } while (0)
#define SLOTS 3
#define WORKERS 8

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK(!sched_setaffinity(0, sizeof set, &set));
}

/* What several kinds share: a line for each word, in memory that children share. */
struct line { _Alignas(256) union { pthread_mutex_t mutex; pthread_rwlock_t rwlock; pthread_cond_t condition; sem_t semaphore; atomic_uint word; atomic_llong number; }; };
static struct line *lines;
static struct line *condition_of(int slot) { return &lines[8 + slot]; }
static struct line *mutex_of(int slot) { return &lines[12 + slot]; }
static sem_t *named[SLOTS];
static int fds[SLOTS], ends[SLOTS][2], ids[SLOTS];

static pid_t maker;
static void system_v_remove(void);
static void removes(void)
{
    if (!maker) atexit(system_v_remove);
    maker = getpid();
}

/* Takes and gives of each kind. What begins with `make` gets the number of tokens that lie there at first. */
static void make_mutex(int slot, int protocol, int robust, int shared)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (shared) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (protocol) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    CHECK(!pthread_mutex_init(&lines[slot].mutex, &attributes));
}
static void make_shared_mutex(int slot, int tokens) { (void)tokens; make_mutex(slot, 0, 0, 1); }
static void make_robust_mutex(int slot, int tokens) { (void)tokens; make_mutex(slot, 0, 1, 1); }
static void make_pi_mutex(int slot, int tokens) { (void)tokens; make_mutex(slot, 1, 0, 1); }
static void take_mutex(int slot) { CHECK(!pthread_mutex_lock(&lines[slot].mutex)); }
static void give_mutex(int slot) { CHECK(!pthread_mutex_unlock(&lines[slot].mutex)); }

static void make_rwlock(int slot, int tokens)
{
    pthread_rwlockattr_t attributes;
    (void)tokens;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    CHECK(!pthread_rwlock_init(&lines[slot].rwlock, &attributes));
}
static void take_rwlock_write(int slot) { CHECK(!pthread_rwlock_wrlock(&lines[slot].rwlock)); }
static void take_rwlock_read(int slot) { CHECK(!pthread_rwlock_rdlock(&lines[slot].rwlock)); }
static void give_rwlock(int slot) { CHECK(!pthread_rwlock_unlock(&lines[slot].rwlock)); }

/* 0 free, 1 held, 2 held and perhaps waited for. */
static void make_nothing(int slot, int tokens) { (void)slot; (void)tokens; }
static void take_futex(int slot)
{
    atomic_uint *word = &lines[slot].word;
    unsigned free = 0;
    if (atomic_compare_exchange_strong(word, &free, 1)) return;
    while (atomic_exchange(word, 2)) syscall(SYS_futex, word, FUTEX_WAIT, 2, NULL);
}
static void give_futex(int slot)
{
    if (atomic_exchange(&lines[slot].word, 0) == 2) syscall(SYS_futex, &lines[slot].word, FUTEX_WAKE, 1);
}
static void take_spin(int slot)
{
    atomic_uint *word = &lines[slot].word;
    for (unsigned spins = 1, free = 0; !atomic_compare_exchange_weak(word, &free, 1); free = 0)
        while (atomic_load_explicit(word, memory_order_relaxed)) {
            __asm__ volatile("pause");
            if (spins++ % 10000 == 0) sched_yield();
        }
}
static void give_spin(int slot) { atomic_store(&lines[slot].word, 0); }

static int file(void)
{
    int fd = memfd_create("handovers", MFD_CLOEXEC);
    CHECK(fd >= 0 && !ftruncate(fd, 4096));
    return fd;
}
static void again(int slot)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[slot]);
    CHECK((fds[slot] = open(path, O_RDWR)) >= 0);
}
static void make_file(int slot, int tokens) { (void)tokens; fds[slot] = file(); }
static void byte_lock(int slot, int command, int type)
{
    struct flock byte = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    CHECK(!fcntl(fds[slot], command, &byte));
}
static void take_fcntl(int slot) { byte_lock(slot, F_SETLKW, F_WRLCK); }
static void give_fcntl(int slot) { byte_lock(slot, F_SETLK, F_UNLCK); }
static void take_ofd(int slot) { byte_lock(slot, F_OFD_SETLKW, F_WRLCK); }
static void give_ofd(int slot) { byte_lock(slot, F_OFD_SETLK, F_UNLCK); }
static void take_flock(int slot) { CHECK(!flock(fds[slot], LOCK_EX)); }
static void give_flock(int slot) { CHECK(!flock(fds[slot], LOCK_UN)); }

static void make_posix_named(int slot, int tokens)
{
    char name[64];
    snprintf(name, sizeof name, "/handovers-%d-%d", getpid(), slot);
    named[slot] = sem_open(name, O_CREAT | O_EXCL, 0600, tokens);
    CHECK(named[slot] != SEM_FAILED && !sem_unlink(name));
}
static void take_posix_named(int slot) { CHECK(!sem_wait(named[slot])); }
static void give_posix_named(int slot) { CHECK(!sem_post(named[slot])); }
static void make_posix_unnamed(int slot, int tokens) { CHECK(!sem_init(&lines[slot].semaphore, 1, (unsigned)tokens)); }
static void take_posix_unnamed(int slot) { CHECK(!sem_wait(&lines[slot].semaphore)); }
static void give_posix_unnamed(int slot) { CHECK(!sem_post(&lines[slot].semaphore)); }

static void make_system_v(int slot, int tokens)
{
    CHECK((ids[slot] = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    removes();
    CHECK(!semctl(ids[slot], 0, SETVAL, tokens));
}
static void change(int slot, int by)
{
    struct sembuf operation = {0, (short)by, 0};
    CHECK(!semop(ids[slot], &operation, 1));
}
static void take_system_v(int slot) { change(slot, -1); }
static void give_system_v(int slot) { change(slot, 1); }
static void make_system_v_message(int slot, int tokens)
{
    long message = 1;
    CHECK((ids[slot] = msgget(IPC_PRIVATE, 0600)) >= 0);
    removes();
    if (tokens) CHECK(!msgsnd(ids[slot], &message, 0, 0));
}
static void take_system_v_message(int slot) { long message; CHECK(msgrcv(ids[slot], &message, 0, 0, 0) == 0); }
static void give_system_v_message(int slot) { long message = 1; CHECK(!msgsnd(ids[slot], &message, 0, 0)); }

static void make_eventfd(int slot, int tokens) { CHECK((fds[slot] = eventfd((unsigned)tokens, EFD_SEMAPHORE)) >= 0); }
static void take_eventfd(int slot) { long long value; CHECK(read(fds[slot], &value, 8) == 8); }
static void give_eventfd(int slot) { long long value = 1; CHECK(write(fds[slot], &value, 8) == 8); }
static void give_pipe_token(int slot) { CHECK(write(ends[slot][1], "", 1) == 1); }
static void make_pipe_token(int slot, int tokens) { CHECK(!pipe(ends[slot])); if (tokens) give_pipe_token(slot); }
static void take_pipe_token(int slot) { char byte; CHECK(read(ends[slot][0], &byte, 1) == 1); }

static void make_condition_variable(int slot, int tokens)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    CHECK(!pthread_mutex_init(&mutex_of(slot)->mutex, &mutex));
    CHECK(!pthread_cond_init(&condition_of(slot)->condition, &condition));
    lines[slot].word = (unsigned)tokens;
}
static void take_condition_variable(int slot)
{
    CHECK(!pthread_mutex_lock(&mutex_of(slot)->mutex));
    while (!lines[slot].word) CHECK(!pthread_cond_wait(&condition_of(slot)->condition, &mutex_of(slot)->mutex));
    lines[slot].word = 0;
    CHECK(!pthread_mutex_unlock(&mutex_of(slot)->mutex));
}
static void give_condition_variable(int slot)
{
    CHECK(!pthread_mutex_lock(&mutex_of(slot)->mutex));
    lines[slot].word = 1;
    CHECK(!pthread_cond_signal(&condition_of(slot)->condition));
    CHECK(!pthread_mutex_unlock(&mutex_of(slot)->mutex));
}

static const struct kind {
    const char *name;
    void (*make)(int, int), (*take)(int), (*give)(int), (*own)(int);
} kinds[] = {
    {"shared_mutex", make_shared_mutex, take_mutex, give_mutex, NULL},
    {"robust_mutex", make_robust_mutex, take_mutex, give_mutex, NULL},
    {"pi_mutex", make_pi_mutex, take_mutex, give_mutex, NULL},
    {"rwlock_write", make_rwlock, take_rwlock_write, give_rwlock, NULL},
    {"rwlock_read", make_rwlock, take_rwlock_read, give_rwlock, NULL},
    {"futex", make_nothing, take_futex, give_futex, NULL},
    {"spin", make_nothing, take_spin, give_spin, NULL},
    {"fcntl", make_file, take_fcntl, give_fcntl, NULL},
    {"ofd", make_file, take_ofd, give_ofd, again},
    {"flock", make_file, take_flock, give_flock, again},
    {"posix_named", make_posix_named, take_posix_named, give_posix_named, NULL},
    {"posix_unnamed", make_posix_unnamed, take_posix_unnamed, give_posix_unnamed, NULL},
    {"system_v", make_system_v, take_system_v, give_system_v, NULL},
    {"eventfd", make_eventfd, take_eventfd, give_eventfd, NULL},
    {"pipe_token", make_pipe_token, take_pipe_token, give_pipe_token, NULL},
    {"system_v_message", make_system_v_message, take_system_v_message, give_system_v_message, NULL},
    {"condition_variable", make_condition_variable, take_condition_variable, give_condition_variable, NULL},
};
static const struct kind *kind;

static void system_v_remove(void)
{
    if (getpid() != maker) return;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (kind->make == make_system_v) semctl(ids[slot], 0, IPC_RMID);
        else msgctl(ids[slot], IPC_RMID, NULL);
    }
}

static pid_t start(int cpu)
{
    fflush(stdout);
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        pin(cpu);
        for (int slot = 0; kind->own && slot < SLOTS; slot++) kind->own(slot);
    }
    return child;
}

/* Ring: we hold two of three locks between batches, the partner the third, and waits for our older one. */
static int older = 0;
static void ring_partner(atomic_llong *ready)
{
    int held = 2;
    kind->take(held);
    atomic_store(ready, 1);
    for (;;) {
        int next = (held + 1) % 3;
        kind->take(next);
        kind->give(held);
        held = next;
    }
}
static void ring_batch(int iterations)
{
    while (iterations-- > 0) {
        kind->give(older);
        kind->take((older + 2) % 3);
        older = (older + 1) % 3;
    }
}

/* Token: it lies in slot 0 for the partner, in slot 1 for us. */
static void token_partner(atomic_llong *ready)
{
    atomic_store(ready, 1);
    for (;;) { kind->take(0); kind->give(1); }
}
static void token_batch(int iterations)
{
    while (iterations-- > 0) { kind->give(0); kind->take(1); }
}

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static void handovers(int is_ring, int partners_cpu)
{
    static double samples[20000];
    atomic_llong *ready = &lines[20].number;
    void (*batch)(int) = is_ring ? ring_batch : token_batch;
    for (int slot = 0; slot < SLOTS; slot++) kind->make(slot, 0);
    if (is_ring) { kind->take(0); kind->take(1); }
    pid_t child = start(partners_cpu);
    if (child == 0) (is_ring ? ring_partner : token_partner)(ready);
    while (!atomic_load(ready)) sched_yield();
    const int sizes[] = {1, 2, 8, 64};
    for (int warm = 0; warm < 200; warm++) batch(8);
    for (int index = 0; index < 4; index++) {
        int n = sizes[index], count = 0;
        for (long long end = now() + 25000000; now() < end && count < 20000;) {
            /* The partner falls asleep meanwhile, whichever CPU it is on. A waiter that spins as long as the holder runs
             * (priority inheritance) falls asleep only when we sleep, too. */
            struct timespec nap = {0, 30000};
            nanosleep(&nap, NULL);
            for (long long rest = now() + 20000; now() < rest;) {}
            long long before = now();
            batch(n);
            samples[count++] = (double)(now() - before) / n / 2;
        }
        qsort(samples, count, sizeof *samples, by_size);
        printf("%.2f %.2f ", samples[0], samples[count / 2]);
    }
    long long before = now(), iterations = 0;
    for (; now() - before < 15000000; iterations += 256) batch(256);
    printf("%.2f\n", (double)(now() - before) / iterations / 2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void hold(long passes) { while (passes-- > 0) __asm__ volatile(""); }

static long passes_of(long long ns)
{
    long long least = 1LL << 60;
    for (int try = 0; try < 15; try++) {
        long long before = now();
        hold(100000);
        long long took = now() - before;
        if (took < least) least = took;
    }
    return (long)(ns * 100000 / least);
}

static void fight(long long hold_us, int workers, char **cpus, int count)
{
    atomic_llong *phase = &lines[20].number, *ready = &lines[21].number;
    long long *counter = (long long *)&lines[22];
    long passes = passes_of(hold_us * 1000);
    kind->make(0, 1);
    if (kind->own) for (int slot = 1; slot < SLOTS; slot++) fds[slot] = fds[0];
    if (kind->make == make_system_v) ids[1] = ids[2] = ids[0];
    if (kind->make == make_system_v_message) ids[1] = ids[2] = ids[0];
    pid_t children[WORKERS];
    for (int worker = 0; worker < workers; worker++) {
        if ((children[worker] = start(atoi(cpus[worker % count]))) != 0) continue;
        long long turns = 0;
        atomic_fetch_add(ready, 1);
        while (atomic_load(phase) == 0) sched_yield();
        while (atomic_load(phase) == 1) {
            kind->take(0);
            long long value = *(volatile long long *)counter;
            hold(passes);
            *(volatile long long *)counter = value + 1;
            kind->give(0);
            if (atomic_load(phase) == 1) turns++;
        }
        atomic_store(&lines[24 + worker].number, turns);
        _exit(0);
    }
    while (atomic_load(ready) < workers) sched_yield();
    long long before = now();
    atomic_store(phase, 1);
    struct timespec rest = {0, 30000000};
    nanosleep(&rest, NULL);
    long long took = now() - before, turns = 0;
    atomic_store(phase, 2);
    for (int worker = 0; worker < workers; worker++) {
        waitpid(children[worker], NULL, 0);
        turns += atomic_load(&lines[24 + worker].number);
    }
    printf("%.2f\n", (double)took / (turns ? turns : 1));
}

int main(int count, char **argument)
{
    if (count < 5) { fprintf(stderr, "usage: see the source\n"); return 2; }
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++)
        if (!strcmp(kinds[index].name, argument[2])) kind = &kinds[index];
    if (!kind) { fprintf(stderr, "no kind '%s'\n", argument[2]); return 2; }
    lines = mmap(NULL, 64 * sizeof *lines, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    CHECK(lines != MAP_FAILED);
    if (!strcmp(argument[1], "fight")) {
        int workers = atoi(argument[4]);
        if (workers > WORKERS || count < 6) return 2;
        fight(atoll(argument[3]), workers, argument + 5, count - 5);
    } else {
        pin(atoi(argument[3]));
        handovers(!strcmp(argument[1], "ring"), atoi(argument[4]));
    }
    return 0;
}

/* The same operations in a bare C loop: what the harness of oscost is held against. Usage: beside_c OPERATION
 * Prints the fewest ns an operation over batches of 20 us in 40 ms, after a warm-up of 50 ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

static inline long call3(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int zero;
static char byte;
static sem_t semaphore;
static pthread_mutex_t *mutex;
static pthread_rwlock_t *rwlock;
static int set, queue, event, file, ends[2];
static struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
static struct { long kind; } message = {1};
static unsigned long long token = 1;
static struct flock lock, unlock;

#define LOOP(name, operation) \
    static void name(long count) { for (long i = 0; i < count; i++) { operation; } }

LOOP(getppid_loop, call3(SYS_getppid, 0, 0, 0))
LOOP(getpid_loop, call3(SYS_getpid, 0, 0, 0))
LOOP(read0_loop, if (call3(SYS_read, zero, (long)&byte, 0) != 0) exit(1))
LOOP(semaphore_loop, if (sem_wait(&semaphore) || sem_post(&semaphore)) exit(1))

LOOP(system_v_loop, if (semop(set, &take, 1) || semop(set, &give, 1)) exit(1))
LOOP(eventfd_loop, if (read(event, &token, 8) != 8 || write(event, &token, 8) != 8) exit(1))
LOOP(mutex_loop, if (pthread_mutex_lock(mutex) || pthread_mutex_unlock(mutex)) exit(1))
LOOP(rwlock_read_loop, if (pthread_rwlock_rdlock(rwlock) || pthread_rwlock_unlock(rwlock)) exit(1))
LOOP(rwlock_write_loop, if (pthread_rwlock_wrlock(rwlock) || pthread_rwlock_unlock(rwlock)) exit(1))
LOOP(pipe_loop, if (read(ends[0], &byte, 1) != 1 || write(ends[1], &byte, 1) != 1) exit(1))
LOOP(message_loop, if (msgrcv(queue, &message, 0, 0, 0) < 0 || msgsnd(queue, &message, 0, 0)) exit(1))
LOOP(fcntl_loop, if (fcntl(file, F_SETLKW, &lock) || fcntl(file, F_SETLK, &unlock)) exit(1))
LOOP(flock_loop, if (flock(file, LOCK_EX) || flock(file, LOCK_UN)) exit(1))

/* What the loops above need; forget() removes what the kernel would keep. */
static int prepare(const char *operation)
{
    char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t of_mutex;
    pthread_rwlockattr_t of_rwlock;
    if (memory == MAP_FAILED) return 1;
    mutex = (void *)memory;
    rwlock = (void *)(memory + 256);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    if (!strcmp(operation, "robust_mutex")) pthread_mutexattr_setrobust(&of_mutex, PTHREAD_MUTEX_ROBUST);
    if (!strcmp(operation, "pi_mutex")) pthread_mutexattr_setprotocol(&of_mutex, PTHREAD_PRIO_INHERIT);
    pthread_rwlockattr_init(&of_rwlock);
    pthread_rwlockattr_setpshared(&of_rwlock, PTHREAD_PROCESS_SHARED);
    if (pthread_mutex_init(mutex, &of_mutex) || pthread_rwlock_init(rwlock, &of_rwlock)) return 1;
    set = queue = -1;
    if (!strcmp(operation, "system_v") &&
        ((set = semget(IPC_PRIVATE, 1, 0600)) < 0 || semctl(set, 0, SETVAL, 1))) return 1;
    if (!strcmp(operation, "system_v_message") &&
        ((queue = msgget(IPC_PRIVATE, 0600)) < 0 || msgsnd(queue, &message, 0, 0))) return 1;
    event = eventfd(1, EFD_SEMAPHORE);
    file = memfd_create("beside_c", 0);
    lock.l_type = F_WRLCK, unlock.l_type = F_UNLCK, lock.l_len = unlock.l_len = 1;
    return event < 0 || file < 0 || pipe(ends) || write(ends[1], &byte, 1) != 1;
}

static void forget(void)
{
    if (set >= 0) semctl(set, 0, IPC_RMID);
    if (queue >= 0) msgctl(queue, IPC_RMID, 0);
}

int main(int argc, char **argv)
{
    void (*loop)(long) = 0;
    if (argc == 2 && !strcmp(argv[1], "getppid")) loop = getppid_loop;
    if (argc == 2 && !strcmp(argv[1], "getpid")) loop = getpid_loop;
    if (argc == 2 && !strcmp(argv[1], "read0_devzero")) loop = read0_loop;
    if (argc == 2 && !strcmp(argv[1], "posix_unnamed")) loop = semaphore_loop;
    static const struct { const char *name; void (*loop)(long); } more[] = {
        {"system_v", system_v_loop}, {"eventfd", eventfd_loop}, {"shared_mutex", mutex_loop},
        {"robust_mutex", mutex_loop}, {"pi_mutex", mutex_loop}, {"rwlock_read", rwlock_read_loop},
        {"rwlock_write", rwlock_write_loop}, {"pipe_token", pipe_loop}, {"system_v_message", message_loop},
        {"fcntl", fcntl_loop}, {"flock", flock_loop},
    };
    for (unsigned i = 0; argc == 2 && i < sizeof more / sizeof *more; i++)
        if (!strcmp(argv[1], more[i].name)) loop = more[i].loop;
    zero = open("/dev/zero", O_RDONLY);
    if (!loop || zero < 0 || sem_init(&semaphore, 1, 1) || prepare(argv[1])) return 2;
    atexit(forget);

    long long pair = 1 << 30;
    for (int i = 0; i < 10000; i++) {
        long long before = now(), cost = now() - before;
        if (cost < pair) pair = cost;
    }
    long count = 1;
    for (;;) {
        long long before = now();
        loop(count);
        long long took = now() - before;
        if (took >= 10000) { count = count * 20000 / took; break; }
        count *= 2;
    }
    if (count < 1) count = 1;
    double best = 1e18;
    long long start = now(), warm = start + 50000000, end = warm + 40000000;
    while (now() < end) {
        long long before = now();
        loop(count);
        double cost = (double)(now() - before - pair) / count;
        if (before >= warm && cost < best) best = cost;
    }
    printf("%.4f\n", best);
    return 0;
}

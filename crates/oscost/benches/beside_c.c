/* The same operations in a bare C loop: what the harness of oscost is held against. Usage: beside_c OPERATION
 * Prints the fewest ns an operation over batches of 20 us in 40 ms, after a warm-up of 50 ms. */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

#define LOOP(name, operation) \
    static void name(long count) { for (long i = 0; i < count; i++) { operation; } }

LOOP(getppid_loop, call3(SYS_getppid, 0, 0, 0))
LOOP(getpid_loop, call3(SYS_getpid, 0, 0, 0))
LOOP(read0_loop, if (call3(SYS_read, zero, (long)&byte, 0) != 0) exit(1))
LOOP(semaphore_loop, if (sem_wait(&semaphore) || sem_post(&semaphore)) exit(1))

int main(int argc, char **argv)
{
    void (*loop)(long) = 0;
    if (argc == 2 && !strcmp(argv[1], "getppid")) loop = getppid_loop;
    if (argc == 2 && !strcmp(argv[1], "getpid")) loop = getpid_loop;
    if (argc == 2 && !strcmp(argv[1], "read0_devzero")) loop = read0_loop;
    if (argc == 2 && !strcmp(argv[1], "posix_unnamed")) loop = semaphore_loop;
    zero = open("/dev/zero", O_RDONLY);
    if (!loop || zero < 0 || sem_init(&semaphore, 1, 1)) return 2;

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

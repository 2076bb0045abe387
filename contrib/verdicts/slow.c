/* A shim that makes semop slower by SLOW_PASSES passes of an empty loop: a planted change for contrib/verdicts/run. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int passes = -1;

int semop(int id, struct sembuf *operations, size_t count)
{
    if (passes < 0) {
        const char *told = getenv("SLOW_PASSES");
        passes = told ? atoi(told) : 0;
    }
    for (int left = passes; left > 0; left--)
        __asm__ volatile("");
    return syscall(SYS_semtimedop, id, operations, count, 0);
}

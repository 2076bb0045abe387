/* One server, one client, Unix datagrams to a path, a tick of 1 ms, SCHED_RR 50 and 49 on one CPU: the median latency of
   100 ticks after the first 100, in ns. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DISCARDED 100
#define TICKS 200

struct message { uint64_t sequence, stamp, padding; };

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void real_time(int priority) {
    struct rlimit limit = {200000, 300000};
    struct sched_param parameter = {.sched_priority = priority};
    if (setrlimit(RLIMIT_RTTIME, &limit) || sched_setscheduler(0, SCHED_RR, &parameter)) { perror("SCHED_RR"); exit(1); }
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(void) {
    char directory[] = "/tmp/ticks-beside-c-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t *latency = mmap(0, TICKS * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (latency == MAP_FAILED || receiver < 0 || sender < 0 || !mkdtemp(directory)) { perror("set-up"); return 1; }
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", directory);
    if (bind(receiver, (struct sockaddr *)&address, sizeof address)) { perror("bind"); return 1; }
    memset(latency, 0, TICKS * 8);
    pid_t client = fork();
    if (client == 0) {
        struct message message;
        real_time(49);
        for (int i = 0; i < TICKS; i++) {
            if (recv(receiver, &message, sizeof message, 0) != sizeof message) _exit(1);
            latency[i] = now() - message.stamp;
        }
        _exit(0);
    }
    usleep(20000);
    real_time(50);
    uint64_t due = now() + 3000000;
    for (uint64_t i = 0; i < TICKS; i++, due += 1000000) {
        struct timespec t = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0)) { }
        struct message message = {i, now(), 0};
        if (sendto(sender, &message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address) < 0) {
            perror("sendto");
            kill(client, 9);
            break;
        }
    }
    int status = 1;
    waitpid(client, &status, 0);
    unlink(address.sun_path);
    rmdir(directory);
    if (status) return 1;
    qsort(latency + DISCARDED, TICKS - DISCARDED, 8, ascending);
    printf("%.1f\n", (double)latency[DISCARDED + (TICKS - DISCARDED) / 2]);
    return 0;
}

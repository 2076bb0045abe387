/* The operations of peers and of oscost in plain C, each as in its source: third programs for figures that differ.
 * Usage: independent WHAT   prints ns for one operation. The script `independent` starts it, on one CPU, while nothing else runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURNS 100000

static int set = -1, fds[3], pair[2];

static void die(const char *what) {
    perror(what);
    if (set >= 0) semctl(set, 0, IPC_RMID);
    exit(1);
}
static void check(int failed, const char *what) { if (failed) die(what); }

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void lock(int fd, int type) {
    struct flock byte = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    check(fcntl(fd, type == F_UNLCK ? F_SETLK : F_SETLKW, &byte) == -1, "fcntl");
}

/* A file without a name, in a new open file description for each call. */
static int file(void) {
    char name[] = "/tmp/independent-XXXXXX";
    int fd = mkstemp(name);
    check(fd < 0 || unlink(name), "mkstemp");
    return fd;
}

/* One turn of a hand-over by System V semaphores: the wait and the post in one call, or in two. */
static void semaphores(int child, int calls) {
    struct sembuf both[2] = {{(unsigned short)child, -1, 0}, {(unsigned short)!child, 1, 0}};
    if (calls == 1) check(semop(set, both, 2), "semop");
    else check(semop(set, both, 1) || semop(set, both + 1, 1), "semop");
}

/* One round of two processes that lock two files, and give back what the other has or has not. */
static void two_files(int child, int unused) {
    (void)unused;
    if (child) { lock(fds[0], F_UNLCK); lock(fds[1], F_WRLCK); lock(fds[1], F_UNLCK); lock(fds[0], F_WRLCK); }
    else { lock(fds[0], F_WRLCK); lock(fds[1], F_UNLCK); lock(fds[1], F_WRLCK); lock(fds[0], F_UNLCK); }
}

/* One step of a ring of three: take the next, give back the own. It always waits for the other. */
static void ring(int child, int unused) {
    static int held = -1;
    (void)unused;
    if (held < 0) held = child;
    int next = (held + 1) % 3;
    lock(fds[next], F_WRLCK);
    lock(fds[held], F_UNLCK);
    held = next;
}

/* One round trip by a pair of stream sockets. */
static void sockets(int child, int unused) {
    char byte = 0;
    (void)unused;
    if (child) check(read(pair[1], &byte, 1) != 1 || write(pair[1], &byte, 1) != 1, "socket");
    else check(write(pair[0], &byte, 1) != 1 || read(pair[0], &byte, 1) != 1, "socket");
}

/* Both processes take turns for ever; the parent counts its own. Least of nine times, for one of `parts` operations a turn.
 * With `burst` the parent pauses for 5 us, running, after so many turns, and the pauses do not count. */
static void alternate(void (*turn)(int, int), int how, double parts, int fd_of_child, int burst) {
    int ready[2];
    check(pipe(ready), "pipe");
    pid_t child = fork();
    check(child < 0, "fork");
    if (child == 0) {
        if (fd_of_child) lock(fds[1], F_WRLCK);
        check(write(ready[1], "", 1) != 1, "pipe");
        for (;;) turn(1, how);
    }
    char byte;
    check(read(ready[0], &byte, 1) != 1, "pipe");
    double least = 1e18;
    for (int repeat = 0; repeat < 9; repeat++) {
        double start = now_ns(), paused = 0;
        for (int count = 0; count < TURNS / 9; count++) {
            turn(0, how);
            if (burst && count % burst == 0) {
                double pause = now_ns(), until = pause + 5e3;
                while (now_ns() < until) {}
                paused += now_ns() - pause;
            }
        }
        double took = (now_ns() - start - paused) / (TURNS / 9) / parts;
        if (took < least) least = took;
    }
    kill(child, 9);
    wait(NULL);
    printf("%.0f\n", least);
}

/* How late a sleeper in real time wakes, every ms: the mean of 200, in ns and as cyclictest rounds. */
static void sleeper(void) {
    struct sched_param priority = {.sched_priority = 50};
    if (sched_setscheduler(0, SCHED_FIFO, &priority)) { printf("not in real time\n"); return; }
    double sum = 0, rounded = 0, due = now_ns() + 2e6;
    for (int tick = 0; tick < 200; tick++, due += 1e6) {
        struct timespec at = {(time_t)(due / 1e9), (long)(due - 1e9 * (double)(time_t)(due / 1e9))};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        double late = now_ns() - (at.tv_sec * 1e9 + at.tv_nsec);
        sum += late;
        rounded += (double)(long)(late / 1e3);
    }
    printf("%.0f, in whole us %.0f000\n", sum / 200, (double)(long)(rounded / 200));
}

int main(int count, char **argument) {
    const char *what = count > 1 ? argument[1] : "";
    for (int index = 0; index < 3; index++) fds[index] = file();
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
    if (strstr(what, "semop")) {
        struct sembuf first = {0, 1, 0};
        set = semget(IPC_PRIVATE, 2, 0600);
        check(set < 0 || semop(set, &first, 1), "semget");
    }
    if (!strcmp(what, "one_semop")) alternate(semaphores, 1, 2, 0, 0);
    else if (!strcmp(what, "two_semops")) alternate(semaphores, 2, 2, 0, 0);
    else if (!strcmp(what, "two_files")) { lock(fds[0], F_WRLCK); lock(fds[1], F_WRLCK); alternate(two_files, 0, 2, 0, 0); }
    else if (!strcmp(what, "ring")) { lock(fds[0], F_WRLCK); alternate(ring, 0, 2, 1, 0); }
    else if (!strcmp(what, "sockets")) alternate(sockets, 0, 2, 0, 0);
    else if (!strcmp(what, "sockets_bursts")) alternate(sockets, 0, 2, 0, 5);
    else if (!strcmp(what, "sleeper")) sleeper();
    else { fprintf(stderr, "what of one_semop, two_semops, two_files, ring, sockets, sockets_bursts, sleeper?\n"); return 2; }
    if (set >= 0) semctl(set, 0, IPC_RMID);
    return 0;
}

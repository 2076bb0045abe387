/* The promises of contrib/kernel_module: bounds, permissions, deaths. Run in the guest, as root. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oscost_tick.h"

static int failed;

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "FAILED", what);
	fflush(stdout);
	failed += !holds;
}

/* Whether a call failed with this error. */
static int is(long result, int error)
{
	return result == -1 && errno == error;
}

static int device(int flags)
{
	return open("/dev/oscost_tick", flags | O_CLOEXEC);
}

static long plan(int fd, uint64_t ticks)
{
	struct oscost_tick_plan plan = { ticks };

	return ioctl(fd, OSCOST_TICK_PLAN, &plan);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static long start(int fd, uint64_t at, uint64_t period)
{
	struct oscost_tick_start start = { at, period };

	return ioctl(fd, OSCOST_TICK_START, &start);
}

/* Waits for every tick up to the end; how many there were. */
static uint64_t attend(int fd, uint64_t ticks)
{
	uint64_t seen = 0;

	while (seen < ticks && pread(fd, &seen, sizeof(seen), seen) == sizeof(seen))
		;
	return seen;
}

static void bounds(void)
{
	int fd = device(O_RDWR);
	uint64_t sent, *page;

	check(fd >= 0, "root opens the device");
	check(is(pread(fd, &sent, 8, 0), ENODATA), "nothing to wait for before the plan");
	check(is(start(fd, now(), 1000000), ENODATA), "no start before the plan");
	check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENODATA, "no page before the plan");
	check(is(plan(fd, 0), EINVAL) && is(plan(fd, 100001), EINVAL) && is(plan(fd, UINT64_MAX), EINVAL), "1 to 100000 ticks");
	check(plan(fd, 20) == 0 && is(plan(fd, 20), EBUSY), "one plan");
	check(is(start(fd, now(), 49999), ERANGE) && is(start(fd, now(), 1000000001), ERANGE), "50 us to 1 s");
	check(is(start(fd, now() + 11000000000ULL, 1000000), ERANGE), "no start in a distant future");
	check(is(start(fd, UINT64_MAX, 1000000), ERANGE), "no start at the end of time");
	check(is(pread(fd, &sent, 4, 0), EINVAL) && is(pread(fd, &sent, 8, -1), EINVAL), "eight bytes at a number");
	check(is(ioctl(fd, _IOW('o', 0x73, uint64_t), &sent), ENOTTY), "no other command");
	check(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES, "nobody writes the page");
	check(mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "the page has an end");
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	check(page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_WRITE) == -1, "nor later");
	/* Five and a half periods late: the first tick at once, then five left out. */
	uint64_t at = now() - 55000000;

	check(start(fd, at, 10000000) == 0 && is(start(fd, at, 10000000), EBUSY), "one start");
	check(attend(fd, 20) == 20 && page[1] == 1, "twenty ticks, and the end");
	uint64_t number = 0, left_out = 0, in_step = 1;

	for (int tick = 0; tick < 20; tick++) {
		uint64_t due = page[6 + 2 * tick], stamp = page[7 + 2 * tick], late = (stamp - due) / 10000000;

		in_step &= due == at + number * 10000000 && stamp >= due;
		number += 1 + late;
		left_out += late;
	}
	check(in_step && page[2] == left_out && left_out >= 5, "each by the schedule, what is too late left out and counted");
	check(attend(fd, 20) == 20, "after the end nobody waits");
	close(fd);
	check(page[0] == 20, "the page stays while it is mapped");
	munmap(page, 4096);
}

static void deaths(void)
{
	int fd = device(O_RDONLY), status;
	pid_t clients[3], stranger;
	uint64_t right = 1;

	plan(fd, 50);
	for (int client = 0; client < 3; client++)
		if (!(clients[client] = fork()))
			_exit(attend(fd, 50) != 50);
	start(fd, now() + 20000000, 10000000);
	usleep(200000);
	kill(clients[1], SIGKILL);
	for (int client = 0; client < 3; client++) {
		waitpid(clients[client], &status, 0);
		right &= client == 1 ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status);
	}
	check(right, "a client is killed while it waits, and the others get every tick");
	close(fd);

	if (!(stranger = fork()))
		_exit(setgid(65534) || setuid(65534) || !is(device(O_RDONLY), EACCES));
	waitpid(stranger, &status, 0);
	check(status == 0, "not for everybody");

	/* Whoever is killed takes a running timer along: else unloading would find it. */
	if (!(stranger = fork())) {
		fd = device(O_RDONLY);
		plan(fd, 100000);
		start(fd, now(), 50000);
		pause();
	}
	usleep(100000);
	kill(stranger, SIGKILL);
	waitpid(stranger, &status, 0);

	int fds[17], opened = 0;

	while (opened < 17 && (fds[opened] = device(O_RDONLY)) >= 0)
		opened++;
	check(opened == 16 && errno == EBUSY, "sixteen sessions at most, that of the killed one gone");
	while (opened)
		close(fds[--opened]);
}

int main(void)
{
	bounds();
	deaths();
	return failed != 0;
}

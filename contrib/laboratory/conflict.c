/* Mandatory record locks at work: a child holds a write lock on byte 0, and everybody's reads and writes meet it. Run in
 * the guest, with a directory on a file system that is mounted with mand. Exit code 1 where one of them is not as wanted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failed;

static void told(const char *what, long result, int wanted)
{
	int got = result == -1 ? errno : 0;

	printf("%-52s %-8s%s\n", what, got ? strerrorname_np(got) : "done", got == wanted ? "" : "  UNEXPECTED");
	fflush(stdout);
	failed |= got != wanted;
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* What happens to a file with these permissions while a child has its first byte locked. */
static void meet(const char *path, mode_t mode, int enforced)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int refused = enforced ? EAGAIN : 0, ready[2], fd, waiting;
	char byte = 0;
	pid_t child;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
	if (write(fd, "0123456789", 10) != 10 || fchmod(fd, mode) || pipe(ready)) {
		told("the file", -1, 0);
		return;
	}
	if (!(child = fork())) {
		int own = open(path, O_RDWR);

		if (fcntl(own, F_SETLK, &lock) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		sleep(1);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		failed = 1;
	printf("permissions %04o, byte 0 locked by another process\n", mode);
	told("  read of byte 0, O_NONBLOCK", pread(fd, &byte, 1, 0), refused);
	told("  write of byte 0, O_NONBLOCK", pwrite(fd, "x", 1, 0), refused);
	told("  read of byte 5", pread(fd, &byte, 1, 5), 0);
	if (enforced) {
		double begun;

		told("  open to cut it off (O_TRUNC)", open(path, O_RDWR | O_TRUNC), EAGAIN);
		told("  shared mapping", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, EAGAIN);

		waiting = open(path, O_RDONLY);
		begun = seconds();
		told("  read of byte 0 without O_NONBLOCK", pread(waiting, &byte, 1, 0), 0);
		if (seconds() - begun < 0.1) {
			printf("  UNEXPECTED: it did not wait for the lock\n");
			failed = 1;
		}
		close(waiting);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	unlink(path);
}

int main(int count, char **arguments)
{
	if (count != 2 || chdir(arguments[1]))
		return 2;
	meet("file", 02600, 1);
	meet("file", 0600, 0);
	meet("file", 02610, 0);
	return failed;
}

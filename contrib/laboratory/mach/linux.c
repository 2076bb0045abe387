/* A session on Linux: the first program of an initramfs, with neither a C library nor any other process. */
#include "session.h"

#include <asm/unistd.h>

enum { SERVER_PRIORITY = 99, CLIENT_PRIORITY = 98, SCHED_RR = 2 };
enum { O_RDWR = 2, O_NONBLOCK = 04000, MSG_DONTWAIT = 0x40, AF_UNIX = 1, SOCK_DGRAM = 2 };
enum { PROT_READ_WRITE = 3, MAP_SHARED_FIXED_ANONYMOUS = 0x31 };
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1, CLOCK_MONOTONIC = 1, SIGKILL = 9, SIGCHLD = 17 };

/* A call of the kernel. With 32 bits the sixth argument goes in the register that frames have. */
static inline long call(long number, long a, long b, long c, long d, long e, long f)
{
	long answer;
#ifdef __x86_64__
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
#else
	__asm__ volatile("pushl %[f]\n\tpushl %%ebp\n\tmovl 4(%%esp), %%ebp\n\tint $0x80\n\tpopl %%ebp\n\taddl $4, %%esp"
			 : "=a"(answer) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), [f] "g"(f) : "memory");
#endif
	return answer;
}
#define CALL3(number, a, b, c) call(__NR_##number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL6(number, a, b, c, d, e, f) call(__NR_##number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

struct timespec {
	long seconds, nanoseconds;
};

static long console = -1;

void put(const char *text)
{
	u32 length = 0;

	while (text[length])
		length++;
	while (length) {
		long done = CALL3(write, console, text, length);

		if (done <= 0)
			return;
		text += done;
		length -= done;
	}
}

void fail(const char *what, int code)
{
	say("\nFAILED: ");
	say(what);
	say(": code ");
	say_number((u32)-code);
	say("\n");
	say_all();
	power_off();
}

static long check(const char *what, long answer)
{
	if (answer < 0)
		fail(what, answer);
	return answer;
}

void power_off(void)
{
	/* qemu ends where the machine starts again. */
	for (;;)
		CALL6(reboot, 0xfee1dead, 672274793, 0x1234567, 0, 0, 0);
}

void wait_tick(void)
{
	struct timespec time = { 0, TICK_MS * 1000000 };

	CALL3(nanosleep, &time, 0, 0);
}

u64 clock_us(void)
{
	struct timespec time;

	CALL3(clock_gettime, CLOCK_MONOTONIC, &time, 0);
	return (u64)time.seconds * 1000000 + (u32)time.nanoseconds / 1000;
}

/* A number behind which nothing stands. */
void empty_call(void)
{
	call(2000, 0, 0, 0, 0, 0, 0);
}

static void hurry(int priority)
{
	check("sched_setscheduler", CALL3(sched_setscheduler, 0, SCHED_RR, &priority));
}

void hurry_server(void)
{
	hurry(SERVER_PRIORITY);
}

static long processes[MOST_CLIENTS];

void start_client(u32 client, void (*run)(u32 client))
{
	processes[client] = check("clone", CALL6(clone, SIGCHLD, 0, 0, 0, 0, 0));
	if (processes[client] == 0) {
		hurry(CLIENT_PRIORITY);
		run(client);
	}
}

void end_client(u32 client)
{
	check("kill", CALL3(kill, processes[client], SIGKILL, 0));
	check("wait4", CALL6(wait4, processes[client], 0, 0, 0, 0, 0));
}

void stop(void)
{
	struct timespec long_time = { 1000, 0 };

	/* Its server ends it. */
	for (;;)
		CALL3(nanosleep, &long_time, 0, 0);
}

/* Sockets as the document has them: each client's has a path, and the server's does not wait. */
static long sockets[MOST_CLIENTS], server = -1;
static struct address {
	unsigned short family;
	char path[14];
} addresses[MOST_CLIENTS];

static void open_datagrams(u32 clients)
{
	if (server < 0)
		server = check("socket", CALL3(socket, AF_UNIX, SOCK_DGRAM, 0));
	for (u32 client = 0; client < clients; client++) {
		addresses[client] = (struct address){ AF_UNIX, "/tclient_0" };
		addresses[client].path[9] += client;
		sockets[client] = check("socket", CALL3(socket, AF_UNIX, SOCK_DGRAM, 0));
		check("bind", CALL3(bind, sockets[client], &addresses[client], sizeof addresses[client]));
	}
}

static u32 post_datagrams(const struct message *message, u32 clients)
{
	u32 refused = 0;

	for (u32 client = 0; client < clients; client++)
		refused += CALL6(sendto, server, message, sizeof *message, MSG_DONTWAIT, &addresses[client], sizeof addresses[client]) != sizeof *message;
	return refused;
}

static void take_datagram(u32 client, struct message *message)
{
	if (CALL6(recvfrom, sockets[client], message, sizeof *message, 0, 0, 0) != sizeof *message)
		fail("recvfrom", 0);
}

static void close_datagrams(u32 clients)
{
	for (u32 client = 0; client < clients; client++) {
		CALL3(close, sockets[client], 0, 0);
		check("unlink", CALL3(unlink, addresses[client].path, 0, 0));
	}
}

static int pipes[MOST_CLIENTS][2];

static void open_pipes(u32 clients)
{
	for (u32 client = 0; client < clients; client++) {
		check("pipe", CALL3(pipe2, pipes[client], 0, 0));
		check("fcntl", CALL3(fcntl, pipes[client][1], 4 /* F_SETFL */, O_NONBLOCK));
	}
}

static u32 post_pipes(const struct message *message, u32 clients)
{
	u32 refused = 0;

	for (u32 client = 0; client < clients; client++)
		refused += CALL3(write, pipes[client][1], message, sizeof *message) != sizeof *message;
	return refused;
}

static void take_pipe(u32 client, struct message *message)
{
	if (CALL3(read, pipes[client][0], message, sizeof *message) != sizeof *message)
		fail("read", 0);
}

static void close_pipes(u32 clients)
{
	for (u32 client = 0; client < clients; client++)
		for (u32 end = 0; end < 2; end++)
			CALL3(close, pipes[client][end], 0, 0);
}

/* One word that all clients wait at. The stamps lie in shared memory, by number. */
enum { RING = sizeof shared.ring / sizeof shared.ring[0] };
static u32 had; /* a client's own */

static void open_futex(u32 clients)
{
	(void)clients;
	had = 0;
}

static u32 post_futex(const struct message *message, u32 clients)
{
	shared.ring[message->sequence % RING] = *message;
	shared.word = message->sequence + 1;
	return CALL6(futex, &shared.word, FUTEX_WAKE, clients, 0, 0, 0) < 0;
}

static void take_futex(u32 client, struct message *message)
{
	(void)client;
	while (shared.word == had)
		CALL6(futex, &shared.word, FUTEX_WAIT, had, 0, 0, 0);
	*message = shared.ring[had++ % RING];
}

static void close_futex(u32 clients)
{
	(void)clients;
}

static const struct way ways[] = {
	{ "unix_datagram", "12 bytes a message, to a path", open_datagrams, post_datagrams, take_datagram, close_datagrams },
	{ "pipe", "12 bytes a message, a pipe a client", open_pipes, post_pipes, take_pipe, close_pipes },
	{ "futex_broadcast", "one wake-up of all clients, stamps in shared memory", open_futex, post_futex, take_futex, close_futex },
};

static int same(const char *one, const char *other)
{
	while (*one && *one == *other)
		one++, other++;
	return *one == *other;
}

/* Words of the command line: the program, then a way and its numbers of clients, and so on. */
void begin(char **words)
{
	/* The older mmap has its arguments in memory. */
	long map[] = { (long)&shared, sizeof shared, PROT_READ_WRITE, MAP_SHARED_FIXED_ANONYMOUS, -1, 0 };
	char name[6][65];
	const struct way *way = ways;

	CALL3(mknod, "/serial", 020600, 4 << 8 | 64);
	console = CALL3(open, "/serial", O_RDWR, 0);
#ifdef __x86_64__
	check("mmap", CALL6(mmap, map[0], map[1], map[2], map[3], map[4], map[5]));
#else
	if (CALL3(mmap, map, 0, 0) != map[0])
		fail("mmap", 0);
#endif
	hurry_server();
	check("uname", CALL3(uname, name, 0, 0));
	say("\n@@ system\n");
	say(name[0]);
	say(" ");
	say(name[2]);
	say(" ");
	say(name[4]);
	say("\n");
	calibrate();
	for (words++; *words; words++) {
		for (u32 at = 0; at < sizeof ways / sizeof ways[0]; at++)
			if (same(ways[at].name, *words))
				way = &ways[at];
		/* The kernel hands on words that only its loader knows: they are neither. */
		if (!same(way->name, *words))
			run_session(way, *words);
	}
	say("@@ ended\n");
	say_all();
	power_off();
}

/* The kernel leaves the number of arguments on the stack, and the arguments behind it. */
#ifdef __x86_64__
__asm__(".globl _start\n_start: leaq 8(%rsp), %rdi\n\txorl %ebp, %ebp\n\tandq $-16, %rsp\n\tcall begin");
#else
__asm__(".globl _start\n_start: leal 4(%esp), %eax\n\txorl %ebp, %ebp\n\tandl $-16, %esp\n\tsubl $12, %esp\n\tpushl %eax\n\tcall begin");
#endif

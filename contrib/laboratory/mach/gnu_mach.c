/* A session on GNU Mach: a module of the boot loader that makes a task of its own for each client. */
#include "kernel.h"
#include "session.h"

#include <mach/boolean.h>
#include <mach/machine/thread_status.h>
#include <mach/policy.h>
#include <mach/vm_inherit.h>

/* The lower, the sooner. A user's thread has 25 where nobody asks for another. */
enum { SERVER_PRIORITY = 10, CLIENT_PRIORITY = 11 };

static mach_port_t host; /* the privileged port of the machine */
static mach_port_t processors;
static mach_port_t tasks[MOST_CLIENTS], ports[MOST_CLIENTS];
static mach_port_t silent; /* a port that nobody sends to */

/* The document's 12 bytes behind Mach's header and the descriptor that says what they are. */
struct letter {
	mach_msg_header_t head;
	mach_msg_type_t type;
	struct message message;
};

void put(const char *text)
{
	mach_print(text);
}

void fail(const char *what, int code)
{
	say("\nFAILED: ");
	say(what);
	say(": code ");
	say_number((u32)code);
	say("\n");
	say_all();
	power_off();
}

void power_off(void)
{
	if (host)
		CALL(HOST_REBOOT, host, 0, 0, "i", 0);
	for (;;)
		swtch();
}

static void check(const char *what, int code)
{
	if (code)
		fail(what, code);
}

void wait_tick(void)
{
	mach_msg_header_t head;

	if (!silent)
		check("mach_port_allocate", syscall_mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &silent));
	int code = mach_msg_trap(&head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof head, silent, TICK_MS, MACH_PORT_NULL);

	if (code != MACH_RCV_TIMED_OUT)
		fail("a wait for time", code);
}

u64 clock_us(void)
{
	unsigned time[2];

	CALL(HOST_GET_TIME, mach_host_self(), time, 2, "");
	return (u64)time[0] * 1000000 + time[1];
}

/* A trap behind which nothing stands. */
void empty_call(void)
{
	no_trap();
}

static void hurry(mach_port_t thread, int priority)
{
	CALL(THREAD_MAX_PRIORITY, thread, 0, 0, "pi", processors, priority);
	CALL(THREAD_POLICY, thread, 0, 0, "ii", POLICY_FIXEDPRI, 10 * TICK_MS);
	CALL(THREAD_PRIORITY, thread, 0, 0, "ib", priority, FALSE);
}

void hurry_server(void)
{
	unsigned answer;

	CALL(PROCESSOR_SET_DEFAULT, mach_host_self(), &answer, 1, "");
	CALL(HOST_PROCESSOR_SET_PRIV, host, &processors, 1, "p", answer);
	CALL(PROCESSOR_SET_POLICY_ENABLE, processors, 0, 0, "i", POLICY_FIXEDPRI);
	hurry(mach_thread_self(), SERVER_PRIORITY);
}

/* What a client finds in its copy of this memory. */
static struct {
	u32 client;
	void (*run)(u32 client);
} task_of;
static char stack[16384] __attribute__((aligned(16)));

static void begin_client(void)
{
	/* This port is its server's. */
	host = MACH_PORT_NULL;
	task_of.run(task_of.client);
}

void start_client(u32 client, void (*run)(u32 client))
{
	struct i386_thread_state state = { .eip = (unsigned)begin_client, .uesp = (unsigned)(stack + sizeof stack - 4) };
	mach_port_t thread;

	task_of.client = client;
	task_of.run = run;
	CALL(VM_INHERIT, mach_task_self(), 0, 0, "iii", &shared, sizeof shared, VM_INHERIT_SHARE);
	check("a port", syscall_mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &ports[client]));
	check("a right to send", syscall_mach_port_insert_right(mach_task_self(), ports[client], ports[client], MACH_MSG_TYPE_MAKE_SEND));
	check("task_create", syscall_task_create(mach_task_self(), TRUE, &tasks[client]));
	/* The server keeps the right to send. In the client the port has the same name, so its copy of `ports` is right. */
	check("a right to receive", syscall_mach_port_insert_right(tasks[client], ports[client], ports[client], MACH_MSG_TYPE_MOVE_RECEIVE));
	CALL(THREAD_CREATE, tasks[client], &thread, 1, "");
	CALL(THREAD_SET_STATE, thread, 0, 0, "ia", i386_THREAD_STATE, &state, i386_THREAD_STATE_COUNT);
	hurry(thread, CLIENT_PRIORITY);
	CALL(THREAD_RESUME, thread, 0, 0, "");
	syscall_mach_port_deallocate(mach_task_self(), thread);
}

void end_client(u32 client)
{
	check("task_terminate", syscall_task_terminate(tasks[client]));
	syscall_mach_port_deallocate(mach_task_self(), tasks[client]);
	syscall_mach_port_deallocate(mach_task_self(), ports[client]);
}

void stop(void)
{
	mach_msg_header_t head;

	/* Its server ends it. Nobody sends a message there any more. */
	for (;;)
		mach_msg_trap(&head, MACH_RCV_MSG, 0, sizeof head, ports[task_of.client], 0, MACH_PORT_NULL);
}

static u32 post(const struct message *message, u32 clients)
{
	struct letter letter = {
		.head = { .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0), .msgh_id = 2 },
		.type = { .msgt_name = MACH_MSG_TYPE_INTEGER_32, .msgt_size = 32, .msgt_number = 3, .msgt_inline = TRUE },
		.message = *message,
	};
	u32 refused = 0;

	for (u32 client = 0; client < clients; client++) {
		letter.head.msgh_remote_port = ports[client];
		/* The document's server does not wait for a client that is late. */
		refused += mach_msg_trap(&letter.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, sizeof letter, 0, MACH_PORT_NULL, 0, MACH_PORT_NULL) != 0;
	}
	return refused;
}

static void take(u32 client, struct message *message)
{
	struct letter letter;

	check("a receive", mach_msg_trap(&letter.head, MACH_RCV_MSG, 0, sizeof letter, ports[client], 0, MACH_PORT_NULL));
	if (letter.head.msgh_size != sizeof letter)
		fail("a message of another size", letter.head.msgh_size);
	*message = letter.message;
}

static void nothing(u32 clients)
{
	(void)clients;
}

static const struct way mach_msg_way = {
	.name = "mach_msg",
	.says = "40 bytes a message: header 24, descriptor 4, the 12 of the document",
	.open = nothing,
	.post = post,
	.take = take,
	.close = nothing,
};
_Static_assert(sizeof(struct letter) == 40, "what the message says of itself");

/* Words of the command line: the module, the name of the host's port, numbers of clients. */
void begin(char **words)
{
	unsigned version[2 + 128];

	if (!words[0] || !words[1])
		fail("the command line has no port of the host", 0);
	for (const char *digit = words[1]; *digit; digit++)
		host = host * 10 + (*digit - '0');
	hurry_server();
	CALL(HOST_KERNEL_VERSION, mach_host_self(), version, sizeof version / sizeof version[0], "");
	say("\n@@ system\n");
	/* The descriptor of so long an answer takes two words more. */
	say((const char *)(version + 2));
	say("\n");
	calibrate();
	for (words += 2; *words; words++)
		if (!run_session(&mach_msg_way, *words))
			fail("a word of the command line is no number of clients", 0);
	say("@@ ended\n");
	say_all();
	power_off();
}

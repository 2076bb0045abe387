/* Document 002's server and client, and what they tell when they are through. */
#include "session.h"

struct shared shared;

static const struct way *current;

static void say_field(const char *name, u64 number)
{
	say(name);
	say(" ");
	say_number(number);
}

/* The document's client: reads, stamps, stores, until its array is full. */
static void attend(u32 client)
{
	struct value *values = shared.values[client];
	struct message message;

	shared.ready[client] = 1;
	for (u32 at = 0; at < TICKS; at++) {
		current->take(client, &message);
		u64 end = now();
		u64 stamp = (u64)message.stamp[1] << 32 | message.stamp[0];

		values[at].sequence = message.sequence;
		values[at].latency = end - stamp;
		shared.count[client] = at + 1;
	}
	stop();
}

/* The document's server: stamps once, sends to each, sleeps. */
static u32 serve(u32 clients, u64 *counts, u64 *us)
{
	u32 refused = 0;
	u64 first = 0, first_us = 0;

	for (u32 tick = 0; tick < TICKS; tick++) {
		struct message message = { .sequence = tick };
		u64 stamp = now();

		message.stamp[0] = (u32)stamp;
		message.stamp[1] = stamp >> 32;
		refused += current->post(&message, clients);
		shared.sending[tick] = now() - stamp;
		if (tick == DISCARD) {
			first = stamp;
			first_us = clock_us();
		}
		wait_tick();
	}
	*counts = now() - first;
	*us = clock_us() - first_us;
	return refused;
}

/* The values of a client, without those that do not count: the number of the first of a row, and the row. */
static void say_values(u32 client)
{
	const struct value *values = shared.values[client];

	for (u32 at = DISCARD; at < shared.count[client]; at++) {
		if (at == DISCARD || values[at].sequence != values[at - 1].sequence + 1) {
			say("\nvalues ");
			say_number(client);
			say(" ");
			say_number(values[at].sequence);
		}
		say(" ");
		say_number(values[at].latency);
	}
}

int run_session(const struct way *way, const char *word)
{
	u64 counts, us;
	u32 refused, clients = 0;
	char *byte = (char *)&shared;

	while (*word >= '0' && *word <= '9' && clients <= MOST_CLIENTS)
		clients = clients * 10 + (*word++ - '0');
	if (*word || clients < 1 || clients > MOST_CLIENTS)
		return 0;
	current = way;
	for (u32 at = 0; at < sizeof shared; at++)
		byte[at] = 0;
	current->open(clients);
	for (u32 client = 0; client < clients; client++)
		start_client(client, attend);
	for (u32 client = 0; client < clients; client++)
		while (!shared.ready[client])
			wait_tick();
	refused = serve(clients, &counts, &us);
	/* Who has not had its last message in a second has lost one. */
	for (u32 client = 0; client < clients; client++)
		for (u32 patience = 0; shared.count[client] < TICKS && patience < 100; patience++)
			wait_tick();

	say("@@ session\nway ");
	say(current->name);
	say("\nsays ");
	say(current->says);
	say_field("\nrefused", refused);
	say_field("\ncounts", counts);
	say_field("\nus", us);
	say_field("\nclients", clients);
	for (u32 client = 0; client < clients; client++)
		say_values(client);
	say("\nsending");
	for (u32 tick = DISCARD; tick < TICKS; tick++)
		say_field("", shared.sending[tick]);
	say("\n");
	for (u32 client = 0; client < clients; client++)
		end_client(client);
	current->close(clients);
	return 1;
}

/* Counts of a loop of so many instructions. */
static u64 loop(u32 rounds)
{
	u64 begun = now();

	__asm__ volatile("1: nop\n\tnop\n\tdec %0\n\tjnz 1b" : "+r"(rounds)::"cc");
	return now() - begun;
}

/* A way on which nothing happens: what the session itself costs. */
static u32 post_nothing(const struct message *message, u32 clients)
{
	__asm__ volatile("" ::"r"(message), "r"(clients) : "memory");
	return 0;
}

static void take_nothing(u32 client, struct message *message)
{
	__asm__ volatile("" ::"r"(client), "r"(message) : "memory");
}

void calibrate(void)
{
	enum { ROUNDS = 250000, CALLS = 1000 };
	static const struct way nothing = { .post = post_nothing, .take = take_nothing };
	u64 least_stamp = ~0ull, least_call = ~0ull, least_own = ~0ull, least_loop = ~0ull;

	/* The compiler must not know what is called. */
	current = &nothing;
	__asm__ volatile("" : "+m"(current));
	/* The least of many: no interrupt is in it. */
	for (u32 at = 0; at < CALLS; at++) {
		struct message message = { .sequence = at };
		u64 begun = now();
		u64 stamp = now() - begun;

		begun = now();
		empty_call();
		u64 call = now() - begun;

		begun = now();
		message.stamp[0] = (u32)begun;
		message.stamp[1] = begun >> 32;
		current->post(&message, 1);
		current->take(0, &message);
		u64 own = now() - begun;

		least_stamp = stamp < least_stamp ? stamp : least_stamp;
		least_call = call < least_call ? call : least_call;
		least_own = own < least_own ? own : least_own;
	}
	for (u32 at = 0; at < 20; at++) {
		u64 counts = loop(ROUNDS);

		least_loop = counts < least_loop ? counts : least_loop;
	}
	say("@@ calibration");
	say_field("\ninstructions", 4 * ROUNDS);
	say_field("\nloop", least_loop);
	say_field("\nstamp", least_stamp);
	say_field("\ncall", least_call);
	say_field("\nown", least_own);
	say("\n");
}

/* A session of document 002 as both systems have it: one server, clients with an address space each, stamps of the CPU's
 * counter. The systems differ in what stands under `system` and in `struct way`. */
#ifndef SESSION_H
#define SESSION_H

typedef unsigned int u32;
typedef unsigned long long u64;

enum {
	TICKS = 1100,  /* messages to each client, as in the document */
	DISCARD = 100, /* the first of them do not count */
	TICK_MS = 10,
	MOST_CLIENTS = 10,
};

/* The document's message is a type and a struct timeval: 12 bytes. Here it is a number and a stamp. */
struct message {
	u32 sequence;
	u32 stamp[2]; /* low, high */
};

struct value {
	u32 sequence;
	u32 latency; /* from the stamp to its reader, in counts of the CPU */
};

/* What server and clients share. All of it is written before a session, so that no page is missing in it. */
struct shared {
	volatile u32 ready[MOST_CLIENTS];
	volatile u32 count[MOST_CLIENTS];
	struct value values[MOST_CLIENTS][TICKS];
	u32 sending[TICKS]; /* counts from the stamp to the end of the sending loop */
	/* For a way that carries no bytes: a word that wakes, and the stamps by number. */
	volatile u32 word;
	struct message ring[64];
} __attribute__((aligned(4096)));

extern struct shared shared;

/* A way to send. */
struct way {
	const char *name;
	const char *says; /* bytes and calls, for people */
	void (*open)(u32 clients);
	/* Sends to all clients; how many messages were refused. */
	u32 (*post)(const struct message *message, u32 clients);
	/* Waits for the next message of this client. */
	void (*take)(u32 client, struct message *message);
	void (*close)(u32 clients);
};

/* ---- What a system has to offer ---- */

void put(const char *text);              /* to the console */
void wait_tick(void);                    /* sleeps for TICK_MS */
u64 clock_us(void);                      /* the system's own clock */
void empty_call(void);                   /* the cheapest entry into the kernel */
void start_client(u32 client, void (*run)(u32 client)); /* in an address space of its own */
void end_client(u32 client);
void hurry_server(void);                 /* fixed priority above that of the clients */
__attribute__((noreturn)) void stop(void); /* a client that is through */
__attribute__((noreturn)) void power_off(void);
__attribute__((noreturn)) void fail(const char *what, int code);

/* ---- What the session offers ---- */

static inline u64 now(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

void say(const char *text);
void say_number(u64 number);
void say_all(void); /* puts what was said so far */
/* One session, where the word is a number of clients that can be; 0 if it is not. */
int run_session(const struct way *way, const char *word);
/* What the counter counts, and what an empty call costs. */
void calibrate(void);

#endif

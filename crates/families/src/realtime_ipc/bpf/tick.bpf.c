// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
//
// The server of realtime_ipc/bpf: a timer in the kernel that ticks by an absolute schedule, stamps each tick in an array
// that its clients have mapped, and wakes all of them by the ring buffer on whose edges they wait.
//
// The ring holds a record for every tick of the session and nobody ever takes one out: whoever asks finds it ready, so that
// an edge is never forgotten, and nobody has to keep it half empty. bpf_timer(), bpf_ringbuf_output(): Linux 5.15.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

// In no header of Linux 6.1: newer kernels know them, older ones answer EINVAL.
#define TIMER_ABSOLUTE 1ULL // BPF_F_TIMER_ABS, Linux 6.4
#define TIMER_ON_THIS_CPU 2ULL // BPF_F_TIMER_CPU_PIN, Linux 6.7
#define MONOTONIC 1 // CLOCK_MONOTONIC

// An entry of the page: two words. Entry 0 is (ticks sent, done), entry 1 (ticks left out, due time of the first), entry 2
// (period, ticks wanted), and every later one (due time, stamp) of a tick. ns of CLOCK_MONOTONIC.
struct entry {
	__u64 one;
	__u64 other;
};

#define PROGRESS 0
#define START 1
#define COURSE 2
#define TICKS 3

// How the timer is set; what start() returns.
enum way { REFUSED = 0, PINNED = 1, ABSOLUTE = 2, RELATIVE = 3 };

struct state {
	struct bpf_timer timer;
	__u64 due;
	__u64 number; // of the next tick in the schedule
	__u64 sent;
	__u64 period;
	__u64 ticks;
	__u64 left_out;
	__u64 way;
};

// A map that holds a timer cannot be mapped: two maps.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} clockwork SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4); // set by the loader: TICKS and one for each tick
	__type(key, __u32);
	__type(value, struct entry);
} page SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); // set by the loader: 16 bytes for each tick
} ring SEC(".maps");

static __always_inline struct entry *at(__u32 index)
{
	return bpf_map_lookup_elem(&page, &index);
}

static __always_inline long set(struct state *own)
{
	switch (own->way) {
	case PINNED:
		return bpf_timer_start(&own->timer, own->due, TIMER_ABSOLUTE | TIMER_ON_THIS_CPU);
	case ABSOLUTE:
		return bpf_timer_start(&own->timer, own->due, TIMER_ABSOLUTE);
	default: {
		__u64 now = bpf_ktime_get_ns();
		return bpf_timer_start(&own->timer, own->due > now ? own->due - now : 0, 0);
	}
	}
}

static int tick(void *map, __u32 *key, struct state *own)
{
	__u64 now = bpf_ktime_get_ns();
	struct entry *progress = at(PROGRESS), *start = at(START);
	struct entry *entry = at(TICKS + (__u32)own->sent);

	if (!entry || !progress || !start || !own->period)
		return 0;
	entry->one = own->due;
	entry->other = now;
	own->number++;
	own->due += own->period;
	if (now >= own->due) {
		// A tick whose time has passed is left out and counted, never made up for in a burst.
		__u64 late = (now - own->due) / own->period + 1;

		own->due += late * own->period;
		own->number += late;
		own->left_out += late;
		start->one = own->left_out;
	}
	// No timer without an end: one that is always late gives up.
	__u64 done = own->sent + 1 >= own->ticks || own->number >= 4 * own->ticks + 100;

	// Whoever sees the tick sees its stamp: an atomic operation that returns a value is a full barrier.
	own->sent = __sync_fetch_and_add(&progress->one, 1) + 1;
	if (done)
		__sync_fetch_and_add(&progress->other, 1);
	bpf_ringbuf_output(&ring, &own->sent, sizeof(own->sent), BPF_RB_FORCE_WAKEUP);
	if (!done)
		set(own);
	return 0;
}

// Run once by the loader, on the CPU where the timer is to be.
SEC("socket")
int start(void *packet)
{
	__u32 zero = 0;
	struct state *own = bpf_map_lookup_elem(&clockwork, &zero);
	struct entry *first = at(START), *course = at(COURSE);

	if (!own || !first || !course)
		return REFUSED;
	own->due = first->other;
	own->period = course->one;
	own->ticks = course->other;
	if (bpf_timer_init(&own->timer, &clockwork, MONOTONIC) || bpf_timer_set_callback(&own->timer, tick))
		return REFUSED;
	own->way = PINNED;
	if (!set(own))
		return PINNED;
	own->way = ABSOLUTE;
	if (!set(own))
		return ABSOLUTE;
	own->way = RELATIVE;
	return set(own) ? REFUSED : RELATIVE;
}

char words_of_licence[] SEC("license") = "Dual MIT/GPL";

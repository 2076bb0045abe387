// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
//
// Counts the calls of some threads, and of whatever they start, where the kernel enters and leaves them: by number, and by
// what decides the price of each, as the rules say that the loader writes. Sleeps are seen where the kernel switches.
//
// The program is told of its first thread by a call that no kernel has, with a token; or the loader enters threads itself.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define own(number) ctx[number]
#define AS_IN_KERNEL __attribute__((preserve_access_index))

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

// What is looked at of the kernel's own types; where it stands, its own description says.
struct pt_regs {
	unsigned long r10, r9, r8, ax, dx, si, di, orig_ax, ip, sp;
} AS_IN_KERNEL;
struct sock_common {
	unsigned short skc_family;
} AS_IN_KERNEL;
struct sock {
	struct sock_common __sk_common;
} AS_IN_KERNEL;
struct socket {
	short type;
	struct sock *sk;
} AS_IN_KERNEL;
struct super_block {
	unsigned long s_magic;
} AS_IN_KERNEL;
struct inode {
	unsigned short i_mode;
	u32 i_rdev;
	struct super_block *i_sb;
} AS_IN_KERNEL;
struct qstr {
	const unsigned char *name;
} AS_IN_KERNEL;
struct dentry {
	struct qstr d_name;
} AS_IN_KERNEL;
struct path {
	struct dentry *dentry;
} AS_IN_KERNEL;
struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
} AS_IN_KERNEL;
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} AS_IN_KERNEL;
struct files_struct {
	struct fdtable *fdt;
} AS_IN_KERNEL;
struct percpu_counter {
	s64 count;
} AS_IN_KERNEL;
struct atomic {
	int counter;
} AS_IN_KERNEL;
struct mm_struct {
	struct percpu_counter rss_stat[4];
	int map_count;
	struct atomic mm_users;
} AS_IN_KERNEL;
struct signal_struct {
	struct atomic live;
	int nr_threads;
	int group_exit_code;
	u32 flags;
} AS_IN_KERNEL;
struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
} AS_IN_KERNEL;
struct k_sigaction {
	struct sigaction sa;
} AS_IN_KERNEL;
struct sighand_struct {
	struct k_sigaction action[64];
} AS_IN_KERNEL;
struct thread_info {
	u32 status;
} AS_IN_KERNEL;
struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	int exit_code;
	int exit_signal;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct files_struct *files;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
} AS_IN_KERNEL;
// Before Linux 6.2.
struct atomic_long {
	s64 counter;
} AS_IN_KERNEL;
struct mm_rss_stat {
	struct atomic_long count[4];
} AS_IN_KERNEL;
struct mm_struct___before {
	struct mm_rss_stat rss_stat;
} AS_IN_KERNEL;

// Numbers of this architecture, x86-64.
#define INVALID 0x7fff
#define NR_RT_SIGRETURN 15
#define NR_CONNECT 42
#define NR_EXECVE 59
#define NR_EXIT 60
#define NR_FUTEX 202
#define NR_RESTART_SYSCALL 219
#define NR_EXIT_GROUP 231
#define NR_EXECVEAT 322
// Where a key has no class.
#define NONE 255
#define NOBODY 64
// Numbers from here on are one.
#define NUMBERS 512
// The number of all calls of the 32-bit ABI, and what a thread is in when it makes one.
#define OF_32_BITS (NUMBERS + 1)
#define TS_COMPAT 2
// In no number of this ABI.
#define NO_NUMBER (1 << 16)
#define EINPROGRESS 115
#define SIGCHLD 17
#define SIG_IGNORED 1
#define SA_NOCLDWAIT 2
#define SIGNAL_GROUP_EXIT 4

// The same as in key.rs, tally.rs and mod.rs.
struct key {
	u16 number;
	u8 on;
	u8 size;
	u8 count;
	u8 slept;
	u16 unused;
};
struct sums {
	u64 times;
	u64 failed;
	u64 bytes;
	u64 inside_ns;
};
enum on { ON_NOTHING, ON_DESCRIPTOR, ON_VALUE, ON_FLAG, ON_CLONE, ON_CLONE_IN_MEMORY, ON_SOCKET };
struct rule {
	u64 mask;
	u8 on;
	u8 on_argument;
	u8 size_argument; // NONE: no size; RESULT: the result
	u8 count_argument; // or NONE
	u32 unused;
};
#define RESULT 254
enum kind {
	KIND_NONE, FILE, DIRECTORY, PIPE, UNIX_STREAM, UNIX_DATAGRAM, UNIX_PACKET, TCP, UDP, NETLINK, OTHER_SOCKET, TERMINAL,
	DEVICE, EVENTFD, EPOLL, TIMERFD, SIGNALFD, INOTIFY, IO_URING, PERF_EVENT, PIDFD, OTHER, CLOSED
};
struct totals {
	u64 token;
	u64 signals;
	u64 threads;
	u64 children;
	u64 voluntary;
	u64 involuntary;
	u64 lost;
	u64 watched; // the process whose end is told, that of its last thread
	u64 end; // 1 << 32 and its exit code, as wait(2) has it
	u64 faults[3]; // of reads, of first writes, of writes to pages that are there
	u64 forks; // that copied the memory of their parent
	u64 fork_pages; // which had so many pages of its own
	u64 fork_mappings; // and so many mappings
	u64 fork_faults; // of the copies until they become another program, and of writes in who has forked
	u64 wakes; // of a known thread by another one, on a CPU that was idle
	u64 end_mappings; // of memory that was given back by a call: an end, or another program
	u64 end_file_pages; // that were resident in it
	u64 unwaited; // processes that ended, and for which nobody waits
};

// A call that a thread is in, or was in when a signal came.
struct call {
	struct key key;
	u64 size; // the argument that is its size
	u64 entered; // ns, where it is timed
	u64 away; // ns of it without a CPU
	u64 ip;
	u64 sp;
	s64 left; // 0, or the result by which the kernel says that it is restarted
	u8 is_in;
	u8 size_argument;
	u8 stands_for; // so many calls by its time; 0: it is not timed
	u32 number; // which tells it from the others of its key
};
struct thread {
	struct call now;
	struct call interrupted;
	u64 away_since;
	u64 is_fresh; // it may be inside a call whose entry nobody saw
	u64 memory; // of its process: OWN, A_COPY, COPIED
	u64 woken_by; // the CPU of who woke it, from 1, until it runs
	u64 has_ended; // all but its last switch
	u64 leaves_mappings; // when it asks to become another program
	u64 leaves_file_pages;
};
enum memory { OWN, A_COPY, COPIED };
// The state in a thread's last switch, and which of a process's counts is that of its own pages.
#define DEAD 0x80
#define OF_FILES 0
#define ANONYMOUS 1

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct thread);
} threads SEC(".maps");

// The thread that a CPU runs, from one switch to the next: it is looked for once, and not at each entry and exit. What `threads` has
// of it is old meanwhile. A kernel for real time may switch while a program runs, and does without it: the loader says so.
volatile const u8 is_real_time = 0;
struct running {
	u64 id; // 0: of a thread that nobody asked about
	struct thread thread;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct running);
} running SEC(".maps");

// How often each number was called on this CPU. Two readings of the clock are a third of what counting costs: of calls that are made
// often, one in EACH is timed. It is no power of two, as programs call in turns.
#define FIRST 256
#define EACH 17
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OF_32_BITS + 1);
	__type(key, u32);
	__type(value, u32);
} made SEC(".maps");

// The counts. Each key has one place where it is looked for first; another one that was there before it has the table behind.
#define PLACES_BITS 9
#define IS_TAKEN (1ULL << 63)
struct place {
	u64 key; // with IS_TAKEN
	struct sums sums;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << PLACES_BITS);
	__type(key, u32);
	__type(value, struct place);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct key);
	__type(value, struct sums);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OF_32_BITS + 1);
	__type(key, u32);
	__type(value, struct rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct totals);
} all SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} looks SEC(".maps");

// Not 0: no call is counted whose entry nobody saw.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} over SEC(".maps");

static const struct thread nobody = { .is_fresh = 1 }, copy = { .is_fresh = 1, .memory = A_COPY };

static __always_inline struct totals *totals(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&all, &zero);
}

// Of a thread that this CPU runs. An idle one runs nobody, whose number is that of a place in `running` without a thread.
static __always_inline struct thread *here(u32 id)
{
	u32 zero = 0;
	struct running *now;

	if (!id)
		return 0;
	now = bpf_map_lookup_elem(&running, &zero);
	return now && now->id == id ? &now->thread : bpf_map_lookup_elem(&threads, &id);
}

static __always_inline struct thread *current(void)
{
	return here((u32)bpf_get_current_pid_tgid());
}

// The power of four that is the least upper bound.
static __always_inline u8 class(u64 value)
{
	u8 bits = 0;

	if (value <= 1)
		return 0;
	value--;
	if (value >> 32) { value >>= 32; bits += 32; }
	if (value >> 16) { value >>= 16; bits += 16; }
	if (value >> 8) { value >>= 8; bits += 8; }
	if (value >> 4) { value >>= 4; bits += 4; }
	if (value >> 2) { value >>= 2; bits += 2; }
	return bits / 2 + 1;
}

static __always_inline u64 argument(struct pt_regs *regs, u8 number)
{
	switch (number) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	case 3: return regs->r10;
	case 4: return regs->r8;
	default: return regs->r9;
	}
}

static __always_inline u8 socket_kind(u32 family, u32 type)
{
	type &= 0xf;
	if (family == 1)
		return type == 1 ? UNIX_STREAM : type == 2 ? UNIX_DATAGRAM : type == 5 ? UNIX_PACKET : OTHER_SOCKET;
	if (family == 2 || family == 10)
		return type == 1 ? TCP : type == 2 ? UDP : OTHER_SOCKET;
	return family == 16 ? NETLINK : OTHER_SOCKET;
}

static __always_inline u8 nameless_kind(struct file *file)
{
	char name[8] = {};
	const unsigned char *at = BPF_CORE_READ(file, f_path.dentry, d_name.name);

	bpf_probe_read_kernel(name, sizeof(name), at);
	// The one of these without brackets.
	if (name[0] != '[')
		return name[0] == 'i' && name[1] == 'n' && name[2] == 'o' ? INOTIFY : OTHER;
	switch (name[1]) {
	case 'e': return name[6] == 'f' ? EVENTFD : name[6] == 'p' ? EPOLL : OTHER;
	case 't': return TIMERFD;
	case 's': return SIGNALFD;
	case 'i': return name[2] == 'o' ? IO_URING : OTHER;
	case 'p': return name[2] == 'e' ? PERF_EVENT : name[2] == 'i' ? PIDFD : OTHER;
	default: return OTHER;
	}
}

static __always_inline u8 kind(int number)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct fdtable *table = task->files->fdt;
	struct file *file = 0;

	if (number < 0 || (u32)number >= table->max_fds)
		return CLOSED;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + number);
	if (!file)
		return CLOSED;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	u16 mode = BPF_CORE_READ(inode, i_mode);
	u32 device;

	switch (mode & 0170000) {
	case 0010000: return PIPE;
	case 0040000: return DIRECTORY;
	case 0060000: return DEVICE;
	case 0020000:
		device = BPF_CORE_READ(inode, i_rdev) >> 20;
		return device == 4 || device == 5 || (device >= 136 && device <= 143) ? TERMINAL : DEVICE;
	case 0140000: {
		struct socket *socket = BPF_CORE_READ(file, private_data);
		return socket_kind(BPF_CORE_READ(socket, sk, __sk_common.skc_family), BPF_CORE_READ(socket, type));
	}
	default:
		switch (BPF_CORE_READ(inode, i_sb, s_magic)) {
		case 0x09041934: return nameless_kind(file);
		case 0x50494446: return PIDFD;
		default: return (mode & 0170000) == 0100000 ? FILE : OTHER;
		}
	}
}

static __always_inline u8 value_of(u64 value)
{
	return value < 128 ? value : 128 | (value & 127);
}

static __always_inline u8 bits_of_clone(u64 flags)
{
	return (flags >> 16 & 1) | (flags >> 14 & 1) << 1;
}

static __always_inline u8 made_on(struct pt_regs *regs, struct rule *rule)
{
	u64 value = rule->on == ON_NOTHING ? 0 : argument(regs, rule->on_argument);

	switch (rule->on) {
	case ON_DESCRIPTOR: return kind((int)value);
	case ON_VALUE: return value_of(value & rule->mask);
	case ON_FLAG: return (value & rule->mask) != 0;
	case ON_CLONE: return bits_of_clone(value);
	case ON_CLONE_IN_MEMORY: {
		u64 flags = 0;
		bpf_probe_read_user(&flags, sizeof(flags), (void *)value);
		return bits_of_clone(flags);
	}
	case ON_SOCKET: return socket_kind(value, regs->si);
	default: return 0;
	}
}

static __always_inline struct sums *known(struct key *key)
{
	u64 tag;

	__builtin_memcpy(&tag, key, sizeof(tag));
	tag |= IS_TAKEN;
	u32 number = tag * 0x9e3779b97f4a7c15 >> (64 - PLACES_BITS);
	struct place *place = bpf_map_lookup_elem(&places, &number);

	if (place && !place->key)
		place->key = tag;
	return place && place->key == tag ? &place->sums : bpf_map_lookup_elem(&counts, key);
}

static __always_inline void count(struct call *call, u64 failed, u64 bytes, u64 inside)
{
	struct sums *sums = known(&call->key);

	if (!sums) {
		struct sums first = {};
		bpf_map_update_elem(&counts, &call->key, &first, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&counts, &call->key);
		if (!sums) {
			struct totals *totals_ = totals();
			if (totals_)
				__sync_fetch_and_add(&totals_->lost, 1);
			return;
		}
	}
	sums->times++;
	sums->failed += failed;
	sums->bytes += bytes;
	sums->inside_ns += inside;
}

static __always_inline u64 inside(struct call *call)
{
	return call->stands_for ? (bpf_ktime_get_ns() - call->entered - call->away) * call->stands_for : 0;
}

// The last switch of a thread that has ended: what its end took belongs to the call that it was in.
static __always_inline void last(struct thread *thread)
{
	struct call *now = &thread->now;
	struct sums *sums = now->is_in ? known(&now->key) : 0;

	if (sums)
		sums->inside_ns += inside(now);
}

static __always_inline int is_over(void)
{
	u32 zero = 0;
	u64 *it = bpf_map_lookup_elem(&over, &zero);

	return !it || *it;
}

// Whether the current thread is in a call of the 32-bit ABI: of a 32-bit program, or by int 0x80.
static __always_inline int is_of_32_bits(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return (task->thread_info.status & TS_COMPAT) != 0;
}

// The number here of a call of the 32-bit ABI, of those that this program knows.
static __always_inline s64 number_of_32_bits(u32 number)
{
	switch (number) {
	case 0: return NR_RESTART_SYSCALL;
	case 1: return NR_EXIT;
	case 11: return NR_EXECVE;
	case 119: return NR_RT_SIGRETURN;
	case 173: return NR_RT_SIGRETURN;
	case 252: return NR_EXIT_GROUP;
	case 358: return NR_EXECVEAT;
	default: return NO_NUMBER | (number & 0xffff);
	}
}

// A call begins. False: no rule was found, which the loader has written for every number.
static __always_inline int begin(struct call *now, struct pt_regs *regs, s64 number, int of_32_bits)
{
	u32 index = of_32_bits ? OF_32_BITS : number >= 0 && number < NUMBERS ? number : NUMBERS;
	struct rule *rule = bpf_map_lookup_elem(&rules, &index);
	u32 *calls = bpf_map_lookup_elem(&made, &index);

	if (!rule || !calls)
		return 0;
	now->number = number;
	now->key.number = index;
	now->key.on = made_on(regs, rule);
	now->key.size = NONE;
	now->key.count = rule->count_argument == NONE ? NONE : class(argument(regs, rule->count_argument));
	now->key.slept = 0;
	now->size_argument = rule->size_argument;
	if (rule->size_argument < RESULT)
		now->size = argument(regs, rule->size_argument);
	now->away = 0;
	now->ip = regs->ip;
	now->sp = regs->sp;
	now->is_in = 1;
	now->stands_for = *calls < FIRST ? 1 : *calls % EACH ? 0 : EACH;
	++*calls;
	if (now->stands_for)
		now->entered = bpf_ktime_get_ns();
	return 1;
}

static __always_inline u64 no_less_than_0(s64 pages)
{
	return pages > 0 ? pages : 0;
}

// Resident pages of a kind, as their counter has them without what CPUs keep back. The kind is a part of what the loader looks up.
#define resident(mm, kind) no_less_than_0( \
	bpf_core_type_exists(struct mm_rss_stat) \
		? BPF_CORE_READ((struct mm_struct___before *)(mm), rss_stat.count[kind].counter) \
		: BPF_CORE_READ(mm, rss_stat[kind].count))

// A call that gives all memory back, unless another process has it, too. What a copy shares was paid for by its fork.
static __always_inline void leaves(struct thread *thread)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;

	thread->leaves_mappings = thread->leaves_file_pages = 0;
	if (!mm || BPF_CORE_READ(mm, mm_users.counter) > BPF_CORE_READ(task, signal, nr_threads))
		return;
	thread->leaves_file_pages = resident(mm, OF_FILES);
	if (thread->memory != A_COPY)
		thread->leaves_mappings = BPF_CORE_READ(mm, map_count);
}

static __always_inline void has_left(struct thread *thread)
{
	struct totals *totals_ = totals();

	if (!totals_)
		return;
	__sync_fetch_and_add(&totals_->end_mappings, thread->leaves_mappings);
	__sync_fetch_and_add(&totals_->end_file_pages, thread->leaves_file_pages);
}

SEC("tp_btf/sys_enter")
int enter(u64 *ctx)
{
	struct pt_regs *regs = (void *)own(0);
	s64 number = own(1);
	struct thread *thread = current();

	if (!thread) {
		if (number == INVALID) {
			struct totals *totals_ = totals();
			u32 id = (u32)bpf_get_current_pid_tgid();

			if (totals_ && totals_->token && regs->di == totals_->token && regs->si == totals_->token)
				bpf_map_update_elem(&threads, &id, &nobody, BPF_ANY);
		}
		return 0;
	}
	struct call *now = &thread->now, *interrupted = &thread->interrupted;
	int of_32_bits = is_of_32_bits();

	if (of_32_bits)
		number = number_of_32_bits(number);
	thread->is_fresh = 0;
	if (interrupted->left && regs->ip == interrupted->ip && regs->sp == interrupted->sp &&
	    (interrupted->left == -516 ? number == NR_RESTART_SYSCALL : (u32)number == interrupted->number)) {
		*now = *interrupted;
		interrupted->left = 0;
		now->left = 0;
		now->is_in = 1;
		if (now->stands_for)
			now->away += bpf_ktime_get_ns();
		return 0;
	}
	begin(now, regs, number, of_32_bits);
	if (number == NR_EXECVE || number == NR_EXECVEAT) {
		leaves(thread);
	} else if (number == NR_EXIT_GROUP || number == NR_EXIT) {
		struct task_struct *task = (void *)bpf_get_current_task_btf();

		// Of threads, only the last one leaves the memory.
		if (number == NR_EXIT && BPF_CORE_READ(task, signal, nr_threads) > 1)
			return 0;
		leaves(thread);
		has_left(thread);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int leave(u64 *ctx)
{
	struct pt_regs *regs = (void *)own(0);
	s64 result = own(1);
	struct thread *thread = current();

	if (!thread)
		return 0;
	struct call *now = &thread->now, *interrupted = &thread->interrupted;

	if (!now->is_in) {
		s64 number = regs->orig_ax;
		int of_32_bits = is_of_32_bits();

		if (of_32_bits)
			number = number_of_32_bits(number);
		// A filter of system calls has answered before the tracepoint at the entry, but for who has just come, and where no entry
		// is seen any more.
		if (thread->is_fresh || is_over() || number < 0 || !begin(now, regs, number, of_32_bits)) {
			thread->is_fresh = 0;
			return 0;
		}
	}
	u64 ns = inside(now);
	// The result of a handler's return is that of whatever it returns to. A connection that is being made has not failed.
	u64 failed = result < 0 && result >= -4095 && now->number != NR_RT_SIGRETURN &&
		     !(now->key.number == NR_CONNECT && result == -EINPROGRESS);
	u64 bytes = 0;

	now->is_in = 0;
	if (result >= -516 && result <= -512) {
		if (interrupted->left)
			count(interrupted, 1, 0, 0);
		*interrupted = *now;
		interrupted->left = result;
		// It is away until it is entered again, whether its thread is stopped meanwhile or runs a handler.
		if (interrupted->stands_for)
			interrupted->away -= bpf_ktime_get_ns();
		return 0;
	}
	if (now->number == NR_RT_SIGRETURN && result == -4 && interrupted->left) {
		interrupted->left = 0;
		count(interrupted, 1, 0, 0);
	}
	if (!failed && now->size_argument != NONE) {
		bytes = now->size_argument == RESULT ? (u64)result : now->size;
		now->key.size = class(bytes);
	}
	if (now->key.number == NR_FUTEX && result == 0 && (now->key.on == 1 || now->key.on == 10))
		now->key.on += NOBODY;
	count(now, failed, bytes, ns);
	return 0;
}

SEC("tp_btf/sched_switch")
int switched(u64 *ctx)
{
	struct task_struct *prev = (void *)own(1), *next = (void *)own(2);
	u32 id = prev->pid, was_idle = !id, zero = 0;
	struct running *now = bpf_map_lookup_elem(&running, &zero);
	struct thread *thread = here(id);

	if (!now)
		return 0;
	if (thread && thread->has_ended && (own(3) & DEAD))
		last(thread);

	if (thread) {
		struct totals *totals_ = totals();
		int waits = !(u8)own(0) && (u32)own(3);

		thread->away_since = bpf_ktime_get_ns();
		if (waits && thread->now.is_in)
			thread->now.key.slept = 1;
		if (totals_)
			__sync_fetch_and_add(waits ? &totals_->voluntary : &totals_->involuntary, 1);
	}
	if (now->id && now->id == id) {
		struct thread *kept = bpf_map_lookup_elem(&threads, &id);

		if (kept)
			*kept = now->thread;
	}
	id = next->pid;
	thread = bpf_map_lookup_elem(&threads, &id);
	now->id = 0;
	if (thread && thread->away_since) {
		thread->now.away += bpf_ktime_get_ns() - thread->away_since;
		thread->away_since = 0;
	}
	if (thread && thread->woken_by) {
		struct totals *totals_ = totals();

		if (totals_ && was_idle && thread->woken_by != bpf_get_smp_processor_id() + 1)
			__sync_fetch_and_add(&totals_->wakes, 1);
		thread->woken_by = 0;
	}
	if (thread && !is_real_time) {
		now->thread = *thread;
		now->id = id;
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int waking(u64 *ctx)
{
	struct task_struct *task = (void *)own(0);
	u32 id = task->pid;
	struct thread *thread = current() ? bpf_map_lookup_elem(&threads, &id) : 0;

	if (thread)
		thread->woken_by = bpf_get_smp_processor_id() + 1;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int started(u64 *ctx)
{
	struct task_struct *parent = (void *)own(0), *child = (void *)own(1);
	struct totals *totals_ = totals();
	struct thread *thread = current();
	u32 id = child->pid;
	int is_copy = parent->mm && child->mm && parent->mm != child->mm;

	if (!thread || !totals_)
		return 0;
	if (is_copy) {
		__sync_fetch_and_add(&totals_->forks, 1);
		__sync_fetch_and_add(&totals_->fork_pages, resident(parent->mm, ANONYMOUS));
		__sync_fetch_and_add(&totals_->fork_mappings, parent->mm->map_count);
		if (thread->memory == OWN)
			thread->memory = COPIED;
	}
	__sync_fetch_and_add(child->pid == child->tgid ? &totals_->children : &totals_->threads, 1);
	if (bpf_map_update_elem(&threads, &id, is_copy ? &copy : &nobody, BPF_ANY))
		__sync_fetch_and_add(&totals_->lost, 1);
	return 0;
}

// A thread that becomes another program has the number of its process from then on.
SEC("tp_btf/sched_process_exec")
int executed(u64 *ctx)
{
	struct task_struct *task = (void *)own(0);
	u32 former = own(1), id = task->pid, zero = 0;
	struct running *now = bpf_map_lookup_elem(&running, &zero);
	struct thread *thread = here(former);

	if (thread) {
		has_left(thread);
		thread->memory = OWN;
	}
	if (former != id && thread) {
		bpf_map_update_elem(&threads, &id, thread, BPF_ANY);
		bpf_map_delete_elem(&threads, &former);
		if (now && now->id == former)
			now->id = id;
	}
	return 0;
}

// Whether nobody waits for who ends here: its parent ignores that. A thread beside the first of its process has no such signal.
static __always_inline int is_unwaited(struct task_struct *task)
{
	if (task->exit_signal != SIGCHLD)
		return 0;
	u64 handler = (u64)BPF_CORE_READ(task, real_parent, sighand, action[SIGCHLD - 1].sa.sa_handler);
	u64 flags = BPF_CORE_READ(task, real_parent, sighand, action[SIGCHLD - 1].sa.sa_flags);

	return handler == SIG_IGNORED || (flags & SA_NOCLDWAIT) != 0;
}

SEC("tp_btf/sched_process_exit")
int ended(u64 *ctx)
{
	u32 id = (u32)bpf_get_current_pid_tgid();
	struct thread *thread = here(id);

	if (!thread)
		return 0;
	struct task_struct *task = (void *)own(0);
	struct totals *totals_ = totals();

	if (totals_ && totals_->watched == (u32)task->tgid && !BPF_CORE_READ(task, signal, live.counter)) {
		u32 is_group = BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT;
		u32 code = is_group ? BPF_CORE_READ(task, signal, group_exit_code)
				    : BPF_CORE_READ(task, group_leader, exit_code);

		totals_->end = 1ULL << 32 | code;
	}
	// Who waits for the watched one is no part of it.
	if (totals_ && totals_->watched != id && is_unwaited(task))
		__sync_fetch_and_add(&totals_->unwaited, 1);
	if (thread->interrupted.left)
		count(&thread->interrupted, 1, 0, 0);
	// Whoever is asked for the counts may be asked before the last switch: the call is counted here, its time there.
	if (thread->now.is_in)
		count(&thread->now, 0, 0, 0);
	thread->has_ended = 1;
	return 0;
}

// What it is known by may be another's from here on.
SEC("tp_btf/sched_process_free")
int freed(u64 *ctx)
{
	struct task_struct *task = (void *)own(0);
	u32 id = task->pid;

	bpf_map_delete_elem(&threads, &id);
	return 0;
}

SEC("tp_btf/signal_deliver")
int delivered(u64 *ctx)
{
	int signal = own(0);
	struct k_sigaction *action = (void *)own(2);
	struct totals *totals_ = totals();
	u64 handler = (u64)action->sa.sa_handler;
	// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: nobody who did not ask hears them. SIGKILL is told by the end.
	int unasked = signal == 17 || signal == 18 || signal == 23 || signal == 28;

	if (current() && totals_ && signal != 9 && handler != 1 && (handler || !unasked))
		__sync_fetch_and_add(&totals_->signals, 1);
	return 0;
}

// The processor's code of a fault: bit 0, the page is there; bit 1, a write.
static __always_inline void fault(struct thread *thread, u64 code)
{
	struct totals *totals_ = totals();

	if (!thread || !totals_)
		return;
	if (thread->memory == A_COPY || (thread->memory == COPIED && (code & 3) == 3))
		__sync_fetch_and_add(&totals_->fork_faults, 1);
	if (!(code & 2))
		__sync_fetch_and_add(&totals_->faults[0], 1);
	else if (!(code & 1))
		__sync_fetch_and_add(&totals_->faults[1], 1);
	else
		__sync_fetch_and_add(&totals_->faults[2], 1);
}

SEC("tp_btf/page_fault_user")
int faulted(u64 *ctx)
{
	fault(current(), own(2));
	return 0;
}

// The kernel touches the memory of a thread for it. What an exec touches is that of two programs, and a part of its price.
SEC("tp_btf/page_fault_kernel")
int faulted_inside(u64 *ctx)
{
	struct thread *thread = (s64)own(0) < 0 ? 0 : current();

	if (thread && !(thread->now.is_in && (thread->now.number == NR_EXECVE || thread->now.number == NR_EXECVEAT)))
		fault(thread, own(2));
	return 0;
}

// A look at what runs, by a timer of each CPU: a thread that is known was in the kernel, or outside, as the word behind its `ip` says.
SEC("perf_event")
int looked(u64 *ctx)
{
	u32 outside = (own(17) & 3) != 0;
	u64 *count = current() ? bpf_map_lookup_elem(&looks, &outside) : 0;

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

char words_of_licence[] SEC("license") = "Dual MIT/GPL";

/* Layers around a call, another CPU that is reached, threads in the table of futexes, sleepers, and the getrandom of the vDSO
 * for prices.c: what oscost's families tax, cpu_pair, futex and timer measure. */
#include <dlfcn.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* What times itself: each call of it is a sample, in ns. */
static double (*sample)(void);

/* --- filters, and a thread that is asked ----------------------------------------------------------------------------- */
static int filter(struct sock_filter *rules, unsigned length, unsigned flags) {
    struct sock_fprog all = {(unsigned short)length, rules};
    OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    int result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &all);
    OK(result);
    return result;
}
static int filter_getppid(unsigned action, unsigned flags) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    return filter(rules, sizeof rules / sizeof *rules, flags);
}
static void need_filter(void) { filter_getppid(SECCOMP_RET_ALLOW, 0); }
/* About as long as Docker's profile, which names some 350 calls: that many comparisons, getppid's the last. */
static void need_long_filter(void) {
    static struct sock_filter rules[352] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (unsigned i = 1; i < 350; i++) rules[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1000 + i, 0, 0);
    rules[350] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 0);
    rules[351] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter(rules, 352, 0);
}
static int notices = -1;
static void *allow_for_ever(void *none) {
    while (__atomic_load_n(&notices, __ATOMIC_ACQUIRE) < 0) sched_yield();
    for (;;) {
        struct seccomp_notif call = {0};
        OK(ioctl(notices, SECCOMP_IOCTL_NOTIF_RECV, &call));
        struct seccomp_notif_resp go_on = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        OK(ioctl(notices, SECCOMP_IOCTL_NOTIF_SEND, &go_on));
    }
    return none;
}
/* Calls come after other work, as they do where two processes take turns: in one long row of calls the scheduler lets the caller
 * that was answered set the listener aside, and a call costs a fifth less. */
static void other_work(void) { for (uint64_t until = now() + 60000; now() < until;) continue; }
static void need_listening_thread(void) {
    pthread_t thread;
    arm = other_work;
    ZERO(pthread_create(&thread, NULL, allow_for_ever, NULL));
    __atomic_store_n(&notices, filter_getppid(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER), __ATOMIC_RELEASE);
}

/* --- BPF programs that count ------------------------------------------------------------------------------------------ */
static long number_in(const char *path) {
    FILE *file = fopen(path, "r");
    long number;
    if (!file || fscanf(file, "%ld", &number) != 1) die(path);
    fclose(file);
    return number;
}
static int count_map = -1;
static void must_have_counted(void) {
    uint32_t first = 0;
    uint64_t counted = 0;
    union bpf_attr look = {.map_fd = (uint32_t)count_map, .key = (uintptr_t)&first, .value = (uintptr_t)&counted};
    if (syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &look, sizeof look) || counted < 1000) { fprintf(stderr, "prices: the program did not run\n"); _exit(1); }
}
/* A program that adds one to the only word of a map, attached to an event. */
static void count_at(struct perf_event_attr *event, unsigned type) {
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
    OK(count_map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
    struct bpf_insn code[] = {
        {BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, count_map}, {0, 0, 0, 0, 0}, {BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 1},
        {BPF_STX | BPF_DW | BPF_ATOMIC, 1, 2, 0, BPF_ADD}, {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    union bpf_attr load = {.prog_type = type, .insns = (uintptr_t)code, .insn_cnt = sizeof code / sizeof *code, .license = (uintptr_t)"GPL"};
    int loaded = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load);
    OK(loaded);
    event->size = sizeof *event;
    event->sample_period = 1;
    int opened = (int)syscall(SYS_perf_event_open, event, type == BPF_PROG_TYPE_TRACEPOINT ? -1 : 0, type == BPF_PROG_TYPE_TRACEPOINT ? cpu : -1, -1, 0);
    OK(opened);
    OK(ioctl(opened, PERF_EVENT_IOC_SET_BPF, loaded));
    OK(ioctl(opened, PERF_EVENT_IOC_ENABLE, 0));
    atexit(must_have_counted);
}
static void need_tracepoint(void) {
    struct perf_event_attr event = {.type = PERF_TYPE_TRACEPOINT, .config = (uint64_t)number_in("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id")};
    count_at(&event, BPF_PROG_TYPE_TRACEPOINT);
}
/* A function that begins with a nop and makes the call. */
void probed(void);
#ifdef __x86_64__
__asm__(".text\n.balign 64\n.globl probed\nprobed: nop\n mov $110, %eax\n syscall\n ret\n");
#define CLOBBERED "rax", "rcx", "r11", "memory"
static inline void call_probed(void) { __asm__ volatile("call probed" ::: CLOBBERED); }
#else
__asm__(".text\n.balign 64\n.globl probed\nprobed: nop\n mov x8, #173\n svc 0\n ret\n");
static inline void call_probed(void) { probed(); }
#endif
static void need_uprobe(void) {
    char line[512];
    unsigned long start, end, offset, at = (unsigned long)(uintptr_t)&probed, where = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) die("maps");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && at >= start && at < end) where = at - start + offset;
    fclose(maps);
    struct perf_event_attr event = {.type = (uint32_t)number_in("/sys/bus/event_source/devices/uprobe/type")};
    event.config1 = (uintptr_t)"/proc/self/exe";
    event.config2 = where;
    count_at(&event, BPF_PROG_TYPE_KPROBE);
}
static void op_probed(long n) { LOOP(call_probed()) }

/* --- another CPU ------------------------------------------------------------------------------------------------------ */
static struct { uint32_t turn; char line[124]; uint32_t word; char another[124]; uint32_t asleep; uint64_t awake_at; } *hop;
static void op_hops(long n) { LOOP(__atomic_store_n(&hop->turn, 1, __ATOMIC_RELEASE); while (__atomic_load_n(&hop->turn, __ATOMIC_ACQUIRE))) }
static void answer_hops(void) { for (;;) { while (!__atomic_load_n(&hop->turn, __ATOMIC_ACQUIRE)) continue; __atomic_store_n(&hop->turn, 0, __ATOMIC_RELEASE); } }
static void pair_line(void) { hop = shared(sizeof *hop); start_partner(answer_hops); }

static void sleep_and_tell(void) {
    uint32_t before = __atomic_load_n(&hop->word, __ATOMIC_ACQUIRE);
    __atomic_store_n(&hop->asleep, before + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&hop->word, __ATOMIC_ACQUIRE) == before) syscall(SYS_futex, &hop->word, FUTEX_WAIT, before, NULL, NULL, 0);
    __atomic_store_n(&hop->awake_at, now(), __ATOMIC_RELEASE);
}
static double wake(void) {
    uint32_t turn = __atomic_load_n(&hop->word, __ATOMIC_RELAXED) + 1;
    while (__atomic_load_n(&hop->asleep, __ATOMIC_ACQUIRE) != turn) continue;
    for (uint64_t until = now() + 50000; now() < until;) continue;
    __atomic_store_n(&hop->awake_at, 0, __ATOMIC_RELEASE);
    uint64_t from = now(), to;
    __atomic_store_n(&hop->word, turn, __ATOMIC_RELEASE);
    if (syscall(SYS_futex, &hop->word, FUTEX_WAKE, 1, NULL, NULL, 0) != 1) return wake();
    while (!(to = __atomic_load_n(&hop->awake_at, __ATOMIC_ACQUIRE))) continue;
    return (double)(to - from);
}
static void pair_wake(void) { hop = shared(sizeof *hop); sample = wake; start_partner(sleep_and_tell); }

/* --- threads that all look at words of their own in the table of futexes ---------------------------------------------- */
static int word_flag;
/* 1024 words of each thread, each on a line of its own. */
enum { WORDS = 1024, LINE = 16 };
static uint32_t *words[4];
static void look_up(uint32_t *own, long n) {
    static __thread unsigned next;
    LOOP(call4(SYS_futex, (long)(uintptr_t)(own + LINE * (next++ % WORDS)), FUTEX_WAIT | word_flag, 1, 0))
}
static void *look_up_for_ever(void *own) { for (;;) look_up(own, 1000); return own; }
static void op_look_up(long n) { look_up(words[0], n); }
static void need_table(int threads, int flag) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    word_flag = flag;
    for (int i = 0; i < threads; i++) words[i] = shared(WORDS * LINE * sizeof *words[i]);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        pin((int)((cpu + i) % online));
        ZERO(pthread_create(&thread, NULL, look_up_for_ever, words[i]));
    }
    pin(cpu);
}
static void need_table_1(void) { need_table(1, FUTEX_PRIVATE_FLAG); }
static void need_table_2(void) { need_table(2, FUTEX_PRIVATE_FLAG); }
static void need_table_4(void) { need_table(4, FUTEX_PRIVATE_FLAG); }
static void need_shared_table_1(void) { need_table(1, 0); }
static void need_shared_table_2(void) { need_table(2, 0); }
static void need_shared_table_4(void) { need_table(4, 0); }

/* --- a sleeper --------------------------------------------------------------------------------------------------------- */
static double oversleep(void) {
    uint64_t due = now() + 200000;
    struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
    ZERO(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    return (double)(now() - due);
}
static void need_sleeper(void) { sample = oversleep; }

/* --- the getrandom of the vDSO ------------------------------------------------------------------------------------------ */
static ssize_t (*vdso_getrandom)(void *, size_t, unsigned, void *, size_t);
static struct { uint32_t size, protection, flags, reserved[13]; } random_state_is;
static void *random_state;
static void need_vdso_getrandom(void) {
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    vdso_getrandom = vdso ? (ssize_t (*)(void *, size_t, unsigned, void *, size_t))(uintptr_t)dlsym(vdso, "__vdso_getrandom") : NULL;
    if (!vdso_getrandom || vdso_getrandom(NULL, 0, 0, &random_state_is, ~(size_t)0)) die("__vdso_getrandom");
    random_state = mmap(NULL, 4096, (int)random_state_is.protection, (int)random_state_is.flags, -1, 0);
    if (random_state == MAP_FAILED) die("mmap");
}
static void op_vdso_getrandom(long n) { LOOP(if (vdso_getrandom(random_bytes, sizeof random_bytes, 0, random_state, random_state_is.size) != 16) die("getrandom")) }

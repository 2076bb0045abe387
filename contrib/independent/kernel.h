/* Files, sockets, events, rings, namespaces and memory for prices.c: what oscost's families of these names measure. */
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>

/* --- events ------------------------------------------------------------------------------------------------------ */
static int watches[2];
static void watched_give(int to) { uint64_t one = 1; if (write(events[to], &one, 8) != 8) die("write"); }
static void watched_take(int as) {
    struct epoll_event found[2];
    while (epoll_wait(watches[as], found, 2, -1) < 1) if (errno != EINTR) die("epoll_wait");
}
static void pair_watched(void) {
    for (int side = 0; side < 2; side++) {
        struct epoll_event edge = {.events = EPOLLIN | EPOLLET};
        OK(events[side] = eventfd(0, EFD_CLOEXEC));
        OK(watches[side] = epoll_create1(EPOLL_CLOEXEC));
        OK(epoll_ctl(watches[side], EPOLL_CTL_ADD, events[side], &edge));
    }
    give = watched_give;
    take = watched_take;
}
static struct pollfd polled[1000];
static int many;
static void need_polled(int count) {
    many = count;
    for (int i = 0; i < count; i++) { OK(polled[i].fd = eventfd(0, EFD_CLOEXEC)); polled[i].events = POLLIN; }
    uint64_t one = 1;
    if (write(polled[count - 1].fd, &one, 8) != 8) die("write");
}
static void need_polled_1(void) { need_polled(1); }
static void need_polled_10(void) { need_polled(10); }
static void need_polled_100(void) { need_polled(100); }
static void need_polled_1000(void) { need_polled(1000); }
static void op_poll(long n) { LOOP(if (poll(polled, (nfds_t)many, 0) != 1) die("poll")) }
static void op_poll_may_wait(long n) { LOOP(if (poll(polled, (nfds_t)many, -1) != 1) die("poll")) }

/* --- a word that one sleeps on and the other wakes --------------------------------------------------------------- */
static struct { uint32_t turn; char line[124]; } *sleepers;
static uint32_t turns_given, turns_taken;
static void word_give(int to) {
    __atomic_store_n(&sleepers[to].turn, ++turns_given, __ATOMIC_RELEASE);
    OK(syscall(SYS_futex, &sleepers[to].turn, FUTEX_WAKE, 1, NULL, NULL, 0));
}
static void word_take(int as) {
    do {
        if (syscall(SYS_futex, &sleepers[as].turn, FUTEX_WAIT, turns_taken, NULL, NULL, 0) && errno != EAGAIN && errno != EINTR) die("futex");
    } while (__atomic_load_n(&sleepers[as].turn, __ATOMIC_ACQUIRE) == turns_taken);
    turns_taken++;
}
static void pair_sleepers(void) { sleepers = shared(2 * sizeof *sleepers); give = word_give; take = word_take; }

/* --- sockets ----------------------------------------------------------------------------------------------------- */
static void socket_give(int to) { if (send(pair_fds[!to], &byte, 1, MSG_NOSIGNAL) != 1) die("send"); }
static void socket_take(int as) { if (recv(pair_fds[as], &byte, 1, 0) != 1) die("recv"); }
static void of_sockets(void) { give = socket_give; take = socket_take; }
static void pair_unix(void) { OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair_fds)); of_sockets(); }
static struct sockaddr_in loopback(int of) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (of >= 0) OK(getsockname(of, (struct sockaddr *)&address, &length));
    return address;
}
static void pair_udp(void) {
    for (int side = 0; side < 2; side++) {
        struct sockaddr_in any = loopback(-1);
        OK(pair_fds[side] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        OK(bind(pair_fds[side], (struct sockaddr *)&any, sizeof any));
    }
    for (int side = 0; side < 2; side++) {
        struct sockaddr_in other = loopback(pair_fds[!side]);
        OK(connect(pair_fds[side], (struct sockaddr *)&other, sizeof other));
    }
    of_sockets();
}
static int listener;
static struct sockaddr_in listens;
static void need_listener(void) {
    struct linger reset = {1, 0};
    struct sockaddr_in any = loopback(-1);
    OK(listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    OK(bind(listener, (struct sockaddr *)&any, sizeof any));
    OK(setsockopt(listener, SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
    OK(listen(listener, 128));
    listens = loopback(listener);
}
static void connected(int *near, int *far) {
    OK(*near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    OK(connect(*near, (struct sockaddr *)&listens, sizeof listens));
    OK(*far = accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}
static void op_connect(long n) { LOOP(int near; int far; connected(&near, &far); close(far); close(near)) }
static void pair_tcp(void) {
    int at_once = 1;
    need_listener();
    connected(&pair_fds[0], &pair_fds[1]);
    for (int side = 0; side < 2; side++) OK(setsockopt(pair_fds[side], IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once));
    of_sockets();
}

/* --- files, in a folder in memory that is removed at the end ----------------------------------------------------- */
static char folder_path[64];
static int folder = -1;
static char page[4096];
static void no_folder(void) { unlinkat(folder, "file", 0); rmdir(folder_path); }
static void need_folder(void) {
    snprintf(folder_path, sizeof folder_path, "/dev/shm/prices-%d", getpid());
    OK(mkdir(folder_path, 0700));
    OK(folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    atexit(no_folder);
}
static void need_page_of_file(void) {
    need_folder();
    OK(fd = openat(folder, "file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (pwrite(fd, page, sizeof page, 0) != sizeof page) die("pwrite");
}
static void op_create(long n) {
    LOOP(int file = openat(folder, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); OK(file); close(file); OK(unlinkat(folder, "file", 0)))
}
static void empty_file(void) { OK(ftruncate(fd, 0)); }
static void need_growing_file(void) { need_page_of_file(); arm = empty_file; }
static void op_append(long n) { for (long i = 0; i < n; i++) if (pwrite(fd, page, sizeof page, 4096 * i) != sizeof page) die("pwrite"); }
static void op_open(long n) { LOOP(int file = openat(folder, "file", O_RDONLY | O_CLOEXEC); OK(file); close(file)) }
static void op_fstat(long n) { LOOP(if (fstat(fd, &st)) die("fstat")) }
static int entries_made;
static char listed[40000];
static void no_files(void) { char name[24]; for (int i = 0; i < entries_made; i++) { snprintf(name, sizeof name, "file-%04d", i); unlinkat(folder, name, 0); } }
static void need_files(int number) {
    char name[24];
    need_folder();
    atexit(no_files);
    for (; entries_made < number; entries_made++) {
        snprintf(name, sizeof name, "file-%04d", entries_made);
        OK(fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        close(fd);
    }
}
static void need_10_files(void) { need_files(10); }
static void need_1000_files(void) { need_files(1000); }
static void op_list(long n) { LOOP(lseek(folder, 0, SEEK_SET); if (syscall(SYS_getdents64, folder, listed, sizeof listed) < 32 * entries_made) die("getdents64")) }
static void op_pread(long n) { LOOP(if (pread(fd, page, sizeof page, 0) != sizeof page) die("pread")) }
static void op_fsync(long n) { LOOP(if (pwrite(fd, page, sizeof page, 0) != sizeof page || fsync(fd)) die("fsync")) }
static void op_pwrite(long n) { LOOP(if (pwrite(fd, page, sizeof page, 0) != sizeof page) die("pwrite")) }

/* --- a ring of io_uring ------------------------------------------------------------------------------------------ */
static int ring_fd;
static char *rings;
static struct io_uring_sqe *entries;
static struct io_uring_params parameters;
static void need_ring(unsigned depth) {
    OK(ring_fd = (int)syscall(SYS_io_uring_setup, depth, &parameters));
    if (!(parameters.features & IORING_FEAT_SINGLE_MMAP)) die("io_uring");
    size_t submissions = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
    size_t completions = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
    size_t bytes = submissions > completions ? submissions : completions;
    rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd, IORING_OFF_SQ_RING);
    entries = mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd, IORING_OFF_SQES);
    if (rings == MAP_FAILED || entries == MAP_FAILED) die("mmap");
}
static void need_ring_1(void) { need_ring(1); }
static void need_ring_32(void) { need_ring(32); }
static inline unsigned *of_ring(unsigned offset) { return (unsigned *)(rings + offset); }
static inline void nothings(unsigned count) {
    unsigned tail = *of_ring(parameters.sq_off.tail), mask = *of_ring(parameters.sq_off.ring_mask);
    for (unsigned i = 0; i < count; i++, tail++) {
        struct io_uring_sqe *entry = &entries[tail & mask];
        memset(entry, 0, sizeof *entry);
        entry->opcode = IORING_OP_NOP;
        entry->user_data = tail;
        of_ring(parameters.sq_off.array)[tail & mask] = tail & mask;
    }
    __atomic_store_n(of_ring(parameters.sq_off.tail), tail, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring_fd, count, count, IORING_ENTER_GETEVENTS, NULL, 0) != (long)count) die("io_uring_enter");
    unsigned head = *of_ring(parameters.cq_off.head), ready = __atomic_load_n(of_ring(parameters.cq_off.tail), __ATOMIC_ACQUIRE);
    if (ready - head != count) die("completions");
    __atomic_store_n(of_ring(parameters.cq_off.head), ready, __ATOMIC_RELEASE);
}
static void op_nothing_1(long n) { LOOP(nothings(1)) }
static void op_nothing_32(long n) { LOOP(nothings(32)) }

/* --- namespaces: a process that makes one and ends --------------------------------------------------------------- */
static int namespace_flag;
static char namespace_stack[1 << 16] __attribute__((aligned(16)));
static int in_namespace(void *none) { (void)none; return namespace_flag && unshare(namespace_flag) ? 1 : 0; }
static void op_namespace(long n) {
    LOOP(int status; pid_t child = clone(in_namespace, namespace_stack + sizeof namespace_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
         if (child < 0 || waitpid(child, &status, 0) != child || status) die("namespace"))
}
static void need_user(void) { namespace_flag = CLONE_NEWUSER; }
static void need_mount(void) { namespace_flag = CLONE_NEWNS; }
static void need_pid(void) { namespace_flag = CLONE_NEWPID; }
static void need_ipc(void) { namespace_flag = CLONE_NEWIPC; }
static void need_uts(void) { namespace_flag = CLONE_NEWUTS; }
static void need_cgroup(void) { namespace_flag = CLONE_NEWCGROUP; }
/* A network namespace goes later, in a thread of the kernel. */
static void let_it_go(void) { struct timespec tenth = {0, 100000000}; nanosleep(&tenth, NULL); }
static void need_net(void) { namespace_flag = CLONE_NEWNET; arm = let_it_go; }
static void need_time(void) { namespace_flag = 0x80; }

/* --- memory: a chain of one pointer on each line, and blocks ------------------------------------------------------ */
static void **link_;
static long links;
static void walk(long n) { void **at = link_; for (long i = 0; i < n; i++) at = *(void **volatile *)at; link_ = at; }
static void need_chain(size_t bytes, int huge) {
    map_pages(bytes + (2 << 20));
    char *start = (char *)(((uintptr_t)pages + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
    if (huge) madvise(start, bytes, MADV_HUGEPAGE);
    links = (long)(bytes / 64);
    long *next = (long *)start;
    for (long i = 0; i < links; i++) next[8 * i] = i;
    uint64_t state = 88172645463325252u;
    for (long i = links - 1; i > 0; i--) {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        long j = (long)(state % (uint64_t)i), kept = next[8 * i];
        next[8 * i] = next[8 * j];
        next[8 * j] = kept;
    }
    for (long i = 0; i < links; i++) *(void **)(start + 64 * i) = start + 64 * next[8 * i];
    link_ = (void **)start;
}
static void chain_16k(void) { need_chain(16 << 10, 0); }
static void chain_128k(void) { need_chain(128 << 10, 0); }
static void chain_1m(void) { need_chain(1 << 20, 0); }
static void chain_8m(void) { need_chain(8 << 20, 0); }
static void chain_8m_huge(void) { need_chain(8 << 20, 1); }
static void chain_64m(void) { need_chain(64 << 20, 0); }
static void chain_64m_huge(void) { need_chain(64 << 20, 1); }

typedef uint64_t two_words __attribute__((vector_size(16)));
static char *block, *other_block;
static size_t block_bytes, block_at;
static volatile uint64_t block_sum;
static void need_block(size_t bytes) {
    block_bytes = bytes;
    map_pages(bytes); touch_pages(); block = pages; memset(block, 1, bytes);
    map_pages(bytes); touch_pages(); other_block = pages; memset(other_block, 1, bytes);
}
static void block_16k(void) { need_block(16 << 10); }
static void block_1m(void) { need_block(1 << 20); }
static void block_64m(void) { need_block(64 << 20); }
/* The pieces, one after the other: where the next one begins is known in registers, or its loads would wait for a store. */
#define PIECES(body) \
    char *const from = block, *const to_ = other_block; \
    const size_t bytes = block_bytes; \
    size_t at = block_at; \
    (void)to_; \
    LOOP(body; at = at + 1024 >= bytes ? 0 : at + 1024) \
    block_at = at;
static void op_read_block(long n) {
    const two_words nothing_yet = {0, 0};
    uint64_t sum = 0;
    /* Four sums: each addition waits for the one before it. */
    PIECES(const two_words *words = (const two_words *)(from + at);
         two_words one = nothing_yet; two_words two_ = nothing_yet; two_words three = nothing_yet; two_words four = nothing_yet;
         for (int j = 0; j < 64; j += 4) { one += words[j]; two_ += words[j + 1]; three += words[j + 2]; four += words[j + 3]; }
         one += two_ + three + four; sum += one[0] + one[1])
    block_sum = sum;
}
static void op_write_block(long n) {
    two_words value = {5, 5};
    /* The loop's own jump would take as long as a store. */
    PIECES(two_words *words = (two_words *)(from + at);
         for (int j = 0; j < 64; j += 4) { words[j] = value; words[j + 1] = value; words[j + 2] = value; words[j + 3] = value; })
}
/* Not known to the compiler, so that it calls libc. */
static volatile size_t piece_bytes = 1024;
static void op_set_block(long n) { PIECES(memset(from + at, 5, piece_bytes)) }
static void op_copy_block(long n) { PIECES(memcpy(to_ + at, from + at, piece_bytes)) }

/* --- processes that hold memory, threads with a new stack, a barrier ----------------------------------------------- */
static void hold(size_t bytes, int huge) {
    grow();
    map_pages(bytes + (2 << 20));
    char *start = (char *)(((uintptr_t)pages + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
    if (huge) madvise(start, bytes, MADV_HUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096) start[at] = 1;
}
static void hold_1m(void) { hold(1 << 20, 0); }
static void hold_16m(void) { hold(16 << 20, 0); }
static void hold_16m_huge(void) { hold(16 << 20, 1); }
static void hold_256m(void) { hold(256 << 20, 0); }
static void hold_256m_huge(void) { hold(256 << 20, 1); }
static void hold_1g(void) { hold(1 << 30, 0); }
static void hold_1g_huge(void) { hold(1 << 30, 1); }
static pthread_attr_t large;
static void need_large(void) { ZERO(pthread_attr_init(&large)); ZERO(pthread_attr_setstacksize(&large, 64 << 20)); }
static void op_new_stack(long n) {
    LOOP(pthread_t thread; if (pthread_create(&thread, &large, nothing, NULL)) die("thread"); pthread_join(thread, NULL))
}
static void need_barrier(void) { OK(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)); }
static void op_barrier(long n) { LOOP(call3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) }

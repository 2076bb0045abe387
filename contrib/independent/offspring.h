/* Processes, threads, signals and memory for prices.c: what oscost's families process, thread, signal and memory measure. */
#include <spawn.h>
#include <sys/random.h>

/* What is done before each batch, untimed, and what is done in one. */
static void (*arm)(void);
static long in_a_row;

static char random_bytes[16];
static void op_getrandom(long n) { LOOP(call3(SYS_getrandom, (long)random_bytes, sizeof random_bytes, 0)) }

static volatile long handled;
static void handler(int number) { (void)number; handled++; }
static long own;
static void need_handler(void) {
    struct sigaction action = {.sa_handler = handler};
    OK(sigaction(SIGUSR1, &action, NULL));
    own = getpid();
}
static void op_signal(long n) { LOOP(call3(SYS_kill, own, SIGUSR1, 0)) }

static char *pages;
static size_t mapped;
/* Between two pages that nobody may use, from the beginning of a page table. */
static void map_pages(size_t bytes) {
    size_t table = 2 << 20;
    mapped = bytes;
    char *all = mmap(NULL, bytes + 2 * table, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) die("mmap");
    pages = (char *)(((uintptr_t)all + table) & ~(uintptr_t)(table - 1));
    OK(mprotect(pages, bytes, PROT_READ | PROT_WRITE));
    madvise(pages, bytes, MADV_NOHUGEPAGE);
}
static void touch_pages(void) { for (size_t at = 0; at < mapped; at += 4096) *(volatile char *)(pages + at) = 1; }
/* As large as the process of oscost that forks, by its figure's post conditions: 1.25 MiB of its own, in 38 mappings. */
static void grow(void) {
    enum { PART = 19 << 12, PARTS = 15 };
    map_pages(PART * PARTS);
    touch_pages();
    for (int i = 1; i < PARTS; i += 2) OK(mprotect(pages + PART * i, PART, PROT_READ));
}

static void reap(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) die("child");
}
static void op_fork(long n) { LOOP(pid_t child = fork(); if (child == 0) _exit(7); reap(child)) }

/* A static program that exits, in memory alone: compiled here, without a C library. */
static char program[64];
static void need_program(void) {
    grow();
    static const char source[] =
#ifdef __x86_64__
        "void _start(void) { __asm__ volatile(\"syscall\" :: \"a\"(231L), \"D\"(7L)); __builtin_unreachable(); }\n";
#else
        "void _start(void) { register long a __asm__(\"x0\") = 7, b __asm__(\"x8\") = 94; "
        "__asm__ volatile(\"svc 0\" :: \"r\"(a), \"r\"(b)); __builtin_unreachable(); }\n";
#endif
    int file = memfd_create("independent", MFD_CLOEXEC);
    OK(file);
    char command[256];
    snprintf(command, sizeof command, "cc -x c -O2 -static -nostdlib -o /proc/%d/fd/%d - >/dev/null", getpid(), file);
    FILE *compiler = popen(command, "w");
    if (!compiler || fputs(source, compiler) < 0 || pclose(compiler) != 0) die("cc");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    OK(fchmod(file, 0700));
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    OK(reader);
    close(file);
    snprintf(program, sizeof program, "/proc/self/fd/%d", reader);
}
static char *const arguments[] = {(char *)"independent", NULL}, *const no_environment[] = {NULL};
static void op_exec(long n) {
    LOOP(pid_t child = fork(); if (child == 0) { execve(program, arguments, no_environment); _exit(8); } reap(child))
}
static void op_spawn(long n) {
    LOOP(pid_t child; if (posix_spawn(&child, program, NULL, NULL, arguments, no_environment)) die("posix_spawn"); reap(child))
}

static void *nothing(void *argument) { return argument; }
static void op_thread(long n) {
    LOOP(pthread_t thread; if (pthread_create(&thread, NULL, nothing, NULL)) die("thread"); pthread_join(thread, NULL))
}

static void need_page(void) { map_pages(4096); touch_pages(); }
/* Of another protection: the kernel joins a new mapping to one that is alike, which costs more. */
static void need_neighbour(void) { if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) die("mmap"); }
static void drop_pages(void) { OK(madvise(pages, mapped, MADV_DONTNEED)); }
static void need_pages(void) { map_pages(64 << 20); arm = drop_pages; }
/* Those of two batches: of more, the caches would hold the last ones. */
static void touch_some_pages(void) { for (size_t at = 0; at < 8192 * (size_t)in_a_row && at < mapped; at += 4096) *(volatile char *)(pages + at) = 1; }
static void need_touched_pages(void) { map_pages(8 << 20); arm = touch_some_pages; }
static void op_give_back(long n) { OK(madvise(pages, 4096 * n, MADV_DONTNEED)); }
static void op_fault(long n) { for (long i = 0; i < n; i++) *(volatile char *)(pages + 4096 * i) = 1; }
/* A file of 4 MiB in memory, mapped 64 times: its parts are read, or its pages written to after they were read. */
static void map_file(int protection) {
    static char block[4 << 20] = {7};
    int file = memfd_create("prices", MFD_CLOEXEC);
    OK(file);
    if (write(file, block, sizeof block) != sizeof block) die("write");
    /* Mapped elsewhere as well: the first mapping of a page costs more. */
    char *other = mmap(NULL, sizeof block, PROT_READ, MAP_PRIVATE, file, 0);
    if (other == MAP_FAILED) die("mmap");
    for (size_t at = 0; at < sizeof block; at += 4096) *(volatile char *)(other + at);
    map_pages(256 << 20);
    for (int i = 0; i < 64; i++)
        if (mmap(pages + i * sizeof block, sizeof block, protection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) die("mmap");
}
/* Those that a batch writes to, and some more: others would take what it copies from out of the caches. */
static void drop_and_read(void) {
    drop_pages();
    for (long i = 0; i < 64; i++) *(volatile char *)(pages + 4096 * i);
}
static void need_file_pages(void) { map_file(PROT_READ); arm = drop_pages; }
/* The first 8 MiB of it, touched. */
static void touch_first_pages(void) { for (size_t at = 0; at < 8 << 20; at += 4096) *(volatile char *)(pages + at); }
static void need_touched_file_pages(void) { map_file(PROT_READ); arm = touch_first_pages; }
static void need_1000_mappings(void) {
    grow();
    int file = memfd_create("prices", MFD_CLOEXEC);
    OK(file);
    OK(ftruncate(file, 4096));
    for (int i = 0; i < 1000; i++) if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) die("mmap");
}
static void need_file_copies(void) { map_file(PROT_READ | PROT_WRITE); arm = drop_and_read; }
static void op_fault_file(long n) { for (long i = 0; i < n; i++) *(volatile char *)(pages + 65536 * i); }
static void op_protect(long n) {
    LOOP(call3(SYS_mprotect, (long)pages, 4096, PROT_READ); call3(SYS_mprotect, (long)pages, 4096, PROT_READ | PROT_WRITE))
}
static void op_map(long n) {
    LOOP(void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         if (page == MAP_FAILED) die("mmap"); munmap(page, 4096))
}
/* Threads that only run, on the CPUs after this one, while a page changes its protection. */
static void *run_for_ever(void *none) { for (;;) __asm__ volatile("" ::: "memory"); return none; }
static void beside_threads(int threads) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    need_page();
    for (int i = 1; i <= threads; i++) {
        pthread_t thread;
        pin((int)((cpu + i) % online));
        ZERO(pthread_create(&thread, NULL, run_for_ever, NULL));
    }
    pin(cpu);
}
static void need_1_running(void) { beside_threads(1); }
static void need_3_running(void) { beside_threads(3); }
static void need_7_running(void) { beside_threads(7); }

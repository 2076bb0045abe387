/* Two processes, or threads, of the independent program: tokens that go to and fro, turns, and rings of locks. Part of prices.c. */

/* --- two processes: strict alternation, one half round trip is one operation ------------------------------------- */
static void (*give)(int to), (*take)(int as);
static int two[2][2];
static void pipe_give(int to) { if (write(two[to][1], &byte, 1) != 1) die("write"); }
static void pipe_take(int as) { if (read(two[as][0], &byte, 1) != 1) die("read"); }
static void stream_give(int to) { if (write(pair_fds[!to], &byte, 1) != 1) die("write"); }
static void stream_take(int as) { if (read(pair_fds[as], &byte, 1) != 1) die("read"); }
static void sem_give(int to) { OK(sem_post(&area->sem[to])); }
static void sem_take(int as) { while (sem_wait(&area->sem[as])) if (errno != EINTR) die("sem_wait"); }
static void semop_give(int to) { struct sembuf op = {(unsigned short)to, 1, 0}; OK(semop(set_id, &op, 1)); }
static void semop_take(int as) { struct sembuf op = {(unsigned short)as, -1, 0}; OK(semop(set_id, &op, 1)); }
static int events[2];
static void event_give(int to) { uint64_t one = 1; if (write(events[to], &one, 8) != 8) die("write"); }
static void event_take(int as) { if (read(events[as], &eight, 8) != 8) die("read"); }
static void message_give(int to) { message.type = to + 1; OK(msgsnd(queue_id, &message, 0, 0)); }
static void message_take(int as) { OK(msgrcv(queue_id, &message, 0, as + 1, 0)); }
static mqd_t queues[2];
static void mq_give(int to) { OK(mq_send(queues[to], &byte, 1, 0)); }
static void mq_take(int as) { char text[8]; OK(mq_receive(queues[as], text, sizeof text, NULL)); }
static void cond_give(int to) {
    ZERO(pthread_mutex_lock(&area->mutex));
    area->token = to;
    ZERO(pthread_cond_signal(&area->cond));
    ZERO(pthread_mutex_unlock(&area->mutex));
}
static void cond_take(int as) {
    ZERO(pthread_mutex_lock(&area->mutex));
    while (area->token != as) ZERO(pthread_cond_wait(&area->cond, &area->mutex));
    area->token = -1;
    ZERO(pthread_mutex_unlock(&area->mutex));
}

/* Needs of the pairs. */
static void pair_pipes(void) { OK(pipe(two[0])); OK(pipe(two[1])); give = pipe_give; take = pipe_take; }
static void pair_stream(void) { OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_fds)); give = stream_give; take = stream_take; }
static void pair_sems(void) { need_area(); OK(sem_init(&area->sem[0], 1, 0)); OK(sem_init(&area->sem[1], 1, 0)); give = sem_give; take = sem_take; }
static void pair_set(void) { OK(set_id = semget(IPC_PRIVATE, 2, 0600)); give = semop_give; take = semop_take; }
static void pair_events(void) { OK(events[0] = eventfd(0, 0)); OK(events[1] = eventfd(0, 0)); give = event_give; take = event_take; }
static void pair_messages(void) { OK(queue_id = msgget(IPC_PRIVATE, 0600)); give = message_give; take = message_take; }
static void pair_mqs(void) {
    for (int side = 0; side < 2; side++) {
        char name[64];
        struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
        snprintf(name, sizeof name, "/prices-%d-%d", getpid(), side);
        OK(queues[side] = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr));
        mq_unlink(name);
    }
    give = mq_give;
    take = mq_take;
}
static void pair_cond(void) {
    need_cond();
    area->token = -1;
    give = cond_give;
    take = cond_take;
}

static void op_alternate(long n) { LOOP(give(1); take(0)) }
static void op_alone(long n) { LOOP(give(1); take(1)) }
static void start_partner(void (*work)(void)) {
    partner = fork();
    if (partner < 0) die("fork");
    if (partner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(partner_cpu);
        for (;;) work();
    }
}
static void answer(void) { take(1); give(0); }

/* The partner is a thread: its CPU is that of the process. */
static void *answer_for_ever(void *none) { for (;;) answer(); return none; }
static void pair_thread(void) {
    pthread_t thread;
    pair_pipes();
    pin(partner_cpu);
    ZERO(pthread_create(&thread, NULL, answer_for_ever, NULL));
    pin(cpu);
}

/* Nobody sleeps: each gives its CPU away until it is its turn. The calls are written out: after a switch to another process
 * indirect calls are predicted wrong, which costs a quarter more. */
static inline void yield_to(int to) { __atomic_store_n(&area->token, to, __ATOMIC_RELEASE); }
static inline void yield_until(int mine) { while (__atomic_load_n(&area->token, __ATOMIC_ACQUIRE) != mine) call3(SYS_sched_yield, 0, 0, 0); }
static void op_yields(long n) { LOOP(yield_to(1); yield_until(0)) }
static void answer_yields(void) { for (;;) { yield_until(1); yield_to(0); } }
static void pair_yield(void) { need_area(); start_partner(answer_yields); }

/* --- two processes: a ring of three locks ----------------------------------------------------------------------------
 * One side holds two locks and gives the older one back, then waits for the third, which the other side gives back when
 * it has got what it waits for. One pass is two hand-overs, and ends as it began. */
static void (*enter)(int lock), (*leave)(int lock);
static struct { pthread_mutex_t mutex[3]; pthread_rwlock_t rw[3]; int word[3]; int ready; } *ring;
static int files[3];
static void ring_mutex_enter(int lock) { ZERO(pthread_mutex_lock(&ring->mutex[lock])); }
static void ring_mutex_leave(int lock) { ZERO(pthread_mutex_unlock(&ring->mutex[lock])); }
static void ring_rw_enter(int lock) { ZERO(pthread_rwlock_wrlock(&ring->rw[lock])); }
static void ring_rw_leave(int lock) { ZERO(pthread_rwlock_unlock(&ring->rw[lock])); }
static void ring_word_enter(int lock) { word_lock(&ring->word[lock]); }
static void ring_word_leave(int lock) { word_unlock(&ring->word[lock]); }
static void ring_flock_enter(int lock) { OK(flock(files[lock], LOCK_EX)); }
static void ring_flock_leave(int lock) { OK(flock(files[lock], LOCK_UN)); }
static void whole(int file, int command, int type) {
    struct flock record_ = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    OK(fcntl(file, command, &record_));
}
static void ring_fcntl_enter(int lock) { whole(files[lock], F_SETLKW, F_WRLCK); }
static void ring_fcntl_leave(int lock) { whole(files[lock], F_SETLKW, F_UNLCK); }
static void ring_ofd_enter(int lock) { whole(files[lock], F_OFD_SETLKW, F_WRLCK); }
static void ring_ofd_leave(int lock) { whole(files[lock], F_OFD_SETLKW, F_UNLCK); }

static int newer = 1, ring_of_files;
static char ring_paths[3][64];
static void open_files(void) {
    for (int i = 0; i < 3; i++) OK(files[i] = open(ring_paths[i], O_RDWR));
}
static void op_ring(long n) {
    for (long i = 0; i < n; i++) {
        leave((newer + 2) % 3);
        enter((newer + 1) % 3);
        newer = (newer + 1) % 3;
    }
}
static int held = 2;
static void ring_answer(void) {
    if (!__atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE)) {
        if (ring_of_files) open_files();
        enter(held);
        __atomic_store_n(&ring->ready, 1, __ATOMIC_RELEASE);
    }
    int next = (held + 1) % 3;
    enter(next);
    leave(held);
    held = next;
}
static void start_ring(void) {
    enter(0);
    enter(1);
    start_partner(ring_answer);
    while (!__atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE)) sched_yield();
}
static void ring_of(void (*in)(int), void (*out)(int)) { ring = shared(sizeof *ring); enter = in; leave = out; }
static void ring_of_mutexes(int robust, int inherit) {
    ring_of(ring_mutex_enter, ring_mutex_leave);
    pthread_mutexattr_t attr;
    ZERO(pthread_mutexattr_init(&attr));
    ZERO(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    if (robust) ZERO(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    if (inherit) ZERO(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
    for (int i = 0; i < 3; i++) ZERO(pthread_mutex_init(&ring->mutex[i], &attr));
    start_ring();
}
static void ring_shared(void) { ring_of_mutexes(0, 0); }
static void ring_robust(void) { ring_of_mutexes(1, 0); }
static void ring_inherit(void) { ring_of_mutexes(0, 1); }
static void ring_rwlock(void) {
    ring_of(ring_rw_enter, ring_rw_leave);
    pthread_rwlockattr_t attr;
    ZERO(pthread_rwlockattr_init(&attr));
    ZERO(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    for (int i = 0; i < 3; i++) ZERO(pthread_rwlock_init(&ring->rw[i], &attr));
    start_ring();
}
static void ring_word(void) { ring_of(ring_word_enter, ring_word_leave); start_ring(); }
static void ring_file(void (*in)(int), void (*out)(int)) {
    ring_of(in, out);
    ring_of_files = 1;
    for (int i = 0; i < 3; i++) {
        int memory;
        OK(memory = memfd_create("prices", 0));
        OK(ftruncate(memory, 4096));
        snprintf(ring_paths[i], sizeof ring_paths[i], "/proc/%d/fd/%d", getpid(), memory);
    }
    open_files();
    start_ring();
}
static void ring_flock(void) { ring_file(ring_flock_enter, ring_flock_leave); }
static void ring_fcntl(void) { ring_file(ring_fcntl_enter, ring_fcntl_leave); }
static void ring_ofd(void) { ring_file(ring_ofd_enter, ring_ofd_leave); }

"""The kinds of planted faults: what each plants, for which figures, and what catches it."""
import json, os, shutil, signal, subprocess, sys, time
from pathlib import Path

import judge
from judge import interposed, run, skip

LOCKS = ["lock/mutex", "lock/shared_mutex", "lock/robust_mutex", "lock/pi_mutex"]
MUTEX = "pthread_mutex_lock={0} pthread_mutex_unlock={0}"
RWLOCK = "pthread_rwlock_rdlock={0} pthread_rwlock_wrlock={0} pthread_rwlock_unlock={0}"


def handover(*names):
    return [f"{name}/handover/{place}" for name in names for place in ("same_cpu", "cross_cpu")]


def contended(name, hold=1):
    return f"{name}/contended/processes_4/hold_us_{hold}/think_0"


NOOPS = [  # functions that do nothing, and the figures that rest on them
    ("sem_wait=noop sem_post=noop", ["semaphore/posix_named", "semaphore/posix_unnamed"]),
    ("sem_wait=noop", ["semaphore/posix_named", "semaphore/posix_unnamed"]),
    ("sem_post=noop", ["semaphore/posix_named", "semaphore/posix_unnamed"]),
    ("sem_wait=noop sem_post=noop", handover("semaphore/posix_named", "semaphore/posix_unnamed")),
    ("sem_wait=noop sem_post=noop", [contended("semaphore/posix_named")]),
    ("semop=noop", ["semaphore/system_v", "semaphore/system_v_one_call", "semaphore/system_v_undo"]),
    ("semop=noop", handover("semaphore/system_v")),
    (MUTEX.format("noop"), LOCKS),
    (MUTEX.format("noop"), handover("lock/shared_mutex", "lock/robust_mutex", "lock/pi_mutex")),
    (MUTEX.format("noop"), [contended("lock/shared_mutex")]),
    ("pthread_mutex_unlock=noop", LOCKS),
    (RWLOCK.format("noop"), ["lock/rwlock_read", "lock/rwlock_write"] + handover("lock/rwlock_write")),
    ("fcntl=noop", ["record_lock/fcntl", "record_lock/ofd"] + handover("record_lock/fcntl", "record_lock/ofd")),
    ("flock=noop", ["record_lock/flock"] + handover("record_lock/flock")),
    ("read=noop write=noop", ["context_switch/pipe/same_cpu", "context_switch/pipe_alone/same_cpu", "lock/pipe_token",
                              "semaphore/eventfd"]),
    ("msgsnd=noop msgrcv=noop", ["lock/system_v_message"] + handover("lock/system_v_message")),
    ("mq_send=noop mq_receive=noop", ["context_switch/posix_queue/same_cpu"]),
    ("getpid=noop", ["syscall/getpid_libc"]),
    ("stat=noop", ["syscall/stat"]),
    ("close=noop", ["syscall/open_close"]),
    ("pthread_cond_wait=noop pthread_cond_signal=noop", handover("lock/condition_variable")),
]
AFTER = [(f"{text.replace('*', f'after:{number}')}", ids) for number in (1000, 3000, 30000)
         for text, ids in [("semop=*", ["semaphore/system_v", "semaphore/system_v_undo"]), ("sem_wait=* sem_post=*", ["semaphore/posix_named"]),
                           ("flock=*", ["record_lock/flock"]), ("fcntl=*", ["record_lock/fcntl"]),
                           (MUTEX.format("*"), ["lock/shared_mutex"])]]
EXTRA = [("sem_post=extra", ["semaphore/posix_named"] + handover("semaphore/posix_named")),
         ("semop=extra", ["semaphore/system_v"]), ("flock=extra", ["record_lock/flock"]),
         ("write=extra", ["context_switch/pipe/same_cpu"]), ("pthread_mutex_unlock=extra", ["lock/mutex"])]
SLOW = [("semop=slow:2000", ["semaphore/system_v"]), ("sem_post=slow:100", ["semaphore/posix_named"]),
        ("write=slow:3000", ["context_switch/pipe/same_cpu"])]
EVERY = [(f"{text.replace('*', f'every:{number}')}", ids) for number in (2, 10)
         for text, ids in [("sem_wait=* sem_post=*", ["semaphore/posix_named"]), ("semop=*", ["semaphore/system_v"]),
                           ("flock=*", ["record_lock/flock"]), ("fcntl=*", ["record_lock/fcntl"]),
                           (MUTEX.format("*"), ["lock/shared_mutex"])]]
OTHER = [("semop=other", ["semaphore/system_v"]), ("flock=other", ["record_lock/flock"]),
         ("fcntl=other", ["record_lock/fcntl"]), ("stat=other", ["syscall/stat"]),
         ("read=other write=other", ["context_switch/pipe_alone/same_cpu", "semaphore/eventfd"])]
PARTNER = [("sem_wait=partner", handover("semaphore/posix_named")), ("semop=partner", handover("semaphore/system_v")),
           (MUTEX.format("partner"), handover("lock/shared_mutex")), ("flock=partner", handover("record_lock/flock")),
           ("read=partner write=partner", ["context_switch/pipe/same_cpu"])]
FAILS = [("semop=fails:5000", ["semaphore/system_v"]), ("flock=fails:5000", ["record_lock/flock"]),
         ("sem_wait=fails:5000", ["semaphore/posix_named"]), ("write=fails:5000", ["context_switch/pipe/same_cpu"]),
         ("pthread_mutex_lock=fails:5000", ["lock/shared_mutex"])]
QUIET = ["syscall/getppid", "semaphore/posix_named"]


def interposers(faults, wants):
    def plant(kind, short):
        for fault, ids in (faults[::4] if short else faults):
            judge.judge(kind, fault, ids, run(ids, env=interposed(fault)), wants)
    return plant


def filters(how, cases, wants, with_truth=False):
    def plant(kind, short):
        for calls, ids in (cases[:1] if short else cases):
            truth = run(ids)[2] if with_truth else None
            outcome = run(ids, before=[judge.WORK / "filter", how, calls])
            judge.judge(kind, f"{how} {calls}", ids, outcome, wants, truth)
    return plant


def prefixed(cases, ids, wants, with_truth=False):
    def plant(kind, short):
        truth = run(ids)[2] if with_truth else None
        for before in (cases[:1] if short else cases):
            if not shutil.which(before[0]):
                skip(kind, " ".join(before), f"{before[0]} is not installed")
                continue
            judge.judge(kind, " ".join(before), ids, run(ids, before=before), wants, truth)
    return plant


def clocks(kind, short):
    for rate in ["1/2"] if short else ["1/2", "2", "9/10", "11/10", "99/100"]:
        fault = lambda: run(QUIET, env=interposed("", FAULT_CLOCK=rate))
        # A hundredth is less than what figures differ by, so 2 % off the truth will do. The truth has the library, too: a call through
        # it takes longer.
        outcome, truth = judge.beside(QUIET, fault, env=interposed("")) if rate == "99/100" else (fault(), None)
        judge.judge(kind, f"every clock of libc runs at {rate}", QUIET, outcome, "withheld" if truth is None else (), truth)


def standing_clock(kind, short):
    judge.judge(kind, "clock_gettime answers 0", QUIET, run(QUIET, env=interposed("clock_gettime=noop")), "withheld")
    judge.judge(kind, "clock_gettime makes another call", ["clock/monotonic"],
                run(["clock/monotonic"], env=interposed("clock_gettime=other")), "withheld")


def coarse_clock(kind, short):
    truth = run(QUIET, env=interposed(""))[2]
    for step in (1_000, 100_000, 4_000_000):
        judge.judge(kind, f"the clock advances in steps of {step} ns", QUIET,
                    run(QUIET, env=interposed("", FAULT_COARSE=str(step))), ("noisy",), truth)


def jumping_clock(kind, short):
    truth = run(QUIET, env=interposed(""))[2]
    for jump in ("1000000/1000", "-20000/500", "500/2"):
        judge.judge(kind, f"the clock jumps by so many ns once in so many readings: {jump}", QUIET,
                    run(QUIET, env=interposed("", FAULT_JUMP=jump)), ("noisy",), truth)


def false_memory(kind, short):
    """What the store remembers of this processor is wrong; it is put right or believed in nothing that is signed."""
    run(QUIET)
    path = judge.WORK / "state" / "oscost" / "runs" / "core.constants"
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        return skip(kind, "constants of the core", f"nothing is remembered: {error}")
    for factor in (0.5, 0.9, 1.1, 2.0):
        false = json.loads(json.dumps(kept))
        for core in false["cores"]:
            for name in ("chain_ns", "throughput_ns", "entry_ns"):
                if core.get(name):
                    core[name] *= factor

        def fault():
            path.write_text(json.dumps(false))
            outcome = run(QUIET)
            path.write_text(json.dumps(kept))
            return outcome
        outcome, truth = judge.beside(QUIET, fault)
        judge.judge(kind, f"the core is remembered {factor} times as slow", QUIET, outcome, ("busy_sibling", "noisy"), truth)
    path.unlink(missing_ok=True)


def measured_cpu():
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[1] if len(allowed) > 1 else allowed[0]


def loops(count, cpu, setting=()):
    """Busy loops on one CPU, as long as oscost runs."""
    def beside(_process, stop):
        script = "import time\nwhile True: pass"
        command = ["taskset", "-c", str(cpu), *setting, sys.executable, "-c", script]
        neighbours = [subprocess.Popen(command) for _ in range(count)]
        stop.wait()
        for it in neighbours:
            it.kill()
            it.wait()
    return beside


def bursts(cpu, busy, idle):
    def beside(_process, stop):
        script = f"import time\nwhile True:\n    t = time.monotonic() + {busy}\n    while time.monotonic() < t: pass\n    time.sleep({idle})"
        it = subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", script])
        stop.wait()
        it.kill()
        it.wait()
    return beside


def neighbours(kind, short):
    cpu = measured_cpu()
    truth = run(QUIET, options=("--quick", "--cpu", str(cpu)))[2]
    cases = [("one busy loop", loops(1, cpu)), ("a busy loop, nice 19", loops(1, cpu, ("nice", "-n", "19"))),
             ("three busy loops", loops(3, cpu)), ("bursts of 5 ms in 50", bursts(cpu, 0.005, 0.045)),
             ("bursts of 1 ms in 20", bursts(cpu, 0.001, 0.019)), ("a busy loop, nice -10", loops(1, cpu, ("nice", "-n", "-10")))]
    for what, beside in cases[:1] if short else cases:
        if "-10" in what and os.geteuid() != 0:
            skip(kind, what, "needs root")
            continue
        outcome = run(QUIET, options=("--quick", "--cpu", str(cpu)), beside=beside)
        judge.judge(kind, what, QUIET, outcome, ("shared", "noisy"), truth)


def real_time_neighbours(kind, short):
    cpu = measured_cpu()
    if os.geteuid() != 0 or not shutil.which("chrt"):
        return skip(kind, "bursts under SCHED_FIFO", "needs root and chrt")
    truth = run(QUIET, options=("--quick", "--cpu", str(cpu)))[2]
    script = "import time\nwhile True:\n    t = time.monotonic() + 0.003\n    while time.monotonic() < t: pass\n    time.sleep(0.017)"

    def beside(_process, stop):
        it = subprocess.Popen(["taskset", "-c", str(cpu), "chrt", "-f", "10", sys.executable, "-c", script])
        stop.wait()
        it.kill()
        it.wait()
    judge.judge(kind, "3 ms in 20 under SCHED_FIFO", QUIET, run(QUIET, options=("--quick", "--cpu", str(cpu)), beside=beside),
          ("shared", "noisy"), truth)


def workers(process):
    """Workers of this run, by pid."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
                if b"__worker" in line[:3] and os.getsid(int(entry.name)) in (process.pid, int(entry.name)):
                    found.append(int(entry.name))
            except (OSError, ProcessLookupError):
                continue
    return found


def acting(act, every):
    def beside(process, stop):
        while not stop.wait(every):
            for pid in workers(process):
                try:
                    act(pid)
                except OSError:
                    pass
    return beside


def moved(kind, short):
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        return skip(kind, "workers are moved", "one CPU")
    truth = run(QUIET)[2]
    flip = [0]

    def act(pid):
        flip[0] ^= 1
        os.sched_setaffinity(pid, {allowed[flip[0]]})
    judge.judge(kind, "workers are moved to another CPU every 10 ms", QUIET, run(QUIET, beside=acting(act, 0.01)), ("noisy",), truth)
    cross = handover("semaphore/posix_named")[1:]
    judge.judge(kind, "both sides are put on one CPU", cross,
          run(cross, beside=acting(lambda pid: os.sched_setaffinity(pid, {allowed[0]}), 0.005)), "withheld")

    def partner(pid):
        # The parent of a partner is a worker itself.
        above = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if b"__worker" in Path(f"/proc/{above}/cmdline").read_bytes().split(b"\0")[:3]:
            os.sched_setaffinity(pid, os.sched_getaffinity(above))
    judge.judge(kind, "partners are put on the CPU of their worker", cross, run(cross, beside=acting(partner, 0.002)), "withheld")


def stopped(kind, short):
    truth = run(QUIET)[2]

    def act(pid):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.004)
        os.kill(pid, signal.SIGCONT)
    judge.judge(kind, "workers stop for 4 ms every 20", QUIET, run(QUIET, beside=acting(act, 0.016)), ("noisy", "shared"), truth)


def partner_neighbours(kind, short):
    """A loop on the partner's CPU alone."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        return skip(kind, "a busy loop on the partner's CPU", "one CPU")
    ids = ["semaphore/posix_named/handover/cross_cpu", "context_switch/pipe/cross_cpu"]
    options = ("--quick", "--cpu", f"{allowed[1]},{allowed[0]}")
    truth = run(ids, options=options)[2]
    judge.judge(kind, "a busy loop on the partner's CPU", ids, run(ids, options=options, beside=loops(1, allowed[0])),
                ("shared", "noisy"), truth)


def frozen(kind, short):
    folder = Path("/sys/fs/cgroup/oscost-fault")
    freezer = Path("/sys/fs/cgroup/freezer/oscost-fault")
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        switch, on, off = folder / "cgroup.freeze", "1", "0"
    elif freezer.parent.exists():
        folder, switch, on, off = freezer, freezer / "freezer.state", "FROZEN", "THAWED"
    else:
        return skip(kind, "frozen for 4 ms every 20", "no control group that freezes is mounted")
    try:
        folder.mkdir()
    except OSError as error:
        return skip(kind, "frozen for 4 ms every 20", str(error))

    def beside(_process, stop):
        while not stop.wait(0.016):
            switch.write_text(on)
            time.sleep(0.004)
            switch.write_text(off)
    truth = run(QUIET)[2]
    enter = ["sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec \"$@\"", "sh"]
    judge.judge(kind, "frozen for 4 ms every 20", QUIET, run(QUIET, before=enter, beside=beside), ("noisy", "shared"), truth)
    time.sleep(0.2)
    folder.rmdir()


def signalled(kind, short):
    truth = run(QUIET)[2]
    judge.judge(kind, "SIGCONT to the workers every ms", QUIET,
                run(QUIET, beside=acting(lambda pid: os.kill(pid, signal.SIGCONT), 0.001)), ("noisy", "shared"), truth)


def faulting(kind, short):
    truth = run(QUIET)[2]

    def act(pid):
        # The kernel write-protects every page: the next write to each is a fault.
        Path(f"/proc/{pid}/clear_refs").write_text("4")
    judge.judge(kind, "pages are write-protected every 5 ms", QUIET, run(QUIET, beside=acting(act, 0.005)),
                ("noisy", "shared"), truth)


def quota_folder(limit):
    """A control group with this quota ("30000 100000", us): its folder, or why there is none."""
    second, first = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
    if (second / "cgroup.controllers").exists():
        folder, name, text = second / "oscost-fault", "cpu.max", limit
    elif (first / "cpu.cfs_quota_us").exists():
        folder, name, text = first / "oscost-fault", "cpu.cfs_quota_us", limit.split()[0]
    else:
        return None, "no control group of CPUs is mounted"
    try:
        folder.mkdir()
        (folder / name).write_text(text)
        return folder, None
    except OSError as error:
        if folder.exists():
            folder.rmdir()
        return None, str(error)


def quota(kind, short):
    truth = run(QUIET)[2]
    for limit in ("30000 100000", "80000 100000"):
        folder, why = quota_folder(limit)
        if folder is None:
            skip(kind, f"a quota of {limit} us", why)
            continue
        enter = ["sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec \"$@\"", "sh"]
        judge.judge(kind, f"a quota of {limit} us", QUIET, run(QUIET, before=enter), ("noisy", "shared"), truth)
        time.sleep(0.2)
        folder.rmdir()


def hidden_proc(kind, short):
    if os.geteuid() != 0:
        return skip(kind, "no /proc", "needs root")
    ids = ["context_switch/pipe/same_cpu", "semaphore/system_v/handover/same_cpu"]
    hide = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
    judge.judge(kind, "/proc is empty", ids, run(ids, before=hide), ("unchecked",))


def empty_files(kind, short):
    """Single files of /proc are empty: whatever was read from them is not known, and no zero."""
    if os.geteuid() != 0:
        return skip(kind, "files of /proc", "needs root")
    ids = ["context_switch/pipe/same_cpu", "syscall/getppid"]
    for path in ("/proc/stat", "/proc/schedstat", "/proc/interrupts", "/proc/cpuinfo", "/proc/loadavg"):
        if not Path(path).exists():
            continue
        hide = ["unshare", "-m", "sh", "-c", f"mount --bind /dev/null {path} && exec \"$@\"", "sh"]
        outcome, truth = judge.beside(ids, lambda: run(ids, before=hide))
        judge.judge(kind, f"{path} is empty", ids, outcome, ("unchecked",), truth)


def poisoned(kind, short):
    name = "context_switch/pipe_alone/same_cpu"
    for other in ("context_switch/thread_pipe/same_cpu", "context_switch/yield/same_cpu"):
        outcome, truth = judge.beside([name], lambda: run([name, other], options=()), options=())
        judge.judge(kind, f"beside {other}", [name], outcome, (), truth)


def killed_partners(kind, short):
    name = "semaphore/posix_named/handover/same_cpu"

    def act(pid):
        for child in (Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            os.kill(int(child), signal.SIGKILL)
    truth = run([name])[2]
    judge.judge(kind, "partners are killed every 50 ms", [name], run([name], beside=acting(act, 0.05)), (), truth)


KINDS = {
    "functions that do nothing": interposers(NOOPS, "withheld"),
    "fakes after so many calls": interposers(AFTER, "withheld"),
    "one more system call": interposers(EXTRA, "withheld"),
    "slower functions": interposers(SLOW, ("interposed",)),
    "system calls that a filter answers": filters("fake", [
        ("getppid", ["syscall/getppid"]), ("read", ["syscall/read1", "syscall/read0_devzero"]),
        ("semtimedop,semop", ["semaphore/system_v"]), ("sched_yield", ["syscall/sched_yield"]),
        ("getpid", ["syscall/getpid"]), ("flock", ["record_lock/flock"]), ("newfstatat", ["syscall/stat"])], "withheld"),
    "calls left out now and then": interposers(EVERY, "withheld"),
    "another call in its place": interposers(OTHER, "withheld"),
    "a partner that does nothing": interposers(PARTNER, "withheld"),
    "calls that begin to fail": interposers(FAILS, "withheld"),
    "the kernel gives wrong CPUs": filters("fake", [
        ("sched_getaffinity", QUIET), ("getcpu", ["semaphore/posix_named/handover/cross_cpu", *QUIET])], ("unchecked", "filtered"), True),
    "calls that are refused": filters("refuse", [
        ("getppid", ["syscall/getppid"]), ("sched_yield", ["syscall/sched_yield"]), ("flock", ["record_lock/flock"]),
        ("semtimedop,semop", ["semaphore/system_v"]), ("futex", handover("semaphore/posix_named"))], "withheld"),
    "a foreign filter": filters("allow", [("getppid,read", ["syscall/getppid", "syscall/read1"])], ("filtered",)),
    "getrusage fails": filters("refuse", [("getrusage", ["syscall/getppid", "context_switch/pipe/same_cpu"])], ("unchecked",)),
    "/proc is hidden": hidden_proc,
    "files of /proc are empty": empty_files,
    "a tracer": prefixed([("strace", "-f", "-o", "/dev/null"), ("strace", "-f", "-e", "trace=getppid", "-o", "/dev/null"),
                          ("strace", "-f", "--seccomp-bpf", "-e", "trace=mkdir", "-o", "/dev/null")],
                         ["syscall/getppid", "semaphore/system_v"], "withheld"),
    "nice": prefixed([("nice", "-n", "5"), ("nice", "-n", "19"), ("nice", "-n", "-5")], QUIET, ("reniced",)),
    "a policy": prefixed([("chrt", "-b", "0"), ("chrt", "-i", "0"), ("chrt", "-f", "5"), ("chrt", "-r", "5")], QUIET, ("reniced",)),
    "a clock at another rate": clocks,
    "a clock that stands": standing_clock,
    "a coarse clock": coarse_clock,
    "a clock that jumps": jumping_clock,
    "a false memory of the core": false_memory,
    "neighbours on the CPU": neighbours,
    "a neighbour on the partner's CPU": partner_neighbours,
    "real-time neighbours": real_time_neighbours,
    "a quota": quota,
    "moved processes": moved,
    "stopped processes": stopped,
    "frozen processes": frozen,
    "signals": signalled,
    "page faults": faulting,
    "killed partners": killed_partners,
    "members that change their process": poisoned,
}
SHORT = {"functions that do nothing", "one more system call", "system calls that a filter answers", "getrusage fails",
         "a clock at another rate", "neighbours on the CPU", "nice"}

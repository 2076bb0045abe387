"""Runs oscost with a fault planted, and judges whether its figures sign the fault."""
import json, os, signal, subprocess, sys, threading, time
from pathlib import Path

OSCOST, WORK = "", Path()  # the program, and the folder of this run: set by `run`
UNSTEADY = object()  # in place of the truth, where it did not hold still
FIGURES, SKIPPED = [], []
BUSY = 5  # exit code: unfit, for example because another oscost measures
REFUSED = (3, BUSY)  # exit codes by which oscost says that it measures nothing, or keeps nothing; others are no answer
NOT_BEGUN = 127  # the loader of programs, or who starts it: oscost has no such code


def run(ids, before=(), env=None, options=("--quick",), beside=None):
    """One run of oscost: its exit code, its words, and its figures by id. `beside(process)` acts while it runs."""
    for _ in range(60):
        outcome = run_once(ids, before, env, options, beside)
        # Somebody else measures on this machine: that is no answer to the fault.
        if outcome[0] != BUSY or "is measuring on this machine" not in outcome[1]:
            return outcome
        time.sleep(2)
    sys.exit("another oscost has been measuring for two minutes: try again later")


def run_once(ids, before, env, options, beside):
    path = WORK / "result.json"
    path.unlink(missing_ok=True)
    whole = {**os.environ, "XDG_STATE_HOME": str(WORK / "state"), **(env or {})}
    command = [*map(str, before), OSCOST, "run", *options, "--quiet", "--json", str(path), *ids]
    process = subprocess.Popen(command, env=whole, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    stop = threading.Event()
    helper = threading.Thread(target=beside, args=(process, stop)) if beside else None
    if helper:
        helper.start()
    try:
        words = process.communicate(timeout=180)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        words = process.communicate()[1] + "\n(did not end within 180 s)"
    finally:
        # However it ends, by a signal as well: nothing that was started stays.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stop.set()
        if helper:
            helper.join()
    figures = {}
    try:
        figures = {it["id"]: it for it in json.loads(path.read_text())["figures"]}
    except (OSError, ValueError) as error:
        words = f"{words} (no result: {error})"
    return process.returncode, words.strip(), figures


def interposed(fault, **more):
    return {"LD_PRELOAD": str(WORK / "interpose.so"), "FAULT": fault, **more}


def beside(ids, fault, **how):
    """The outcome of `fault`, and the truth of a run before it. Where the truth of a run after it differs by over 1 %, the machine
    changed meanwhile, and it is tried again; after six tries there is no truth."""
    for _ in range(6):
        before, outcome, after = run(ids, **how)[2], fault(), run(ids, **how)[2]
        if all(name in before and name in after and abs(value(before[name]) / value(after[name]) - 1) <= 0.01 for name in ids):
            return outcome, before
    return outcome, UNSTEADY


def quantity(figure):
    # Of what repeats best on a machine with neighbours: floors of one CPU, typical of two.
    name = "typical" if figure.get("placement") in ("cross_cpu", "unpinned") else "floor"
    return figure["quantities"].get(name) or figure["quantities"][figure["headline"]]


def value(figure):
    return quantity(figure)["value"]


def apart(figure, truth):
    """By how much the interval that the figure signs lies beside the truth's, as a share; 0 where they meet. In cycles of the core
    where both have them: its speed is no fault."""
    both = [each["quantities"].get("cycles") for each in (figure, truth)]
    it, true = both if all(both) else (quantity(figure), quantity(truth))
    if it["low"] > true["high"]:
        return it["low"] / true["high"] - 1
    return it["high"] / true["low"] - 1 if it["high"] < true["low"] else 0.0


def judge(kind, what, ids, outcome, wants, truth=None):
    """`wants`: "withheld", or the marks and verdicts that name the fault; where `truth` is given, an interval is enough
    that comes within 2 % of the truth's."""
    code, words, figures = outcome
    if truth is UNSTEADY:
        return skip(kind, what, "the machine's speed changed in each of six tries")
    for name in ids:
        figure = figures.get(name)
        if figure is None and code == NOT_BEGUN:
            skip(kind, f"{what}, {name}", "the loader of programs needs these calls itself, so oscost never began")
            continue
        if figure is None:
            how, caught = f"no figure, exit {code}: {words[-90:]}", code in REFUSED
        elif figure["status"] != "measured":
            how, caught = f"{figure['status']}: {(figure.get('why') or '')[:90]}", True
        else:
            found = set(figure["marks"]) | {figure["evidence"]["verdict"]}
            said = sorted(found - {"not_converged", "checked"})
            how, caught = ", ".join(said) or "checked", bool(wants != "withheld" and found & set(wants))
            if not caught and wants != "withheld" and truth and name in truth:
                off, beside = value(figure) / value(truth[name]) - 1, apart(figure, truth[name])
                how = f"{how}, {off * 100:+.1f} % of the truth, intervals {beside * 100:+.1f} % apart"
                caught = abs(beside) <= 0.02
            how += f" ({value(figure):.4g} ns)"
        FIGURES.append((kind, what, name, how, caught))
        print(f"{'caught' if caught else 'SIGNED'}  {kind}: {what}  {name}: {how}", flush=True)


def skip(kind, what, why):
    SKIPPED.append((kind, what, why))
    print(f"SKIP fault {kind}: {what}: {why}", flush=True)


def table():
    print("\n| kind of fault | planted | withheld, marked or within 2 % | signed |\n|---|---|---|---|")
    for kind in dict.fromkeys(it[0] for it in FIGURES):
        rows = [it for it in FIGURES if it[0] == kind]
        caught = sum(it[4] for it in rows)
        print(f"| {kind} | {len(rows)} | {caught} | {len(rows) - caught} |")
    caught = sum(it[4] for it in FIGURES)
    print(f"| all: {len(set(it[0] for it in FIGURES))} kinds | {len(FIGURES)} | {caught} | {len(FIGURES) - caught} |")
    print(f"{len(SKIPPED)} could not be planted here")
    return 0 if FIGURES and caught == len(FIGURES) else 1

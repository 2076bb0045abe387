#!/usr/bin/env python3
"""Checks and prints what contrib/laboratory/mach/boot left: table.py OUT. Writes OUT/sessions for `oscost reproduce grame`."""
import pathlib
import statistics
import sys

out = pathlib.Path(sys.argv[1])
# The first messages do not count, as in the document.
FIRST, VALUES = 100, 1000
failures = []


class Session:
    """Values of one session by client, in counts of the guest's CPU, with the number of the message for each."""

    def __init__(self, fields):
        self.way, self.says = fields["way"], fields["says"]
        self.refused, self.clients = int(fields["refused"]), int(fields["clients"])
        self.per_us = int(fields["counts"]) / int(fields["us"])
        self.values = [{} for _ in range(self.clients)]
        self.sending = []

    def row(self, words):
        """`values CLIENT FIRST VALUE...` and `sending VALUE...`."""
        if words[0] == "sending":
            self.sending = [int(word) for word in words[1:]]
        else:
            client, first = int(words[1]), int(words[2])
            self.values[client].update({first + at: int(word) for at, word in enumerate(words[3:])})

    def lost(self):
        return sum(VALUES - len(values) for values in self.values)

    def whole(self):
        expected = list(range(FIRST, FIRST + VALUES))
        return self.refused == 0 and len(self.sending) == VALUES and all(list(values) == expected for values in self.values)

    def by_order(self):
        """Of each tick: the clients by the time at which they had the message."""
        return [sorted((values[tick], client) for client, values in enumerate(self.values)) for tick in self.values[0]]

    def same_order(self):
        orders = [[client for _, client in tick] for tick in self.by_order()]
        return sum(one == other for one, other in zip(orders, orders[1:])) / (len(orders) - 1)

    def figures(self):
        """First client, mean step to the next, mean of all, last client, and sending to each: medians of ticks but for the mean of all."""
        ticks = self.by_order()
        first = statistics.median(tick[0][0] for tick in ticks)
        last = statistics.median(tick[-1][0] for tick in ticks)
        steps = [(tick[-1][0] - tick[0][0]) / (self.clients - 1) for tick in ticks] if self.clients > 1 else []
        mean = statistics.fmean(value for values in self.values for value in values.values())
        return first, statistics.median(steps) if steps else None, mean, last, statistics.median(self.sending) / self.clients


class Run:
    """One boot: the system's name, what its counter counts, its sessions."""

    def __init__(self, name):
        self.text = (out / name).read_text(errors="replace").replace("\r", "")
        self.system, self.calibration, self.sessions = name, {}, []
        parts = self.text.split("@@ ")[1:]
        if "FAILED" in self.text or not parts or not parts[-1].startswith("ended"):
            failures.append(f"{name} did not come to its end: {self.text[-300:].strip()}")
        for part in parts:
            kind, *lines = [line for line in part.splitlines() if line]
            if kind == "system" and lines:
                self.system = lines[0]
            elif kind == "calibration":
                self.calibration = {name: int(value) for name, value in (line.split() for line in lines)}
            elif kind == "session":
                rows = [line for line in lines if line.startswith(("values ", "sending"))]
                session = Session(dict(line.split(" ", 1) for line in lines if line not in rows))
                for line in rows:
                    session.row(line.split())
                self.sessions.append(session)
        for session in self.sessions:
            if not session.whole():
                failures.append(f"{name}: {session.way}, {session.clients} clients: a message is missing, late in order, or was refused")


def told(number):
    return "-" if number is None else f"{number:.0f}"


NAMES = ("mach", "mach-again", "linux", "linux-again", "linux-plain", "linux-32", "mach-timed", "linux-timed")
runs = {name: Run(name) for name in NAMES}
mach, linux = runs["mach"], runs["linux"]
if failures or any(not run.calibration or not run.sessions for run in runs.values()):
    sys.exit("\n".join(f"FAILED: {failure}" for failure in failures))



def numbers(run):
    """All values in turn, and the figures."""
    values = [
        value for session in run.sessions for row in [*session.values, dict(enumerate(session.sending))] for value in row.values()
    ]
    return values, [figure for session in run.sessions for figure in session.figures() if figure is not None]


# GNU Mach's runs agree in every digit. Some ticks of Linux do not, and why is not known: there the figures have to.
repeated = []
for name, most in (("mach", 0), ("linux", 0.001)):
    (one, figures), (other, again) = numbers(runs[name]), numbers(runs[f"{name}-again"])
    differ = sum(a != b for a, b in zip(one, other)) + abs(len(one) - len(other))
    repeated.append(f"{name}: {differ} of {len(one)} values differ in a second run")
    if len(figures) != len(again) or any(abs(a - b) > most * a for a, b in zip(figures, again)) or (not most and differ):
        failures.append(f"{name}: two runs have not the same numbers")
for name, run in runs.items():
    # Where the counter counts time, a loop says nothing.
    loop = run.calibration.get("loop", 0) - run.calibration.get("stamp", 0)
    if not name.endswith("-timed") and not abs(loop - run.calibration.get("instructions", 1)) <= 2:
        failures.append(f"{name}: a loop of {run.calibration.get('instructions')} instructions took {loop} counts")

print("\nDocument 002's session on one emulated CPU: 1000 messages to each client, one each 10 ms, in instructions")
print(f"GNU Mach: {mach.system} (i386). Not Darwin. {mach.sessions[0].says if mach.sessions else ''}")
print("Each client is a task or process of its own. Fixed priorities: the server's is above that of the clients.")
for name in ("mach", "linux", "linux-32"):
    of = runs[name].calibration
    print(
        f"{runs[name].system}: an empty loop of {of['instructions']} instructions takes {of['loop'] - of['stamp']} counts, "
        f"an empty call {of['call'] - of['stamp']}, the session itself {of['own']} a message"
    )
print("What the session itself takes is subtracted from first, mean and last.\n")
shown = [("GNU Mach", mach), ("Linux", linux), ("Linux, hardening off", runs["linux-plain"]), ("Linux, 32 bits", runs["linux-32"])]
print("system                way              clients   first    next      mean    last  sending to each  same order  lost")
for label, run in shown:
    for session in run.sessions:
        own = run.calibration["own"]
        first, after, mean, last, sending = session.figures()
        print(
            f"{label:21} {session.way:16} {session.clients:7} {first - own:7.0f} {told(after):>7} {mean - own:9.1f} {last - own:7.0f} "
            f"{sending:16.0f} {100 * session.same_order():9.1f} % {session.lost():5}"
        )


def of(run, way, clients):
    return next((session.figures() for session in run.sessions if (session.way, session.clients) == (way, clients)), None)


print("\nInstructions of a message: what one client more costs the last one. Then all as multiples of GNU Mach's")
print("The document, Mac350: a socket of Linux PPC took 16 / 41 = 0.39 of a Mach message's time, and 10 / 23 = 0.43 to the next client")
print("system                way              a message  times    one client  next of 10  last of 10")
base = None
for label, run in shown:
    for way in dict.fromkeys(session.way for session in run.sessions):
        one, ten = of(run, way, 1), of(run, way, 10)
        if one and ten:
            row = ((ten[3] - one[3]) / 9, one[0] - run.calibration["own"], ten[1], ten[3] - run.calibration["own"])
            base = base or row
            times = [f"{value / of_mach:.2f}" for value, of_mach in zip(row, base)]
            print(f"{label:21} {way:16} {row[0]:9.0f}  {times[0]:>5} {times[1]:>13} {times[2]:>11} {times[3]:>11}")

print("\nThe same by the counter as it runs with the host: us, of an emulator. These are no measurements.")
print("system    way              clients    first     next     mean     last  counts a us")
for name in ("mach-timed", "linux-timed"):
    for session in runs[name].sessions:
        us = [value and value / session.per_us for value in session.figures()]
        print(
            f"{name.split('-')[0]:9} {session.way:16} {session.clients:7} {us[0]:8.1f} {(us[1] or 0):8.1f} {us[2]:8.1f} {us[3]:8.1f} {session.per_us:12.1f}"
        )

# For `oscost reproduce grame --with elsewhere=FILE`, without what the session itself takes.
with (out / "sessions").open("w") as file:
    for name in ("mach", "linux"):
        run = runs[name]
        system = f"{run.system}, not Darwin" if name == "mach" else run.system
        for session in run.sessions:
            file.write(
                f"oscost elsewhere 1\nsystem laboratory, {system}\nway {session.way}\npriority fixed\n"
                f"refused {session.refused}\nclients {session.clients}\nunit instructions\n"
            )
            for client, values in enumerate(session.values):
                file.writelines(f"{client} {sequence} {value - run.calibration['own']}\n" for sequence, value in values.items())

print("\n".join(["", *repeated]))
for failure in failures:
    print(f"FAILED: {failure}")
if not failures:
    print("All messages came, in order. Every number that is shown is the same in the second run, to 0.1 % for Linux.")
print(f"the reproduction shows it: oscost reproduce grame --with elsewhere={out / 'sessions'}")
sys.exit(bool(failures))

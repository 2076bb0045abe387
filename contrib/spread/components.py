"""How long should a launch be? Prints what launches of one run differ by, what windows inside one differ by, and what a launch costs.

Usage: contrib/spread/components.py SAMPLES RESULT     (files of one run: oscost run --raw SAMPLES --json RESULT)
By Kalibera and Jones (2013) a launch has its best length where it has so many windows: the root of (cost of a launch / cost of a
window) x (variance of windows / variance of launches). A window is 25 rounds, as in METHOD.md; only quiet ones count, those whose
throughput loop is within 1 % of the best. What the windows of a launch scatter by is taken off the variance of launches. The last columns say what shorter launches would find
at the bottom: by how much the floor of each figure, the lower quartile over launches, lies higher in the first part of its time.
"""
import csv
import json
import sys
from collections import defaultdict
from math import ceil, log, sqrt
from statistics import mean, median, variance

ROUNDS = 25
FEWEST = 4

samples = defaultdict(lambda: defaultdict(list))
with open(sys.argv[1], encoding="utf-8") as file:
    lines = csv.reader(file)
    next(lines)
    for name, launch, _, value in lines:
        samples[name][int(launch)].append(float(value))
result = json.load(open(sys.argv[2], encoding="utf-8"))

steps = {launch: [one / step for one, step in zip(loop, samples["canary/chain"][launch])]
         for launch, loop in samples["canary/throughput"].items()}


def windows(values):
    return [median(values[at:at + ROUNDS]) for at in range(0, len(values) - ROUNDS + 1, ROUNDS)]


def floor(launches, part):
    """The lower quartile over launches of the least value in the first part of each."""
    least = sorted(min(values[:max(1, len(values) // part)]) for values in launches)
    return least[max(1, ceil(len(least) / 4)) - 1]


# The level that two in a hundred windows are below: a single best one may be the clock's.
best = sorted(window for loop in steps.values() for window in windows(loop))
best = best[len(best) // 50]
starts, members, group_of = {}, defaultdict(int), {}
for figure in result["figures"]:
    for launch in figure["launches"]:
        starts[launch["sequence"]] = launch["start_ns"]
        members[launch["sequence"]] += 1
        group_of[launch["sequence"]] = figure["group"]
groups = defaultdict(lambda: {"launch": [], "window": [], "cost": [], "length": [], "floors": {4: [], 2: []}})
member_ms = result["plan"]["launch_ns"] / 1e6
for sequence, start in starts.items():
    if sequence + 1 in starts:
        took = (starts[sequence + 1] - start) / 1e6
        groups[group_of[sequence]]["cost"].append((took - member_ms * members[sequence]) / members[sequence])
for figure in result["figures"]:
    centres, inside, lengths = [], [], []
    for launch, values in samples[figure["id"]].items():
        quiet = [log(cost) for cost, loop in zip(windows(values), windows(steps.get(launch, []))) if loop <= 1.01 * best]
        if len(quiet) >= FEWEST:
            centres.append(mean(quiet))
            inside.append((variance(quiet), len(quiet)))
            lengths.append(member_ms / (len(values) / ROUNDS))
    for part, moved in groups[figure["group"]]["floors"].items():
        launches = list(samples[figure["id"]].values())
        if launches:
            moved.append((floor(launches, part) / floor(launches, 1) - 1, figure["id"]))
    if len(centres) >= FEWEST:
        group = groups[figure["group"]]
        within = mean(each for each, _ in inside)
        group["launch"].append(max(0.0, variance(centres) - mean(each / count for each, count in inside)))
        group["window"].append(within)
        group["length"].append(mean(lengths))

print("| group | figures | launches differ by | windows differ by | a launch costs a member, beside its time | a window takes | best length "
      "| floors in a quarter of the time: middle, most | in half |")
print("|---|---|---|---|---|---|---|---|---|")


def told(moved):
    return f"{median(share for share, _ in moved):+.2%}, {max(moved)[0]:+.1%}"


for name, of in sorted(groups.items()):
    if not of["launch"] or not of["cost"]:
        continue
    launch, window, cost, length = mean(of["launch"]), mean(of["window"]), median(of["cost"]), mean(of["length"])
    ideal = f"{sqrt(cost / length * window / launch) * length:.0f} ms" if launch > 0 else "-"
    floors = " | ".join(told(of["floors"][part]) for part in (4, 2))
    print(f"| {name} | {len(of['launch'])} | {sqrt(launch):.2%} | {sqrt(window):.2%} | {cost:.0f} ms | {length:.2f} ms | {ideal} | {floors} |")

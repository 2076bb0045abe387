"""How far do figures of several runs lie apart? Prints largest / smallest - 1 over ids, by kind of sitting and class of id.

Usage: contrib/spread/table.py FOLDER...     (folders that contrib/spread/run made)
Runs count in groups of five consecutive ones, and figures in the quantity that compare judges. If the runs of a group do not agree
on that quantity, the floor is used, or typical if a CPU is woken. A group is "marked" if one of its runs has the mark busy sibling
or shared.
"""
import json
import sys
from collections import defaultdict
from pathlib import Path

FIVE = 5


def classed(figure):
    return "across CPUs" if figure["placement"] in ("cross_cpu", "spread", "unpinned") else "one CPU"


def quantity(figures):
    judged = {figure.get("judged", figure["headline"]) for figure in figures}
    if len(judged) == 1:
        return judged.pop()
    return "typical" if classed(figures[0]) == "across CPUs" else "floor"


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * (len(values) - 1) + 0.5))]


rows = defaultdict(list)
runs = defaultdict(int)
for folder in sys.argv[1:]:
    for kind in ("alone", "beside"):
        files = sorted(Path(folder).glob(f"{kind}*.json"), key=lambda path: int(path.stem[len(kind):]))
        results = [{it["id"]: it for it in json.loads(path.read_text())["figures"]} for path in files]
        runs[kind] += len(results)
        for first in range(len(results) - FIVE + 1):
            five = results[first:first + FIVE]
            for name in five[0]:
                figures = [result.get(name) for result in five]
                if any(figure is None or figure["status"] != "measured" for figure in figures):
                    continue
                what = quantity(figures)
                if any(what not in figure["quantities"] for figure in figures):
                    what = figures[0]["headline"]
                values = [figure["quantities"][what]["value"] for figure in figures]
                if min(values) <= 0:
                    continue
                marked = any({"busy_sibling", "shared"} & set(figure["marks"]) for figure in figures)
                rows[kind, classed(figures[0]), what].append((max(values) / min(values) - 1, marked, name))

print("| runs | ids | judged in | groups of five runs | median | 90th percentile | largest | marked | unmarked over 1 % |")
print("|---|---|---|---|---|---|---|---|---|")
for (kind, of, what), found in sorted(rows.items()):
    spreads = [spread for spread, _, _ in found]
    worst = max(found)
    over = sum(spread > 0.01 and not marked for spread, marked, _ in found)
    print(f"| {kind} ({runs[kind]}) | {of} | {what} | {len(found)} | {quantile(spreads, 0.5):.2%} | {quantile(spreads, 0.9):.2%} | "
          f"{worst[0]:.1%} ({worst[2]}) | {sum(marked for _, marked, _ in found)} | {over} |")

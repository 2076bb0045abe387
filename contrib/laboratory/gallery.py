"""The tables of docs/measured/kernels.md, from results of `oscost count`."""
import json, os, sys

MOST = 3
FUNCTIONS = 2


def load(folder, name):
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def value(figure):
    if not figure or figure["status"] != "measured" or not figure.get("count"):
        return None
    return figure["quantities"]["instructions"]["value"]


def figures(result):
    return {figure["id"]: figure for figure in result["figures"]}


def shown(figure):
    number = value(figure)
    if number is None:
        return "-"
    text = f"{number:g}" if number < 1e5 else f"{number:.0f}"
    return text + {"constant": "", "reproducible": " *"}.get(figure["count"]["repeats"], " **")


def moved(folder, names):
    first, last = figures(load(folder, names[0])), figures(load(folder, names[-1]))
    pairs = [(value(figure), value(last.get(id)), id) for id, figure in first.items()]
    pairs = [(abs(new - old) / old, id) for old, new, id in pairs if old and new and old != new and "handover" not in id]
    return [id for _, id in sorted(pairs, reverse=True)[:MOST]]


def own(figure):
    sums = {}
    for node in figure["count"].get("functions", []):
        if node["depth"]:
            sums[node["name"]] = sums.get(node["name"], 0) + node["own"]
    return sums


def row(cells):
    print("| " + " | ".join(cells) + " |")


def families(folder, listed=True):
    """One line an id: its count, and how it repeats. The results say why one is not constant or not there."""
    parts = os.path.join(folder, "families")
    loaded = [load(parts, name.removesuffix(".json")) for name in sorted(os.listdir(parts)) if name.endswith(".json")]
    if not loaded:
        return
    found = [figure for result in loaded for figure in result["figures"] if figure["status"] != "unsupported"]
    counted = [figure for figure in found if value(figure) is not None]
    exact = [figure for figure in counted if figure["count"]["repeats"] != "varies"]
    kernel = loaded[0]["conditions"]["kernel"].removeprefix("Linux ")
    how = "" if listed else " `contrib/laboratory/gallery -f` lists them."
    print(f"\nOf {len(counted)} ids of other families on {kernel}, {len(exact)} have the same counts in both boots.{how}")
    if not listed:
        return
    print("What needs several CPUs, sleeps or times itself is not counted, and is left out.\n")
    row(["id", "instructions"])
    print("|---|---:|")
    for figure in found:
        row([f"`{figure['id']}`", shown(figure)])


def page(folder, names):
    results = {name: load(folder, name) for name in names}
    print("# Measured: kernels, in instructions\n")
    print("How many instructions does an operation take on Debian's kernels? `oscost count` counted them in emulated machines of one processor.")
    print("Instructions are not time: [how they are counted](../method/counts.md). `contrib/laboratory/gallery` makes this page.\n")
    emulations = dict.fromkeys(
        f"{it['emulator']}, `-M {it['machine']} -cpu {it['cpu_model']}`"
        for it in (results[name]["conditions"]["emulation"] for name in names)
    )
    print(f"Emulators: {'; '.join(emulations)}.")
    print("The program's own part of an operation depends on its build. The kernel's part does not.\n")
    print("- One star: operations of one boot differ, and all boots have the same counts equally often. The usual count is shown.")
    print("- Two stars: boots differ, because the kernel chooses at random or because of what the scheduler did before.")
    print("- `-`: no count.\n")
    row(["id"] + [f"{name}: {results[name]['conditions']['kernel'].removeprefix('Linux ')}" for name in names])
    print("|---|" + "---:|" * len(names))
    ids = list(dict.fromkeys(id for name in names for id, figure in figures(results[name]).items() if value(figure) is not None))
    for id in ids:
        row([f"`{id}`"] + [shown(figures(results[name]).get(id)) for name in names])
    trees = [(name, load(folder, name + ".functions")) for name in names]
    trees = [(name, figures(result)) for name, result in trees if result]
    if not trees:
        return
    print("\n## What changed, and in which function\n")
    print("The table has the ids that moved most, as a share, from the first plain release to the last.")
    print("Each step names the functions whose own instructions changed most.\n")
    row(["id", "step", "instructions", "functions"])
    print("|---|---|---:|---|")
    for id in trees[0][1]:
        for (before, a), (now, b) in zip(trees, trees[1:]):
            old, new = a.get(id), b.get(id)
            if value(old) is None or value(new) is None:
                continue
            x, y = own(old), own(new)
            steps = sorted(((y.get(f, 0) - x.get(f, 0), f) for f in x.keys() | y.keys()), key=lambda it: (-abs(it[0]), it[1]))
            words = ", ".join(f"`{f}` {d:+d}" for d, f in steps[:FUNCTIONS] if d)
            row([f"`{id}`", f"{before} to {now}", f"{value(new) - value(old):+g}", words])


if sys.argv[1] == "families":
    families(sys.argv[2])
elif sys.argv[1] == "moved":
    print("\n".join(moved(sys.argv[2], sys.argv[3:])))
else:
    page(sys.argv[2], sys.argv[3:])
    families(sys.argv[2], listed=False)

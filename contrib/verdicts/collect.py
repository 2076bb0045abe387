"""Prints one result of oscost as lines for `crates/report/tests/it/stored/launches.txt`: only the input of a verdict.

Usage: collect.py SITTING FILE
The first line is "R sitting started step". Each measured figure is "F id placement judged marks batch quantity=values ...", and
each pair is "P of to quantity unit values". A reference is "W id placement enters quantity=values ...".
There is one value a launch, separated by commas, and empty if the launch has none.
The quantity "chain" is the launch's cycle in ns, and "hop" how far apart its CPUs were; "same" is what the last figure that has it has.
Of "asleep" there is one value: tests only ask whether it is there. "batch" is the number of operations of a batch.
"""
import json
import sys


def told(values):
    return ",".join("" if value is None else f"{value:.5g}" for value in values)


sitting, name = sys.argv[1:]
result = json.load(open(name))
before = {}
print("R", sitting, result["started"], result["conditions"]["clock_step_ns"])
for figure in result["figures"]:
    if figure["status"] != "measured":
        continue
    launches = figure["launches"]
    judged = figure.get("judged", figure["headline"])
    wanted = {judged, "floor"} | ({"quiet", "cycles"} if figure["placement"] in ("one_cpu", "same_cpu") else {"typical", "asleep"})
    columns = {name: [launch["quantities"].get(name) for launch in launches] for name in sorted(wanted)}
    columns["chain"] = [launch.get("chain_ns") for launch in launches]
    columns["hop"] = [launch.get("hop_ns") for launch in launches]
    columns["asleep"] = [value for value in columns.get("asleep", []) if value is not None][:1]
    written = {name: told(values) for name, values in columns.items() if any(value is not None for value in values)}
    for name in {"chain", "hop"} & written.keys():
        text = written[name]
        written[name] = "same" if before.get(name) == text else text
        before[name] = text
    marks = [mark for mark in figure["marks"] if mark in ("busy_sibling", "shared")]
    print("F", figure["id"], figure["placement"], judged, ",".join(marks) or "-",
          launches[0]["iterations"] * figure["operations_per_iteration"], *(f"{name}={text}" for name, text in written.items()))
for reference in result.get("references", []):
    print("W", reference["id"], reference["placement"], int(reference["enters_kernel"]),
          *(f"{name}={told(values)}" for name, values in reference["launches"].items()))
for pair in result["ratios"] + result["differences"]:
    if pair.get("launches"):
        print("P", pair["of"], pair["to"], pair["quantity"], pair["unit"], told(pair["launches"]))

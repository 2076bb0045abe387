"""Counts the verdicts of comparisons, one JSON object a line on standard input; the argument names the id that was slowed."""
import json
import sys

planted = sys.argv[1] if len(sys.argv) > 1 else ""
verdicts = {}
for line in sys.stdin:
    for row in json.loads(line)["figures"]:
        verdicts.setdefault(row["id"], []).append(row["verdict"])
for name, found in sorted(verdicts.items()):
    words = ("slower", "faster", "same", "cannot tell")
    print(f"  {name:28} " + ", ".join(f"{found.count(word)} {word}" for word in words if word in found))
rest = [verdict for name, found in verdicts.items() if name != planted for verdict in found]
print(f"  called changed without reason: {sum(verdict in ('slower', 'faster') for verdict in rest)} of {len(rest)}")
if planted:
    print(f"  {planted} found slower: {verdicts[planted].count('slower')} of {len(verdicts[planted])}")

#!/usr/bin/env python3
"""Prints what the laboratory found as tables: tables.py module|mandatory DIRECTORY."""
import json
import pathlib
import sys

what, directory = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def quantities(figure):
    return figure.get("quantities") or {}


def module():
    """Share of ticks served in reversed order, by the end of the wait queue at which who waits is put."""
    global failures
    check = [line for line in (directory / "check").read_text().splitlines() if line]
    bad = [line for line in check if line.startswith("FAILED")]
    failures += len(bad)
    print(f"\npromises of the device kept: {sum(line.startswith('ok') for line in check)} of {len(check)}")
    for line in bad:
        print(f"  {line}")
    kernel = (directory / "ended").read_text().strip()
    print(f"\nLinux {kernel}, emulated: counts and order are evidence here, times are not")
    print("put at the  clients  ticks served  reversed  same order  switches a tick and client  lost")
    for end in ("head", "tail"):
        result = json.loads((directory / f"{end}.json").read_text())
        for figure in result["figures"]:
            parts = figure["id"].split("/")
            if parts[1] != "kernel_module":
                continue
            found = quantities(figure)

            def value(name):
                return (found.get(name) or {}).get("value")

            if figure["status"] != "measured":
                print(f"{end:10}  {figure['id']}: {figure['status']}")
                failures += 1
                continue
            clients = int(parts[3].removeprefix("clients_"))
            share = lambda name: "-" if value(name) is None else f"{100 * value(name):.1f} %"
            lost = value("dropped") + value("missed") + value("overruns")
            print(
                f"{end:10}  {clients:7}  {value('received') / clients:12.0f}  {share('reversed_share'):>8}  "
                f"{share('same_order_share'):>10}  {value('switches_per_client'):26.2f}  {lost:4.0f}"
            )


if what == "module":
    module()
sys.exit(failures != 0)

#!/usr/bin/env python3
"""clang-tidy 14 over the product with the checks of .clang-tidy; prints each finding once.

    python3 tests/tidy/run.py        reads build/release/compile_commands.json of a finished build; joined sources (SCHAAS_UNITY) take a
                                     third of the time: ten minutes of processor time

Exit status 1 when there is a finding, 2 when a source cannot be read.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FINDING = re.compile(r"^(?P<file>[^ :]+):(?P<line>\d+):\d+: (?P<kind>warning|error): (?P<text>.*)$")


def sources(folder, part):
    """Sources of the product in the build `folder`: neither tests nor what Protocol Buffers generate."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    files = {command["file"] for command in commands}
    return sorted(f for f in files if "/tests/" not in f and "/generated" not in f and part in f)


def findings(folder, source):
    done = subprocess.run(["clang-tidy-14", "-p", folder, "--quiet", source], capture_output=True, text=True)
    found = set()
    for line in done.stdout.splitlines():
        match = FINDING.match(line)
        if match and "/usr/" not in match["file"]:
            file = os.path.relpath(match["file"], ROOT) if match["file"].startswith("/") else match["file"]
            found.add((file, int(match["line"]), match["kind"], match["text"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="a finished build (default: build/release)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (default: one per core)")
    parser.add_argument("part", nargs="?", default="", help="sources whose path holds this alone, as compiler/lower")
    options = parser.parse_args()
    folder, found = options.build.resolve(), set()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for some in pool.map(lambda source: findings(folder, source), sources(folder, options.part)):
            for file, line, kind, text in sorted(some - found):
                print(f"{file}:{line}: {kind}: {text}", flush=True)
            found |= some
    checks = collections.Counter(re.sub(r".*\[(.*)\]$", r"\1", text) for *_, text in found)
    for check, number in checks.most_common():
        print(f"{number:5} {check}")
    if any(kind == "error" for *_, kind, _ in found):
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The dependency graph of Debian's own packages as a sparse matrix, from the lists apt has on this machine.

Rows and columns are the packages, in alphabetical order; entry (p, q) is 1 when p depends on q (Depends and
Pre-Depends; of alternatives `a | b` each; names that only virtual packages carry are left out). Some 60,000 rows,
three to four entries each, a power law in the columns (libc6 is needed by nearly everything).

    deploy/debian-graph.py OUTPUT.mtx.gz [--names NAMES.txt]

The output is a Matrix Market file (coordinate pattern general), the same bytes for the same lists.
"""

import argparse
import glob
import gzip
import os
import re
import subprocess
import sys

FEWEST_PACKAGES = 1000  # fewer means the lists are not there (only installed packages are known)


def list_text():
    """The stanzas of every package apt knows, as lines; None when apt is not there."""
    for command in (["apt-cache", "dumpavail"], helper_command()):
        if not command:
            continue
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        text = done.stdout.decode("utf-8", "replace")
        if text.count("\nPackage: ") >= FEWEST_PACKAGES:
            return text
    return None


def helper_command():
    """Reads the lists themselves, however they are compressed."""
    lists = sorted(glob.glob("/var/lib/apt/lists/*_Packages*"))
    return ["/usr/lib/apt/apt-helper", "cat-file", *lists] if lists else None


def dependencies(text):
    """Package name -> set of the names it depends on. Several versions of a package are merged."""
    needs = {}
    package = None
    for line in text.splitlines():
        if line.startswith("Package: "):
            package = line[len("Package: "):].strip()
            needs.setdefault(package, set())
        elif package and line.startswith(("Depends: ", "Pre-Depends: ")):
            for clause in re.split(r"[,|]", line.split(": ", 1)[1]):
                name = re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", clause)
                if name:
                    needs[package].add(name.group(1))
    return needs


def write(path, needs, names):
    row = {name: number for number, name in enumerate(names, 1)}
    entries = [(row[p], row[q]) for p in names for q in needs[p] if q in row]
    entries.sort()
    lines = ["%%MatrixMarket matrix coordinate pattern general", "% Dependencies of the Debian packages known to apt",
             f"{len(names)} {len(names)} {len(entries)}"]
    lines += [f"{p} {q}" for p, q in entries]
    part = f"{path}.part"
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(part, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as out:
        out.write(("\n".join(lines) + "\n").encode())
    os.replace(part, path)
    return len(entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("output", help="file to write, .mtx.gz")
    parser.add_argument("--names", help="also write the package names, one per line, in row order")
    arguments = parser.parse_args()
    text = list_text()
    if text is None:
        sys.exit("debian-graph: apt knows too few packages here; fetch its lists first:  apt-get update")
    needs = dependencies(text)
    names = sorted(needs)
    count = write(arguments.output, needs, names)
    if arguments.names:
        with open(arguments.names, "w", encoding="utf-8") as out:
            out.write("\n".join(names) + "\n")
    print(f"debian-graph: {arguments.output}: {len(names)} packages, {count} dependencies")


if __name__ == "__main__":
    main()

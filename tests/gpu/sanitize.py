#!/usr/bin/env python3
"""Every kernel for GPUs that the search proposes, of every family, under compute-sanitizer: accesses outside of arrays (memcheck) and
hazards between threads (racecheck). Each run also compares its result with the oracle. Needs a device, the CUDA toolkit and a build.

    sanitize.py BIN [--most N] [--only FAMILY] [--sanitizer PROGRAM] [--wait SECONDS]

--most: so many schedules of each family, spread over those proposed. Exit status 77: no compute-sanitizer or no device here.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("memcheck", "racecheck")
MATRIX, ORDER_3, ORDER_4 = (40, 30), (12, 9, 10), (7, 6, 5, 8)
# name, expression, formats, extents of the sparse operand A, extents that no file has
FAMILIES = [
    ("spmv", "y(i) = A(i,j) * x(j)", {"A": "csr"}, MATRIX, {}),
    ("spmv coo", "y(i) = A(i,j) * x(j)", {"A": "coo"}, MATRIX, {}),
    ("spmm", "C(i,k) = A(i,j) * B(j,k)", {"A": "csr"}, MATRIX, {"k": 5}),
    ("spmm coo", "C(i,k) = A(i,j) * B(j,k)", {"A": "coo"}, MATRIX, {"k": 33}),
    ("sddmm", "Y(i,j) = A(i,j) * C(i,k) * D(j,k)", {"A": "csr", "Y": "csr"}, MATRIX, {"k": 3}),
    ("mttkrp", "Y(i,j) = A(i,k,l) * C(k,j) * D(l,j)", {"A": "csf"}, ORDER_3, {"j": 4}),
    ("mttkrp 4", "Y(i,j) = A(i,k,l,m) * C(k,j) * D(l,j) * E(m,j)", {"A": "csf"}, ORDER_4, {"j": 5}),
    ("ttm", "Y(i,j,l) = A(i,j,k) * X(k,l)", {"A": "csf"}, ORDER_3, {"l": 3}),
    ("ttmc", "Y(i,l,m) = A(i,j,k) * B(j,l) * C(k,m)", {"A": "csf"}, ORDER_3, {"l": 3, "m": 4}),
    ("sddmm spmm", "Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)", {"A": "csr"}, MATRIX, {"k": 3, "l": 5}),
    ("spmm gemm", "Y(i,l) = A(i,j) * B(j,k) * D(k,l)", {"A": "csr"}, MATRIX, {"k": 4, "l": 5}),
    ("mttkrp gemm", "Y(i,m) = A(i,k,l) * C(k,j) * D(l,j) * E(j,m)", {"A": "csf"}, ORDER_3, {"j": 4, "m": 3}),
]


def write_tensor(path, extents):
    """A full first row, then rows of a few entries and empty ones; the last place of all, so that the file tells the extents."""
    generator = random.Random(7)
    places = {tuple(extent for extent in extents)}
    for row in range(1, extents[0] + 1):
        count = extents[1] if row == 1 else generator.choice((0, 0, 1, 2, 5))
        for number in range(count):
            inner = [number + 1 if row == 1 else generator.randint(1, extents[1])]
            places.add((row, *inner, *(generator.randint(1, extent) for extent in extents[2:])))
    path.write_text("".join(" ".join(map(str, place)) + f" {generator.randint(1, 9)}\n" for place in sorted(places)))


def spread_over(names, most):
    return names if most >= len(names) else [names[number * len(names) // most] for number in range(most)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--only")
    parser.add_argument("--wait", default="300")
    parser.add_argument("--sanitizer", default=shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer")
    options = parser.parse_args()
    schaas = options.bin / "schaas"
    if not pathlib.Path(options.sanitizer).exists():
        print(f"SKIP: no {options.sanitizer}")
        return 77
    runs, bad = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, expression, formats, extents, others in FAMILIES:
            if options.only not in (None, name):
                continue
            file = pathlib.Path(folder) / (name.replace(" ", "_") + ".tns")
            write_tensor(file, extents)
            stored = [word for tensor, text in formats.items() for word in ("-f", f"{tensor}={text}")]
            listed = subprocess.run([schaas, "schedule", expression, *stored, "--gpu", "--json"], capture_output=True, text=True)
            if listed.returncode != 0:
                return print(listed.stdout + listed.stderr) or 1
            ids = [one["id"] for one in json.loads(listed.stdout)["gpu"]]
            before = runs
            for schedule in spread_over(ids, options.most):
                command = [schaas, "run", expression, *stored, "-t", f"A={file}", "--target", "cuda", "--schedule", schedule, "--verify",
                           "--wait", options.wait]
                for index, extent in others.items():
                    command += ["-d", f"{index}={extent}"]
                for tool in TOOLS:
                    done = subprocess.run([options.sanitizer, "--tool", tool, "--error-exitcode", "9", *command], capture_output=True,
                                          text=True)
                    if "[no-gpu]" in done.stdout + done.stderr:
                        print("SKIP: no device")
                        return 77
                    runs += 1
                    if done.returncode != 0:
                        bad.append((name, schedule, tool))
                        print(f"{name} {schedule} {tool}: exit {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
            print(f"{name}: {len(ids)} schedules, {runs - before} runs", flush=True)
    print(f"{runs} runs, {len(bad)} bad")
    return 1 if bad or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

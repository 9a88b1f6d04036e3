#!/usr/bin/env python3
"""Compiles and measures what make_travel.py wrote. Needs nvcc, cuSPARSE and a GPU; stays within --seconds.

    run.py [--seconds 540] [--columns 64,128] [--problems spmm,sddmm] [--json FILE] [--nvcc PATH] [--compile-only | --program RUNNER]
    run.py --emulated          on any machine with a C++ compiler: whether all of it is right
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = [1, 4, 16, 64, 128]
PROBLEMS = ["spmm", "sddmm", "fused", "spmm bf16"]


def compile_all(nvcc, architecture, build):
    build.mkdir(exist_ok=True)

    def one(source):
        object_file = build / (source.stem + ".o")
        subprocess.run([nvcc, "-std=c++17", "-O3", "-w", f"-arch={architecture}", "-I", HERE, "-c", source, "-o", object_file], check=True)
        return object_file

    sources = sorted(HERE.glob("*.cu"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(one, sources))
    program = build / "runner"
    subprocess.run([nvcc, f"-arch={architecture}", *objects, "-lcusparse", "-lpthread", "-o", program], check=True)
    return program


def compile_emulated(build):
    build.mkdir(exist_ok=True)
    flags = ["c++", "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-DSCHAAS_EMULATED", "-include", HERE / "cuda_emulation.h", "-I", HERE]

    def one(source):
        object_file = build / (source.stem + ".o")
        subprocess.run([*flags, "-x", "c++", "-c", source, "-o", object_file], check=True)
        return object_file

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(one, sorted(HERE.glob("*.cu"))))
    program = build / "runner"
    subprocess.run(["c++", *objects, "-lpthread", "-o", program], check=True)
    return program


def check_emulated(program):
    """Every kernel on small matrices. The number of those that are wrong."""
    rows = []
    for problem in json.loads((HERE / "problems.json").read_text()):
        for matrix in ("tiny.bin", "ragged.check"):
            for n in (1, 3, 4, 31, 32, 33, 64, 100, 128):  # multiples of 4: aligned rows; 32 and more: whole warps
                done = subprocess.run([program, HERE / matrix, matrix, str(n), "0", problem], capture_output=True, text=True, check=True)
                rows += [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [row for row in rows if not row["error"] < 1e-4]
    for row in wrong[:10]:
        print("  wrong:", row["problem"], row["kernel"], row["n"], row["error"])
    print(f"{len(rows)} runs of {len({(row['problem'], row['kernel']) for row in rows})} kernels, {len(wrong)} wrong")
    return len(wrong) if rows else 1


def measured(command, seconds):
    """The rows that the runner printed until it ended, or until the time was up: then its last row names what it did before it hung."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        text, failure = done.stdout, done.stderr if done.returncode != 0 else ""
    except subprocess.TimeoutExpired as late:
        text, failure = (late.stdout or b"").decode(), f"did not end in {seconds:.0f} s"
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
    if failure:
        print(*command[2:], failure, "after", rows[-1]["kernel"] if rows else "no kernel", file=sys.stderr)
    return rows


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else float("nan")


def best(rows, keep):
    """Seconds of the fastest kept one, by problem, matrix and columns."""
    out = {}
    for row in rows:
        if row["error"] < 1e-4 and keep(row):
            at = (row["problem"], row["matrix"], row["n"])
            out[at] = min(out.get(at, math.inf), row["seconds"])
    return out


def ratio(rows, slower, faster, n=None):
    one, two = best(rows, slower), best(rows, faster)
    return geometric_mean([one[at] / two[at] for at in one if at in two and (n is None or at[2] == n)])


def report(rows):
    wrong = [row for row in rows if not row["error"] < 1e-4]
    print(f"{len(rows)} measurements, {len(wrong)} wrong")
    for row in wrong[:10]:
        print("  wrong:", row["problem"], row["kernel"], row["matrix"], row["n"], row["error"])
    proposed = lambda row: row["family"] == "proposed"
    for problem in PROBLEMS:
        of = [row for row in rows if row["problem"] == problem]
        if of:
            line = [f"{n}: {ratio(of, lambda r: r['family'] == 'cusparse', proposed, n):.2f}" for n in COLUMNS]
            print(f"{problem}, best of what the search proposes over cuSPARSE, by N:", *line)
    of = [row for row in rows if row["problem"] == "spmm"]
    if not of:
        return
    print(f"spmm, best proposed over best of the whole grid: {ratio(of, proposed, lambda r: r['family'] not in ('proposed', 'cusparse')):.2f}")
    rows = of
    ours = lambda row: row["family"] != "cusparse"
    theirs = lambda row: row["family"] == "cusparse"
    print("spmm, best point over the best of cuSPARSE (geometric mean over matrices):")
    for n in COLUMNS:
        print(f"  N = {n:3}: {ratio(rows, theirs, ours, n):.2f}")
    shared = lambda row: row["family"] == "row shared"
    print(f"flexible width over 32: {ratio(rows, lambda r: shared(r) and r['width'] == 32, shared):.2f}")
    segments = lambda row: row["family"] == "entries segment"
    atomics = lambda row: row["family"] in ("row shared", "row shared, atomic")
    for c in (1, 2, 4):
        line = [f"{max(1.0, ratio(rows, lambda r: atomics(r) and r['columns'] == c, lambda r: segments(r) and r['columns'] == c and r['width'] == w)):.2f}"
                for w in (4, 8, 16, 32)]
        print(f"segments over groups of rows, c = {c}, r = 4, 8, 16, 32:", *line)
    static = {row["kernel"] for row in rows if ours(row)}
    fixed = min((ratio(rows, lambda r, k=k: r["kernel"] == k, ours), k) for k in static)
    print(f"chosen for each matrix over the best fixed point ({fixed[1]}): {fixed[0]:.2f}")
    speeds = [row["gb_per_second"] for row in rows if ours(row) and row["matrix"] in ("even", "skewed")]
    if speeds:
        print(f"most bytes moved (each counted once): {max(speeds):.0f} GB/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--columns", default=",".join(map(str, COLUMNS)), help="numbers of columns")
    parser.add_argument("--problems", help="those alone, like spmm,sddmm")
    parser.add_argument("--json")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--architecture", default="native")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--program", type=pathlib.Path, help="the runner, where it was compiled elsewhere")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    start = time.monotonic()
    if options.emulated:
        sys.exit(1 if check_emulated(compile_emulated(HERE / "emulated")) else 0)
    program = options.program or compile_all(options.nvcc, options.architecture, HERE / "build")
    print(f"compiled in {time.monotonic() - start:.0f} s", file=sys.stderr)
    if options.compile_only:
        return
    matrices = sorted(HERE.glob("*.bin"))
    problems = json.loads((HERE / "problems.json").read_text())
    if options.problems:
        problems = [problem for problem in problems if problem in options.problems.split(",")]
    # One process measures all numbers of columns: a start, and the making of a context, takes as long as many kernels.
    jobs = [(problem, matrix) for problem in sorted(problems, key=PROBLEMS.index) for matrix in matrices]
    rows = []
    for number, (problem, matrix) in enumerate(jobs):
        left = options.seconds - (time.monotonic() - start)
        if left < 2:
            print(f"out of time after {number} of {len(jobs)} jobs", file=sys.stderr)
            break
        command = [program, matrix, matrix.stem, options.columns, f"{left / (len(jobs) - number):.3f}", problem]
        rows += measured(command, left + 5)
        if options.json:  # after each job: what was measured stays when a kernel hangs
            pathlib.Path(options.json).write_text(json.dumps(rows))
    for command in (["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], [options.nvcc, "--version"]):
        print(subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[-1:])
    report(rows)


if __name__ == "__main__":
    main()

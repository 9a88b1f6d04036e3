#!/usr/bin/env python3
"""The four cases of the SparseAuto paper's section 3.1: which schedule measures best, and which one is selected.

    tests/bench/four_cases.py [--bin DIR] [--cases 1,2,3,4] [--rounds 3] [--repeat 5] [--threads N] [--scale 50]
                              [--dtype f32] [--limit N] [--within 1.5] [--json FILE]

A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n) with a random B of the paper's sizes and density in CSF. Measured are the
paper's schedules of its figure 2, each in the loop orders it tries (a: one nest; b: a temporary over k; d: one over j
and k), unless they have more than --limit iterations, and every schedule of our frontier under the ranges of that section
whose predicted time (with caches) is at most --within times the least. Printed are the fastest of each, what
`schaas run` selects by default, and what it selects with `--profile sparseauto`. The extent of i of cases 1 and 2, whose
B would have 115 and 92 million entries, is divided by --scale; the figures named "scaled" say so. Times are the best of
--repeat runs on --threads threads (default 1).
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

EXPRESSION = "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)"
RANGES = ["1 <= i <= 1800", "1 <= j <= 1600", "400 <= k <= 4000", "8 <= l <= 256", "8 <= m <= 256", "8 <= n <= 256"]
# name: extents, density, measured winner and times of the paper (figure 2's letters)
CASES = {
    1: (dict(i=1800, j=800, k=1000, l=64, m=16, n=32), 0.08, "d 2.48 s, b 6.26 s, a 32.4 s"),
    2: (dict(i=1800, j=1600, k=2000, l=64, m=16, n=32), 0.02, "b 8.60 s, d 10.2 s, a 33.5 s"),
    3: (dict(i=1, j=200, k=4000, l=256, m=200, n=196), 0.002, "a 4.9 ms, b 9.1 ms, d 282 ms"),
    4: (dict(i=265, j=1207, k=479, l=251, m=234, n=42), 0.0033, "b 513 ms, d 1.14 s, a 1.66 s"),
}
SCALED = (1, 2)


def one_nest(*outer):
    return f"reorder(path={{}}, order={{{','.join(outer)},i,j,k}})"


def over_k(outer, inner):
    return (f"reorder(path={{}}, order={{{','.join(outer)},i,j,k,n}}); loopfuse(path={{}}, loc=3, pol=left)"
            f"; reorder(path={{1}}, order={{{','.join(inner)}}})")


def over_jk(*common):
    return ("reorder(path={}, order={l,i,j,k,m,n}); loopfuse(path={}, loc=2, pol=left); "
            f"reorder(path={{1}}, order={{{','.join(common)},j,n}}); loopfuse(path={{1}}, loc=2, pol=left)")


PAPER = {
    "a": [one_nest("l", "m", "n"), one_nest("m", "l", "n"), "reorder(path={}, order={i,j,k,l,m,n})"],
    "b": [over_k(outer, inner) for outer in ("lm", "ml") for inner in ("kn", "nk")],
    "d": [over_jk("m", "k"), over_jk("k", "m")],
}


def write_b(path, extents, density, seed):
    """`density` of the coordinates, drawn without replacement, in storage order. Returns the number of entries."""
    draw = random.Random(seed)
    rows, columns = extents["i"] * extents["j"], extents["k"]
    count = 0
    with open(path, "w", encoding="ascii") as out:
        for row in range(rows):
            mean = density * columns
            here = int(mean) + (draw.random() < mean - int(mean))
            place = f"{row // extents['j'] + 1} {row % extents['j'] + 1} "
            out.writelines(f"{place}{k + 1} 0.5\n" for k in sorted(draw.sample(range(columns), here)))
            count += here
        # The last coordinate, so that the file has the tensor's extents.
        out.write(f"{extents['i']} {extents['j']} {extents['k']} 0.5\n")
    return count + 1


def run(options, path, extents, schedule, repeat, more=()):
    command = [os.path.join(options.bin, "schaas"), "run", EXPRESSION, "-t", f"B={path}", "-f", "B=csf", "--dtype",
               options.dtype, "--schedule", schedule, "--repeat", str(repeat), "--threads", str(options.threads), "--json",
               *more]
    for constraint in RANGES:
        command += ["-c", constraint]
    for index in "lmn":
        command += ["-d", f"{index}={extents[index]}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError(f"`--schedule {schedule}`: exit {done.returncode}: {done.stderr.strip()[:400]}")
    return json.loads(done.stdout)


def trips(name, e, entries):
    """Iterations of the schedules of figure 2."""
    each = e["l"] * e["m"]
    return {"a": each * e["n"] * entries, "b": each * (entries + e["n"] * e["k"]),
            "d": e["l"] * (entries + e["m"] * e["k"] * (e["j"] + e["n"]))}[name]


def measured(options, path, extents, schedule, expected):
    answer = run(options, path, extents, schedule, 1 if expected > 3e9 else options.repeat)
    return answer["run_seconds"]["min"], answer


def one_case(options, number, directory):
    extents, density, paper = CASES[number]
    extents = dict(extents)
    if number in SCALED:
        extents["i"] = max(1, round(extents["i"] / options.scale))
    path = os.path.join(directory, f"case{number}.tns")
    entries = write_b(path, extents, density, number)
    sizes = " ".join(f"{index}={extents[index]}" for index in "ijklmn")
    print(f"case {number}{' (scaled)' if number in SCALED and options.scale != 1 else ''}: {sizes}, {entries} entries; "
          f"the paper measured {paper}", flush=True)
    times = {}
    for name, traces in PAPER.items():
        expected = trips(name, extents, entries)
        if expected > options.limit:
            print(f"  figure 2{name}   left out: {expected:.2g} iterations", flush=True)
            continue
        seconds, trace = min((measured(options, path, extents, trace, expected)[0], trace) for trace in traces)
        times[name] = seconds
        print(f"  figure 2{name}  {seconds * 1e3:10.2f} ms  {trace}", flush=True)
    selected = run(options, path, extents, "auto", 1)
    while not selected["chosen"]["final"]:
        selected = run(options, path, extents, "auto", 1)
    chosen = selected["chosen"]["id"]
    least = min(entry["predicted_here"] for entry in selected["frontier"])
    near = [entry for entry in selected["frontier"] if entry["predicted_here"] <= options.within * least]
    print(f"  {len(selected['frontier']) - len(near)} schedules left out: predicted to take more than {options.within:g} times "
          "the least", flush=True)
    traces = {entry["id"]: selected["chosen"]["trace"] if entry["id"] == chosen else entry["id"] for entry in near}
    for _ in range(options.rounds):  # interleaved: the machine may be shared
        for name, trace in traces.items():
            seconds, _ = measured(options, path, extents, trace, 0)
            times[name] = min(seconds, times.get(name, seconds))
    for entry in sorted(near, key=lambda entry: times[entry["id"]]):
        mark = " <- selected" if entry["id"] == chosen else ""
        print(f"  {entry['id']:9} {times[entry['id']] * 1e3:10.2f} ms  {entry['predicted_here']:9.3g} predicted, "
              f"{entry['time_here']:9.3g} weighted trips, {entry['memory_elements_here']:9.3g} elements  {entry['tree']}{mark}",
              flush=True)
    papers = run(options, path, extents, "auto", 1, ["--profile", "sparseauto"])
    winner = min(times, key=times.get)
    ratio = times[chosen] / times[winner]
    print(f"  fastest: {winner} {times[winner] * 1e3:.2f} ms; selected: {chosen} {times[chosen] * 1e3:.2f} ms ({ratio:.2f}x); "
          f"the papers' rule: {papers['chosen']['tree']} {papers['run_seconds']['min'] * 1e3:.2f} ms "
          f"({papers['run_seconds']['min'] / times[winner]:.2f}x)\n", flush=True)
    return {"case": number, "extents": extents, "entries": entries, "seconds": times, "selected": chosen, "winner": winner,
            "ratio": ratio, "papers_tree": papers["chosen"]["tree"], "papers_seconds": papers["run_seconds"]["min"]}


def arguments():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(root, "build", "release", "bin"))
    parser.add_argument("--cases", default="1,2,3,4")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scale", type=float, default=50, help="divides the extent of i in cases 1 and 2 (default 50)")
    parser.add_argument("--dtype", default="f32", help="f32, as the paper's memory figures say, or f64")
    parser.add_argument("--limit", type=float, default=3e10, help="most iterations of a schedule of the paper that is run")
    parser.add_argument("--within", type=float, default=1.5, help="see above (default 1.5)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds of --repeat runs (default 3)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one run")
    parser.add_argument("--json", help="also write the figures to this file")
    return parser.parse_args()


def main():
    options = arguments()
    cases = []
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as state:
        os.environ.setdefault("XDG_DATA_HOME", state)
        os.environ.setdefault("XDG_RUNTIME_DIR", state)
        os.environ.setdefault("XDG_CACHE_HOME", state)
        for number in map(int, options.cases.split(",")):
            cases.append(one_case(options, number, state))
    worst = max(case["ratio"] for case in cases)
    mean = math.exp(sum(math.log(case["ratio"]) for case in cases) / len(cases))
    print(f"{len(cases)} cases: selected / fastest {mean:.2f}x, worst {worst:.2f}x")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(cases, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

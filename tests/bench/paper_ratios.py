#!/usr/bin/env python3
"""Ways to run ReACT's kernels against each other, and MTTKRP with a sparse against a dense result.

    tests/bench/paper_ratios.py [--data DIR] [--bin DIR] [--only kernels|crossover] [--threads 1,2] [--repeat 7] [--rounds 3]

Kernels (ReACT, table 1): `fused` has its branches below the loops they share (trie-like fusion), `one nest` is maximally fused, all loops around one
assignment, `apart` computes each temporary whole, `chosen` is what the selection takes. Milliseconds, least of all rounds; the ways take turns.
Every first run is verified. Crossover: A(i,r) = B(i,j,k) * C(j,r) * D(k,r), `sparse`: A, C and D csr, C and D of one density; `dense A`: A dense; `dense`: all three (Kjolstad et al., CGO 2019,
section 8.3). DIR holds matrices/NAME.mtx.gz and tensors/NAME.tns.gz.
"""

import math
import os
import random
import sys
import tempfile

import schaas_runs
from schaas_runs import mean

LINEAR = "reorder(path={{}}, order={{{}}})"


def fused(order, *splits, apart=False):
    """The loops in this order, then a `loopfuse` of the first LOC factors at each PATH."""
    end = ", fuse=0)" if apart else ")"
    return "; ".join([LINEAR.format(order)] + [f"loopfuse(path={{{path}}}, loc={loc}, pol=left{end}" for path, loc in splits])


KERNELS = [
    # name, expression, operand files, extents, formats, loop order, (path, loc) of each split
    ("SDDMM", "A(i,j) = C(i,k) * D(j,k) * B(i,j)", {"B": "matrices/cora.mtx.gz"}, {"k": 64}, {"A": "csr", "B": "csr"}, "i,j,k", [("", 2)]),
    ("MTTKRP of order 3", "A(i,r) = B(i,j,k) * D(k,r) * C(j,r)", {"B": "tensors/kinship.tns.gz"}, {"r": 32}, {"B": "csf"}, "i,j,k,r", [("", 2)]),
    ("MTTKRP of order 4", "A(i,r) = B(i,j,k,l) * E(l,r) * D(k,r) * C(j,r)", {"B": "four.tns"}, {"r": 32}, {"B": "csf"}, "i,j,k,l,r",
     [("", 3), ("0", 2)]),
    ("GNN 1: SpMM, GeMM", "A(i,j) = B(i,k) * C(k,h) * D(h,j)", {"B": "matrices/pubmed.mtx.gz"}, {"h": 64, "j": 16}, {"B": "csr"}, "i,k,h,j",
     [("", 2)]),
    ("GNN 2: SDDMM, SpMM", "A(i,h) = B(i,j) * C(i,k) * D(j,k) * E(j,h)", {"B": "matrices/cora.mtx.gz"}, {"k": 32, "h": 32}, {"B": "csr"}, "i,j,k,h",
     [("", 3)]),
]


def run(options, expression, files, extents, formats, schedule, threads, verify):
    words = ["--threads", threads, "--repeat", options.repeat, "--schedule", schedule]
    for option, values in (("-t", files), ("-d", extents), ("-f", formats)):
        for name, value in values.items():
            words += [option, f"{name}={value}"]
    answer = schaas_runs.run(options, expression, *words, verify=verify)
    return answer["run_seconds"]["min"], answer


def least(options, ways, threads):
    """The least seconds of each way, in turns."""
    best = {way: math.inf for way in ways}
    for turn in range(options.rounds):
        for way, arguments in ways.items():
            best[way] = min(best[way], run(options, *arguments, threads, turn == 0)[0])
    return best


def kernels(options, directory, figures):
    draw = random.Random(2)
    with open(os.path.join(directory, "four.tns"), "w", encoding="ascii") as out:
        places = {tuple(draw.randint(1, 60) for _ in range(4)) for _ in range(100000)}
        out.writelines(" ".join(map(str, place)) + f" {draw.uniform(0.5, 1.5)!r}\n" for place in sorted(places))
    for threads in options.threads:
        print(f"ReACT's kernels, {threads} thread(s), ms")
        print(f"  {'kernel':20} {'fused':>9} {'one nest':>9} {'apart':>9} {'chosen':>9} {'fused/chosen':>12} {'one nest/chosen':>15} {'apart/chosen':>12}")
        ratios = []
        for name, expression, operands, extents, formats, order, splits in KERNELS:
            files = {tensor: os.path.join(directory if path == "four.tns" else options.data, path) for tensor, path in operands.items()}
            common = (expression, files, extents, formats)
            best = least(options, {"fused": (*common, fused(order, *splits)), "one nest": (*common, LINEAR.format(order)),
                                   "apart": (*common, fused(order, *splits, apart=True)), "chosen": (*common, "auto")}, threads)
            ratios.append([best[way] / best["chosen"] for way in ("fused", "one nest", "apart")])
            figures.append({"kernel": name, "threads": threads, **best})
            print(f"  {name:20} " + " ".join(f"{best[way] * 1e3:9.3f}" for way in best) + f" {ratios[-1][0]:12.2f} {ratios[-1][1]:15.2f} {ratios[-1][2]:12.2f}", flush=True)
        means = [mean([ratio[n] for ratio in ratios]) for n in range(3)]
        print(f"  {'geometric mean':60} {means[0]:12.2f} {means[1]:15.2f} {means[2]:12.2f}\n")


def crossover(options, directory, figures):
    draw = random.Random(3)
    extents = {"i": 2000, "j": 300, "k": 300, "r": 256}
    tensor = os.path.join(directory, "three.tns")
    with open(tensor, "w", encoding="ascii") as out:
        places = {(draw.randint(1, 2000), draw.randint(1, 300), draw.randint(1, 300)) for _ in range(100000)} | {(2000, 300, 300)}
        out.writelines(" ".join(map(str, place)) + f" {draw.uniform(0.5, 1.5)!r}\n" for place in sorted(places))
    for threads in options.threads:
        print(f"A(i,r) = B(i,j,k) * C(j,r) * D(k,r), C and D csr, {len(places)} entries of B, r = 256, {threads} thread(s), ms")
        print(f"  {'density':>8} {'of A':>8} {'sparse':>9} {'dense A':>9} {'dense':>9} {'dense/sparse':>12}")
        for percent in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100):
            files = {"B": tensor}
            for name, rows in (("C", 300), ("D", 300)):
                files[name] = os.path.join(directory, f"{name}{percent}.mtx")
                entries = [(row, column) for row in range(rows) for column in range(256) if draw.random() * 100 < percent]
                with open(files[name], "w", encoding="ascii") as out:
                    out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} 256 {len(entries)}\n")
                    out.writelines(f"{row + 1} {column + 1} {draw.uniform(0.5, 1.5)!r}\n" for row, column in entries)
            formats = {"B": "csf", "C": "csr", "D": "csr"}
            expression = "A(i,r) = B(i,j,k) * C(j,r) * D(k,r)"
            sparse = (expression, files, {}, {**formats, "A": "csr"}, "auto")
            stored = run(options, *sparse, threads, False)[1].get("nnz", {}).get("A") or 0
            best = least(options, {"sparse": sparse, "dense A": (expression, files, {}, formats, "auto"),
                                   "dense": (expression, files, {}, {"B": "csf", "C": "dense", "D": "dense"}, "auto")}, threads)
            figures.append({"density": percent / 100, "threads": threads, "entries": stored, **best})
            print(f"  {percent:7} % {stored / (extents['i'] * extents['r']) * 100:6.1f} % {best['sparse'] * 1e3:9.3f} "
                  f"{best['dense A'] * 1e3:9.3f} {best['dense'] * 1e3:9.3f} "
                  f"{best['dense'] / best['sparse']:12.2f}", flush=True)
        print()


def main():
    parser = schaas_runs.parser(__doc__)
    parser.set_defaults(repeat=7)
    parser.add_argument("--only", choices=["kernels", "crossover"])
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as directory:
        schaas_runs.private_server(directory)
        if options.only != "crossover":
            kernels(options, directory, figures)
        if options.only != "kernels":
            crossover(options, directory, figures)
    schaas_runs.write_json(options, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())

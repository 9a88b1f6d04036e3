#!/usr/bin/env python3
"""Temporaries per block, between per row (or entry) and whole: hand-written traces against each other.

    tests/bench/row_blocks.py [--data DIR] [--bin DIR] [--kernels K1,K4] [--extents 16,64] [--rounds 3] [--repeat 7]

For each kernel, data set and dense extent, runs the fused schedule, the same with blocks of several sizes, and where its
temporary stays small enough the separate nests, in turn and --rounds times; every result is verified. Prints the least
seconds of each as a ratio to the fused one's (above 1: faster than fused), on one thread, in f64.
"""

import os

import schaas_runs
from schaas_runs import mean

SDDMM = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left)"
DEEP = ("reorder(path={}, order={i,j,k,l,m}); loopfuse(path={}, loc=4, pol=left); loopfuse(path={0}, loc=3, pol=left)")
ROWS = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left"
# name: expression, dense indices, schedules (fused first)
KERNELS = {
    "K1": ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "kl", {
        "fused": SDDMM, "8 entries": SDDMM + "; block(path={}, size=8)", "48 entries": SDDMM + "; block(path={}, size=48)"}),
    "K2": ("A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", "klm", {
        "fused": DEEP, "48 rows": DEEP + "; block(path={}, size=48)", "8 entries": DEEP + "; block(path={0}, size=8)",
        "both": DEEP + "; block(path={}, size=48); block(path={0}, size=8)"}),
    "K4": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "kl", {
        "fused": ROWS + ")", "8 rows": ROWS + "); block(path={}, size=8)", "48 rows": ROWS + "); block(path={}, size=48)",
        "separate": ROWS + ", fuse=0)"}),
}
SETS = ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends"]


def seconds(options, expression, dense, path, extent, schedule):
    words = ["-t", f"B={path}", "-f", "B=csr", "--threads", "1", "--schedule", schedule, "--repeat", options.repeat]
    for index in dense:
        words += ["-d", f"{index}={extent}"]
    return schaas_runs.run(options, expression, *words, verify=True)["run_seconds"]["min"]


def main():
    parser = schaas_runs.parser(__doc__)
    parser.set_defaults(repeat=7)
    parser.add_argument("--kernels", default="K1,K2,K4")
    parser.add_argument("--extents", default="16,64")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for kernel in options.kernels.split(","):
        expression, dense, schedules = KERNELS[kernel]
        ratios = {name: [] for name in schedules}
        for name in options.sets.split(","):
            for extent in options.extents.split(","):
                path = os.path.join(options.data, "matrices", name + ".mtx.gz")
                least = {}
                for _ in range(options.rounds):
                    for which, schedule in schedules.items():
                        here = seconds(options, expression, dense, path, extent, schedule)
                        least[which] = min(here, least.get(which, here))
                line = f"{kernel} {name:16} {extent:>3}  fused {least['fused'] * 1e3:9.3f} ms"
                for which in schedules:
                    ratios[which].append(least["fused"] / least[which])
                    if which != "fused":
                        line += f"  {which} {ratios[which][-1]:5.2f}"
                print(line, flush=True)
        for which, all_of in ratios.items():
            if which != "fused":
                print(f"{kernel} {which:12} mean {mean(all_of):.2f}  least {min(all_of):.2f}  most {max(all_of):.2f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Seconds from a miss to the first compiled and tried kernel, and to the whole answer: what a client waits for.

    tests/bench/first_kernel.py [--bin DIR] [--repeat 5] [--kernels K1,SpMM] [--json FILE]

One private server is started first. Each problem is asked for with --no-cache: it is searched, compiled and tried anew each
time. Tensors are tiny, so that nothing else takes time. Prints median and worst of both per problem; exits 1 when a median of the
first kernel is above 0.3 s, the aim.
"""

import os
import statistics
import sys
import tempfile

import schaas_runs
from eight_kernels import KERNELS

PROBLEMS = {name: (expression, f"B={format_name}", dense) for name, (expression, format_name, dense, _, _) in KERNELS.items()}
PROBLEMS.update({
    "SpMM": ("A(i,k) = B(i,j) * C(j,k)", "B=csr", "k"),
    "SDDMM": ("A(i,j) = B(i,j) * C(i,k) * D(k,j)", "B=csr A=csr", "k"),
    "MTTKRP": ("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B=csf", "l"),
    "SpGEMM": ("A(i,k) = B(i,j) * B(j,k)", "B=csr A=csr", ""),
    "sum": ("A(i,j) = B(i,j) + 2 * B(j,i)", "B=csr A=csr", ""),
})


def tiny_tensor(directory, order):
    path = os.path.join(directory, f"tiny{order}.tns")
    with open(path, "w") as file:
        for i in range(1, 8):
            file.write(" ".join(str(1 + (i * (m + 2)) % 7) for m in range(order)) + f" {i}.5\n")
        file.write(" ".join("7" for _ in range(order)) + " 1\n")
    return path


def main():
    make = schaas_runs.parser(__doc__)
    make.add_argument("--kernels", default=",".join(PROBLEMS), help="names of the table's rows")
    options = make.parse_args()
    figures, slow = {}, 0
    print(f"{'':8} {'first kernel, s':>22} {'whole answer, s':>22}\n{'':8} {'median':>11} {'worst':>10} {'median':>11} {'worst':>10}")
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as state:
        schaas_runs.private_server(state)
        schaas_runs.command(options, "info")  # starts the server
        for name in options.kernels.split(","):
            first, whole = seconds_of(options, name, state)
            figures[name] = {"first": first, "whole": whole}
            slow += statistics.median(first) > 0.3
            print(f"{name:8} {statistics.median(first):11.3f} {max(first):10.3f} "
                  f"{statistics.median(whole):11.3f} {max(whole):10.3f}", flush=True)
    schaas_runs.write_json(options, figures)
    return 1 if slow else 0


def seconds_of(options, name, directory):
    expression, formats, dense = PROBLEMS[name]
    order = expression.split("B(")[1].split(")")[0].count(",") + 1
    words = ["-t", f"B={tiny_tensor(directory, order)}", "--no-cache", "--repeat", 2, "--wait", 600]
    for one in formats.split():
        words += ["-f", one]
    for index in dense:
        words += ["-d", f"{index}=16", "-c", f"8 <= {index} <= 256"]
    answers = [schaas_runs.run(options, expression, *words, verify=True) for _ in range(options.repeat)]
    return [answer["first_kernel_seconds"] for answer in answers], [answer["server"]["seconds"] for answer in answers]


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the eight kernels of the SparseAuto paper on real data through the daemon and compares schedules.

    tests/bench/eight_kernels.py [--data DIR] [--bin DIR] [--kernels K1,K4] [--extents 16,64] [--types f64,f32]
                                 [--sets N] [--repeat 5] [--no-linear] [--tune] [--json FILE]

For each kernel, data set, dense extent and value type, `schaas run --verify` is called twice: with the schedule schaas
selects and, in the same breath, with `--schedule linear` (one loop nest: what a compiler without fusion does; as many
runs, or one when it has more than 1e9 trips). Every result is verified. Prints one line per case and the geometric
mean of the ratios linear / selected per kernel; exits 1 when a verification fails. With --tune the compiled schedules
of the frontier are also measured on the tensors: `tuned` is the selected schedule's time over the fastest one's. DIR
holds matrices/NAME.mtx.gz and tensors/NAME.tns.gz.
Linear nests whose trip count exceeds --linear-limit are skipped and say so.
"""

import functools
import gzip
import math
import os
import subprocess
import sys
import tempfile

import schaas_runs
from schaas_runs import mean

MATRIX, TENSOR = "matrices", "tensors"
# name: expression, format of B, the dense-only indices, result order limit on rows for extent 64 (elements), data sets
KERNELS = {
    "K1": ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "csr", "kl", MATRIX,
           ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends", "maxwell_S"]),
    "K2": ("A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", "csr", "klm", MATRIX,
           ["cora", "bcsstk13", "wiki-Vote", "cage8", "email-Eu-core", "lsc_Qu_2"]),
    "K3": ("A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", "csr", "jl", MATRIX,
           ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends", "maxwell_S"]),
    "K4": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr", "kl", MATRIX,
           ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends", "maxwell_S"]),
    "K5": ("A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", "csf", "lmn", TENSOR,
           ["kinship", "umls", "splatt-med3", "openflights", "aminoacids"]),
    "K6": ("A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "csf", "lm", TENSOR,
           ["kinship", "umls", "contact-high-school", "email-Eu-days", "tags-math-sx", "splatt-med3"]),
    "K7": ("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", "csf", "lm", TENSOR,
           ["kinship", "umls", "contact-high-school", "email-Eu-days", "fb15k-237"]),
    "K8": ("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", "csf", "jm", TENSOR,
           ["kinship", "umls", "fb15k-237", "email-Eu-days", "splatt-med3", "nell-995"]),
}


@functools.lru_cache(maxsize=None)
def stored_entries(path):
    """Number of entry lines of a data file (an upper bound on trips of the sparse loops, times two for symmetric)."""
    with gzip.open(path, "rt", errors="replace") as text:
        return sum(1 for line in text if line and line[0] not in "%#")


def run(options, kernel, path, extent, value_type, schedule, repeat, more=()):
    expression, format_name, dense, _, _ = KERNELS[kernel]
    # The wait: a choice that is not final is not what is compared here.
    words = ["-t", f"B={path}", "-f", f"B={format_name}", "--dtype", value_type, "--schedule", schedule, "--repeat", repeat, "--wait", 600, *more]
    for index in dense:
        words += ["-d", f"{index}={extent}", "-c", f"8 <= {index} <= 256"]
    if options.threads:
        words += ["--threads", options.threads]
    return schaas_runs.run(options, expression, *words, verify=True)


def trips(kernel, entries, extent):
    return entries * extent ** len(KERNELS[kernel][2])


def one_case(options, kernel, name, path, extent, value_type):
    case = {"kernel": kernel, "data": name, "extent": extent, "type": value_type}
    best = run(options, kernel, path, extent, value_type, "auto", options.repeat)
    case.update(selected_seconds=best["run_seconds"]["median"], tree=best["chosen"]["tree"], frontier=len(best["frontier"]),
                error=best["verify"]["max_relative_error"], passed=best["verify"]["passed"], hit=best["server"]["hit"],
                first_result_seconds=best["first_result_seconds"], select_seconds=best["select_seconds"])
    if options.tune:
        tuned = run(options, kernel, path, extent, value_type, "auto", options.repeat, ["--tune"])
        case.update(tuned_seconds=tuned["run_seconds"]["median"], tuned_tree=tuned["chosen"]["tree"],
                    tuned_ratio=case["selected_seconds"] / max(tuned["run_seconds"]["median"], 1e-9))
    linear_trips = trips(kernel, stored_entries(path), extent) if options.linear else math.inf
    if linear_trips <= options.linear_limit:
        linear = run(options, kernel, path, extent, value_type, "linear", options.repeat if linear_trips <= 1e9 else 1)
        case.update(linear_seconds=linear["run_seconds"]["median"], linear_passed=linear["verify"]["passed"],
                    ratio=linear["run_seconds"]["median"] / max(case["selected_seconds"], 1e-9))
    return case


def show(case):
    ratio = f"{case['linear_seconds'] * 1e3:11.2f} {case['ratio']:8.1f}x" if "ratio" in case else f"{'-':>11} {'-':>9}"
    tuned = f" tuned {case['tuned_ratio']:.2f}x {case['tuned_tree']}" if "tuned_ratio" in case else ""
    verified = "ok" if case["passed"] and case.get("linear_passed", True) else "FAILED"
    print(f"{case['kernel']:3} {case['data']:20} {case['extent']:4} {case['type']} {case['selected_seconds'] * 1e3:10.3f} {ratio} "
          f"{case['error']:9.1e} {verified:6} {case['tree']}{tuned}", flush=True)


def arguments():
    parser = schaas_runs.parser(__doc__)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--extents", default="16,64")
    parser.add_argument("--types", default="f64,f32")
    parser.add_argument("--sets", type=int, default=4, help="data sets per kernel (default 4)")
    parser.add_argument("--threads", type=int, default=0, help="0: the OpenMP default")
    parser.add_argument("--no-linear", dest="linear", action="store_false")
    parser.add_argument("--tune", action="store_true", help="also measure the frontier's compiled schedules")
    parser.add_argument("--linear-limit", type=float, default=2e10, help="most trips of a linear nest that is run")
    return parser.parse_args()


def main():
    options = arguments()
    cases, failures = [], 0
    print(f"{'':3} {'data':20} {'ext':>4} typ {'selected ms':>10} {'linear ms':>11} {'ratio':>9} {'error':>9} check  tree")
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as state:
        schaas_runs.private_server(state)
        for kernel in options.kernels.split(","):
            kind, names = KERNELS[kernel][3], KERNELS[kernel][4]
            ending = "mtx.gz" if kind == MATRIX else "tns.gz"
            for name in names[:options.sets]:
                path = os.path.join(options.data, kind, f"{name}.{ending}")
                for extent in map(int, options.extents.split(",")):
                    for value_type in options.types.split(","):
                        try:
                            case = one_case(options, kernel, name, path, extent, value_type)
                            cases.append(case)
                            show(case)
                            failures += not (case["passed"] and case.get("linear_passed", True))
                        except (RuntimeError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                            failures += 1
                            print(f"{kernel:3} {name:20} {extent:4} {value_type} ERROR {error}", flush=True)
    for kernel in options.kernels.split(","):
        ratios = [case["ratio"] for case in cases if case["kernel"] == kernel and "ratio" in case]
        if ratios:
            print(f"{kernel}: linear / selected, geometric mean {mean(ratios):.1f}x over {len(ratios)} cases, "
                  f"least {min(ratios):.1f}x, most {max(ratios):.1f}x")
    print(f"{len(cases)} cases, {failures} failures")
    schaas_runs.write_json(options, cases)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

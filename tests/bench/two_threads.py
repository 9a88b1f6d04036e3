#!/usr/bin/env python3
"""Two threads against one: the selected schedule of each, on the yardstick's kernels and data, in turns.

    tests/bench/two_threads.py [--data DIR] [--bin DIR] [--kernels SpMM,K1] [--only SETS] [--sets 5] [--extents 64] [--rounds 3] [--seconds 0.3] [--json FILE]

Wants two idle processors: a thread that waits for one is what is measured then. Prints seconds of one thread / seconds of two (least of all runs),
2.00 at best, and geometric means. Data are those of yardstick.py, graphs with skewed rows among them. Every result is verified.
"""

import math
import sys
import tempfile

import schaas_runs
import yardstick
from schaas_runs import mean


def seconds(options, case, threads, last, verify=False):
    repeat = 3 if last is None else max(3, min(200, math.ceil(options.seconds / last)))
    words = [*case.words, *case.files, "--threads", threads, "--repeat", repeat, "--schedule", "auto", "--wait", "60"]
    if case.kernel in yardstick.SPARSE_RESULT:
        words.append("--reuse-structure")
    answer = schaas_runs.run(options, *words, verify=verify)
    return answer["run_seconds"]["min"], answer["chosen"]["tree"]


def main():
    parser = schaas_runs.parser(__doc__)
    parser.add_argument("--kernels", default="SpMM,SDDMM,K1,K4,K6,K8,MTTKRP,TTM")
    parser.add_argument("--only", help="these data sets, with commas")
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--extents", default="64")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args()
    options.threads = 1
    cases = []
    with tempfile.TemporaryDirectory(prefix="schaas-threads-") as state:
        schaas_runs.private_server(state)
        for case in yardstick.cases_of(options, state):
            at = case.files.index("--threads")
            del case.files[at:at + 2]
            best, trees = {}, {}
            for threads in (1, 2):
                best[threads], trees[threads] = seconds(options, case, threads, None, verify=True)
            for _ in range(options.rounds):
                for threads in (1, 2):
                    best[threads] = min(best[threads], seconds(options, case, threads, best[threads])[0])
            cases.append({"kernel": case.kernel, "data": case.name, "extent": case.extent, "one": best[1], "two": best[2], "trees": list(trees.values())})
            print(f"{case.kernel:6} {case.name:20} {case.extent:4} {best[1] * 1e3:9.3f} {best[2] * 1e3:9.3f} ms {best[1] / best[2]:5.2f}  {trees[1]}"
                  f"{'' if trees[1] == trees[2] else ' | ' + trees[2]}", flush=True)
    for kernel in [*options.kernels.split(","), ""]:
        ratios = [case["one"] / case["two"] for case in cases if kernel in ("", case["kernel"])]
        print(f"{kernel or 'all'}: one thread / two, geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}")
    schaas_runs.write_json(options, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())

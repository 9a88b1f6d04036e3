#!/usr/bin/env python3
"""The selected schedule against the best of all members of the space that were measured, without and with --tune.

    tests/bench/best_member.py [--data DIR] [--bin DIR] [--kernels K1,K4] [--only SETS] [--extents 16,64] [--members 200] [--most 2]
                               [--rounds 3] [--json FILE]

The kernels and data of yardstick_cases.py, results dense, f64, one thread, after `schaas calibrate`. Of K4 and K7 every member of the space, of the others the frontier, what
selection runs of it, and --members drawn evenly. Members whose innermost lines turn more than --most times as often as those of the member of the
frontier with fewest are left out: they are counted, not measured. Each is run for a few times, and the result of that verified by the client's
oracle; the ten fastest, the selected and the tuned one then take turns, --rounds times. Prints selected / best and tuned / best by medians: 1.00 is the
best there is; then means of each kernel and of all, and the cases where selection is beyond 1.25 or tuning beyond 1.03. Exits 1 when a result is
wrong or no case was run.
"""

import math
import os
import subprocess
import sys
import tempfile

import schaas_runs
import yardstick_cases
from schaas_runs import mean

EXHAUSTIVE = {"K4", "K7d"}


def members(options, kernel, words):
    """Trees by trace."""
    statement, form = words[0], words[2].split("=", 1)[1]
    constraints = [word for before, word in zip(words, words[1:]) if before == "-c"]
    count = "0" if kernel in EXHAUSTIVE else str(20 * options.members)
    done = subprocess.run([os.path.join(options.bin, "list_members"), statement, form, count, "7", *constraints], capture_output=True, text=True, check=True)
    trees = {}
    for line in done.stdout.splitlines():
        if line.startswith(" "):
            trees[trace] += line[1:] + "\n"
        else:
            trace = line
            trees[trace] = ""
    return trees


def measure(case, trace, *more, verify=False, limit=0.15):
    """Least and median of some runs, and the whole answer."""
    repeat = max(2, min(500, math.ceil(limit / max(case.last, 1e-6))))
    answer = schaas_runs.run(case.options, *case.words, *case.files, "--threads", 1, "--schedule", trace, "--repeat", repeat, "--wait", "60", *more, verify=verify)
    return schaas_runs.our_batch(answer), answer


def one_case(options, case, kernel):
    case.last = 1e-3
    (case.last, _), selected = measure(case, "auto", verify=True)
    _, tuned = measure(case, "auto", "--tune", "--tune-seconds", "5", verify=True)
    most = options.most * min(case.trips(case.tree(entry["trace"])) for entry in selected["frontier"])
    candidates = [entry["trace"] for entry in selected["frontier"]]
    listed = members(options, kernel, case.words)
    candidates = list(dict.fromkeys([*candidates, *listed]))
    found, left_out = {}, 0
    for trace in candidates:
        if kernel not in EXHAUSTIVE and len(found) >= options.members + len(selected["frontier"]):
            break
        if case.trips(listed.get(trace) or case.tree(trace)) > most:
            left_out += 1
            continue
        found[trace] = measure(case, trace, verify=True, limit=0.03)[0][0]
    chosen, best_tuned = selected["chosen"]["trace"], tuned["chosen"]["trace"]
    turns = sorted(found, key=found.get)[:10]
    turns = list(dict.fromkeys([*turns, chosen, best_tuned]))
    batches = {trace: [] for trace in turns}
    for _ in range(options.rounds):
        for trace, before in batches.items():
            before.append(measure(case, trace)[0])
    seconds = {trace: schaas_runs.figure(each) for trace, each in batches.items()}
    winner = min(seconds, key=lambda trace: seconds[trace]["median"])
    return {"members": len(listed), "measured": len(found), "left_out": left_out, "best": seconds[winner], "best_trace": winner, "selected": seconds[chosen],
            "selected_trace": chosen, "tuned": seconds[best_tuned], "tuned_trace": best_tuned, "selected_tree": selected["chosen"]["tree"],
            "over_best": {what: seconds[trace]["median"] / seconds[winner]["median"] for what, trace in (("selected", chosen), ("tuned", best_tuned))}}


def main():
    parser = schaas_runs.parser(__doc__)
    yardstick_cases.add_arguments(parser, "K1,K2,K3,K4,K5,K6,K7d,K8", 2, "16,64")
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--most", type=float, default=2, help="times the trips of the schedule with fewest")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cases, failures = [], 0
    with tempfile.TemporaryDirectory(prefix="schaas-members-") as state:
        schaas_runs.calibrated_server(options, state)
        print(f"{'':4} {'data':20} {'ext':>4} {'members':>8} {'measured':>8} {'best ms':>9} {'selected':>8} {'tuned':>6}")
        for case in yardstick_cases.cases_of(options, state):
            label = f"{case.kernel:4} {case.name:20} {case.extent:4}"
            try:
                found = {"kernel": case.kernel, "data": case.name, "extent": case.extent} | one_case(options, case, case.kernel)
            except (RuntimeError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"{label} FAILED {error}", flush=True)
                continue
            cases.append(found)
            print(f"{label} {found['members']:8} {found['measured']:8} {found['best']['median'] * 1e3:9.3f} "
                  f"{found['over_best']['selected']:8.2f} {found['over_best']['tuned']:6.2f}  {found['selected_tree']} | {found['best_trace']}", flush=True)
    for kernel in [*options.kernels.split(","), "all"]:
        for what in ("selected", "tuned"):
            ratios = [case["over_best"][what] for case in cases if kernel in ("all", case["kernel"])]
            if ratios:
                print(f"{kernel}: {what} / best: geometric mean {mean(ratios):.3f}, worst {max(ratios):.2f}, {len(ratios)} cases")
    for case in cases:
        for what, most in (("selected", 1.25), ("tuned", 1.03)):
            if case["over_best"][what] > most:
                print(f"beyond {most}: {what} {case['kernel']} {case['data']} {case['extent']} {case['over_best'][what]:.2f} ({case[what + '_trace']}; "
                      f"best {case['best_trace']})")
    print(f"{len(cases)} cases, {failures} failures")
    schaas_runs.write_json(options, cases)
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

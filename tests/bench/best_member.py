#!/usr/bin/env python3
"""The selected schedule against the best of all members of the space that were measured, without and with --tune.

    tests/bench/best_member.py [--data DIR] [--bin DIR] [--kernels K1,K4] [--only SETS] [--extents 16,64] [--members 200] [--most 2]
                               [--rounds 3] [--json FILE]

The kernels and data of yardstick.py, results dense, f64, one thread. Of K4 and K7 every member of the space, of the others the frontier, what
selection runs of it, and --members drawn evenly. Members whose innermost lines turn more than --most times as often as those of the selected
schedule are left out: they are counted, not measured. Each is run once for a few times; the ten fastest, the selected and the tuned one then take
turns, --rounds times. Prints selected / best and tuned / best: 1.00 is the best there is. Every result is verified by the client's oracle once.
"""

import math
import os
import subprocess
import sys
import tempfile

import schaas_runs
import yardstick
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


def seconds(case, trace, *more, verify=False, limit=0.15):
    repeat = 1 if trace is None else max(2, min(50, math.ceil(limit / max(case.last, 1e-6))))
    answer = schaas_runs.run(case.options, *case.words, *case.files, "--schedule", trace, "--repeat", repeat, "--wait", "60", *more, verify=verify)
    return answer["run_seconds"]["min"], answer


def one_case(options, case, kernel):
    case.last = 1e-3
    first, selected = seconds(case, "auto", verify=True)
    case.last = first
    _, tuned = seconds(case, "auto", "--tune", "--tune-seconds", "5", verify=True)
    tree_of = lambda trace: schaas_runs.command(options, "emit", *case.words, "--schedule", trace or "linear", "--lang", "tree")
    most = options.most * min(case.trips(tree_of(entry["trace"])) for entry in selected["frontier"])
    candidates = [entry["trace"] for entry in selected["frontier"]]
    listed = members(options, kernel, case.words)
    candidates = list(dict.fromkeys([*candidates, *listed]))
    found, left_out = {}, 0
    for trace in candidates:
        if kernel not in EXHAUSTIVE and len(found) >= options.members + len(selected["frontier"]):
            break
        if case.trips(listed.get(trace) or tree_of(trace)) > most:
            left_out += 1
            continue
        found[trace] = seconds(case, trace, limit=0.03)[0]
    chosen, best_tuned = selected["chosen"]["trace"], tuned["chosen"]["trace"]
    turns = sorted(found, key=found.get)[:10]
    turns = list(dict.fromkeys([*turns, chosen, best_tuned]))
    best = dict.fromkeys(turns, math.inf)
    for _ in range(options.rounds):
        for trace in turns:
            best[trace] = min(best[trace], seconds(case, trace)[0])
    winner = min(best, key=best.get)
    return {"members": len(listed), "measured": len(found), "left_out": left_out, "best": best[winner], "best_trace": winner, "selected": best[chosen],
            "selected_trace": chosen, "tuned": best[best_tuned], "tuned_trace": best_tuned, "selected_tree": selected["chosen"]["tree"],
            "best_tree": schaas_runs.command(options, "emit", *case.words, "--schedule", winner or "linear", "--lang", "tree").split("\n")[0]}


def main():
    parser = schaas_runs.parser(__doc__)
    parser.add_argument("--kernels", default="K1,K2,K3,K4,K5,K6,K7d,K8")
    parser.add_argument("--only", help="these data sets, with commas")
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--extents", default="16,64")
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--most", type=float, default=2, help="times the trips of the schedule with fewest")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.threads = 1
    cases = []
    with tempfile.TemporaryDirectory(prefix="schaas-members-") as state:
        schaas_runs.private_server(state)
        print(f"{'':4} {'data':20} {'ext':>4} {'members':>8} {'measured':>8} {'best ms':>9} {'selected':>8} {'tuned':>6}")
        for case in yardstick.cases_of(options, state):
            found = {"kernel": case.kernel, "data": case.name, "extent": case.extent} | one_case(options, case, case.kernel)
            cases.append(found)
            print(f"{case.kernel:4} {case.name:20} {case.extent:4} {found['members']:8} {found['measured']:8} {found['best'] * 1e3:9.3f} "
                  f"{found['selected'] / found['best']:8.2f} {found['tuned'] / found['best']:6.2f}  {found['selected_tree']} | {found['best_trace']}", flush=True)
    for what in ("selected", "tuned"):
        ratios = [case[what] / case["best"] for case in cases]
        print(f"{what} / best: geometric mean {mean(ratios):.3f}, worst {max(ratios):.2f}, {len(cases)} cases")
    schaas_runs.write_json(options, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())

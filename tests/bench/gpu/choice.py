#!/usr/bin/env python3
"""How good the client's choice among schedules for a GPU is, from what run.py measured on a device and what the model predicts here.

    choice.py --rows ROWS.json --matrices FOLDER [--bin build/release/bin]

FOLDER holds the matrices that were measured (make_travel.py). Prints, by problem and number of columns, the time of the chosen schedule
over that of the fastest proposed one (1: the best choice), the same of the fixed schedule that is best on all matrices, and the largest
loss; then how far predictions are from measurements. The rows may be gzipped.
"""

import argparse
import collections
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def read_rows(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return json.load(file)


def measured_seconds(rows):
    """Of each proposed schedule, by (problem, matrix, columns) and then by its point and entry; wrong results are left out."""
    out = collections.defaultdict(dict)
    for row in rows:
        if row["family"] == "proposed" and row["error"] < 1e-4:
            name = re.match(r"g\d+ (.*\}) of (\S+) ", row["kernel"])
            out[row["problem"], row["matrix"], row["n"]][f"{name[1]} of {name[2]}"] = row["seconds"]
    return out


def predictions(program, columns, matrices):
    done = subprocess.run([program, ",".join(map(str, columns)), *matrices], stdout=subprocess.PIPE, text=True, check=True)
    out = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        out[row["problem"], row["matrix"], row["n"]][row["point"]] = row
    return out


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def best_fixed(cases):
    """The loss of the one schedule that loses least over all cases."""
    points = set.intersection(*(set(case) for case in cases))
    return min((mean([case[point] / min(case.values()) for case in cases]), point) for point in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    parser.add_argument("--matrices", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--worst", type=int, default=0, help="print so many of the worst choices")
    options = parser.parse_args()
    os.environ["PATH"] = f"{options.bin}:{os.environ['PATH']}"
    measured = measured_seconds(read_rows(options.rows))
    predicted = predictions(options.bin / "gpu_choice_bench", sorted({key[2] for key in measured}), sorted(options.matrices.glob("*.bin")))
    losses, errors = collections.defaultdict(list), []
    for key, times in measured.items():
        known = {point: row for point, row in predicted.get(key, {}).items() if point in times}
        if not known:
            continue
        chosen = min(known, key=lambda point: known[point]["predicted"])
        fastest = min(times, key=times.get)
        losses[key[0], key[2]].append((times[chosen] / times[fastest], key[1], chosen, fastest))
        errors += [(row["predicted"] / times[point], key, point) for point, row in known.items()]
    if not losses:
        sys.exit("no measured schedule is predicted: other kernels, or other matrices")
    for (problem, n), rows in sorted(losses.items()):
        fixed = best_fixed([times for key, times in measured.items() if (key[0], key[2]) == (problem, n)])
        worst = max(rows)
        print(f"{problem:6} {n:4}: chosen over fastest {mean([row[0] for row in rows]):.2f}, worst {worst[0]:.2f} ({worst[1]}); "
              f"best fixed one {fixed[0]:.2f} ({fixed[1]}); {len(rows)} matrices")
    for row in sorted((row for rows in losses.values() for row in rows), reverse=True)[:options.worst]:
        print(f"  {row[0]:.2f} {row[1]}: chose {row[2]}, fastest {row[3]}")
    logs = sorted(math.log(error[0]) for error in errors)
    parts = [math.exp(logs[len(logs) * part // 20]) for part in (1, 5, 10, 15, 19)]
    print("predicted over measured: 5% of all below {:.2f}, 25% {:.2f}, half {:.2f}, 75% {:.2f}, 95% {:.2f}".format(*parts))
    print(f"all choices over the fastest: {mean([row[0] for rows in losses.values() for row in rows]):.3f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How good the client's choice among schedules for a GPU is: what the model predicts here, beside what was measured on a device.

    choice.py [MEASURED] [--bin build/release/bin] [--worst N]
    choice.py MEASURED --record ROWS.json --matrices FOLDER --device NAME,PROCESSORS,HZ,BYTES_A_SECOND,CACHE_BYTES

The second records what run.py measured on matrices of make_travel.py. MEASURED: the file of a device; h200.json.gz beside this script. Prints, by problem and number of columns, the time of the chosen schedule
over that of the fastest proposed one (1: the best choice), the same of the fixed schedule that is best on all matrices, and the largest
loss; then how far predictions are from measurements.
"""

import argparse
import array
import collections
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return json.load(file)


def figures_of(path):
    """Rows, columns, entries, and of the lengths of rows the deviation and the largest."""
    with open(path, "rb") as file:
        header, positions = array.array("q"), array.array("i")
        header.fromfile(file, 3)
        positions.fromfile(file, header[0] + 1)
    lengths = [after - before for before, after in zip(positions, positions[1:])]
    mean = header[2] / header[0]
    return [*header, math.sqrt(sum((length - mean) ** 2 for length in lengths) / header[0]), max(lengths)]


def record(measured, rows, folder, device):
    """Writes the file of a device: of each case the seconds of proposed schedules, by point and entry. Wrong results are left out."""
    cases = collections.defaultdict(dict)
    for row in rows:
        if row["family"] == "proposed" and row["error"] < 1e-4:
            name = re.match(r"g\d+ (.*\}) of (\S+) ", row["kernel"])
            cases[row["problem"], row["matrix"], row["n"]][f"{name[1]} of {name[2]}"] = float(f"{row['seconds']:.4g}")
    told = {"device": device,
            "matrices": {path.stem: figures_of(path) for path in sorted(folder.glob("*.bin"))},
            "cases": [{"problem": problem, "matrix": matrix, "n": n, "seconds": seconds} for (problem, matrix, n), seconds in cases.items()]}
    measured.write_bytes(gzip.compress(json.dumps(told).encode(), mtime=0))


def predictions(program, device, columns, matrices):
    arguments = [",".join(map(str, [name, *figures])) for name, figures in matrices.items()]
    done = subprocess.run([program, device, ",".join(map(str, columns)), *arguments], stdout=subprocess.PIPE, text=True, check=True)
    out = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        out[row["problem"], row["matrix"], row["n"]][row["point"]] = row["predicted"]
    return out


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def best_fixed(cases):
    """The loss of the one schedule that loses least over all cases."""
    points = set.intersection(*(set(case) for case in cases))
    return min((mean([case[point] / min(case.values()) for case in cases]), point) for point in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=pathlib.Path, nargs="?", default=HERE / "h200.json.gz")
    parser.add_argument("--record", type=pathlib.Path, help="rows that run.py measured")
    parser.add_argument("--matrices", type=pathlib.Path)
    parser.add_argument("--device", help="facts of the device that the driver tells")
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[2] / "build/release/bin")
    parser.add_argument("--worst", type=int, default=0, help="print so many of the worst choices")
    options = parser.parse_args()
    if options.record:
        return record(options.measured, read(options.record), options.matrices, options.device)
    os.environ["PATH"] = f"{options.bin}:{os.environ['PATH']}"
    told = read(options.measured)
    cases = {(case["problem"], case["matrix"], case["n"]): case["seconds"] for case in told["cases"]}
    predicted = predictions(options.bin / "gpu_choice_bench", told["device"], sorted({key[2] for key in cases}), told["matrices"])
    losses, errors = collections.defaultdict(list), []
    for key, times in cases.items():
        known = {point: seconds for point, seconds in predicted.get(key, {}).items() if point in times}
        if not known:
            continue
        chosen, fastest = min(known, key=known.get), min(times, key=times.get)
        losses[key[0], key[2]].append((times[chosen] / times[fastest], key[1], chosen, fastest))
        errors += [seconds / times[point] for point, seconds in known.items()]
    if not losses:
        sys.exit("no measured schedule is predicted: other kernels, or other matrices")
    for (problem, n), rows in sorted(losses.items()):
        fixed = best_fixed([times for key, times in cases.items() if (key[0], key[2]) == (problem, n)])
        worst = max(rows)
        print(f"{problem:6} {n:4}: chosen over fastest {mean([row[0] for row in rows]):.2f}, worst {worst[0]:.2f} ({worst[1]}); "
              f"best fixed one {fixed[0]:.2f} ({fixed[1]}); {len(rows)} matrices")
    for row in sorted((row for rows in losses.values() for row in rows), reverse=True)[:options.worst]:
        print(f"  {row[0]:.2f} {row[1]}: chose {row[2]}, fastest {row[3]}")
    errors.sort()
    print("predicted over measured: 5% of all below {:.2f}, 25% {:.2f}, half {:.2f}, 75% {:.2f}, 95% {:.2f}".format(
        *(errors[len(errors) * part // 20] for part in (1, 5, 10, 15, 19))))
    print(f"all choices over the fastest: {mean([row[0] for rows in losses.values() for row in rows]):.3f}")
    return None


if __name__ == "__main__":
    main()

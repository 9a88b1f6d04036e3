#!/usr/bin/env python3
"""The table of docs/performance/gpu.md, from the rows that run.py measured.

    table.py ROWS.json[.gz]
"""

import math
import pathlib
import sys

import choice
from run import COLUMNS, PROBLEMS, best


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else None


def cell(ratio):
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.995 else f"**{ratio:.2f}**"


def main():
    rows = choice.read(pathlib.Path(sys.argv[1]))
    theirs = best(rows, lambda row: row["family"] == "cusparse")
    ours = best(rows, lambda row: row["family"] == "proposed")
    columns = [(problem, n) for problem in PROBLEMS for n in COLUMNS]
    ratio = {key: theirs[key] / ours[key] for key in theirs if key in ours}
    print("| matrix | " + " | ".join(f"{problem} {n}" if n == COLUMNS[0] else str(n) for problem, n in columns) + " |")
    print("| --- " * (len(columns) + 1) + "|")
    for matrix in sorted({key[1] for key in ratio}):
        print(f"| {matrix} | " + " | ".join(cell(ratio.get((problem, matrix, n))) for problem, n in columns) + " |")
    means = [mean([value for key, value in ratio.items() if (key[0], key[2]) == (problem, n)]) for problem, n in columns]
    print("| geometric mean | " + " | ".join(map(cell, means)) + " |")


if __name__ == "__main__":
    main()

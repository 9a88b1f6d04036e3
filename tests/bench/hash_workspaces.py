#!/usr/bin/env python3
"""Rows of a sparse product gathered in an array or in a hash table, and which of them is chosen.

    tests/bench/hash_workspaces.py [--bin DIR] [--repeat 5] [--rounds 3] [--json FILE]

A(i,j) = B(i,k) * C(k,j), all csr, B 20,000 x 20,000, C with 10^4 to 10^7 columns, 4 to 64 entries in each row of both, drawn with a
fixed seed; one thread; the least seconds of --rounds turns. Each array is 8 bytes and a flag for a column, a table what the longest row needs.
"""

import os
import random
import tempfile

import schaas_runs

ROWS = 20_000
CASES = [(columns, entries) for entries in (4, 16, 64) for columns in (10_000, 100_000, 1_000_000, 10_000_000)]


def write_matrix(path, columns, entries, seed):
    draw = random.Random(seed)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{ROWS} {columns} {ROWS * entries}\n")
        for row in range(ROWS):
            out.writelines(f"{row + 1} {column + 1} 1.5\n" for column in sorted(draw.sample(range(columns), entries)))


def product(options, files, schedule):
    words = [word for name, path in files.items() for word in ("-t", f"{name}={path}", "-f", f"{name}=csr")]
    return schaas_runs.run(options, "A(i,j) = B(i,k) * C(k,j)", "-f", "A=csr", *words, "--threads", 1, "--repeat", options.repeat,
                           "--schedule", schedule, verify=False)


def main():
    options = schaas_runs.parser(__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    figures = []
    print(f"{'columns':>10} {'entries':>8} {'array ms':>10} {'table ms':>10} {'ratio':>6}  chosen")
    with tempfile.TemporaryDirectory() as directory:
        files = {"B": os.path.join(directory, "b.mtx"), "C": os.path.join(directory, "c.mtx")}
        for columns, entries in CASES:
            write_matrix(files["B"], ROWS, entries, 1)
            write_matrix(files["C"], columns, entries, 2)
            least = {"linear": float("inf"), "gather(storage=hash)": float("inf")}
            for _ in range(options.rounds):
                for schedule, before in least.items():
                    least[schedule] = min(before, product(options, files, schedule)["run_seconds"]["min"])
            chosen = product(options, files, "auto")["chosen"]["tree"]
            array, table = least.values()
            print(f"{columns:10} {entries:8} {1e3 * array:10.2f} {1e3 * table:10.2f} {array / table:6.2f}  "
                  f"{'table' if '#' in chosen else 'array'}", flush=True)
            figures.append({"columns": columns, "entries": entries, "array": array, "table": table, "chosen": chosen})
    schaas_runs.write_json(options, figures)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fresh results: what a plain call costs, allocation of the result inside, beside the first and later runs of a bound
computation and beside scipy's plain call, as the number of rows grows.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/fresh_results.py [--bin DIR]
        [--rows 12500,25000,...] [--entries 3] [--rounds 7] [--json FILE]

Matrices have --entries random entries a row, as many columns as rows. Results are csr: a product, a sum, a matrix with scaled
values. One thread, after the server compiled what is best. `first` is the first run of a fresh bound computation, `run` a later one,
which keeps the structure; the least of --rounds, ours and scipy's in turn. Every result is compared with scipy's: exits 1 with the first
that differs.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program
import timing

OPERATIONS = {
    "product": ("A(i,k) = B(i,j) * C(j,k)", "BC", lambda B, C: B @ C),
    "sum": ("A(i,j) = B(i,j) + C(i,j)", "BC", lambda B, C: B + C),
    "scaled": ("A(i,j) = 2 * B(i,j)", "B", lambda B: 2 * B),
}


def check(name, rows, ours, theirs):
    difference = abs(ours - theirs)
    if difference.nnz and difference.max() > 1e-12:
        sys.exit(f"{name}, {rows} rows: the result differs from scipy's by {difference.max()}")


def random_matrix(rows, entries, seed):
    """csr with `entries` distinct sorted columns a row, but where draws coincide."""
    import numpy as np
    import scipy.sparse as sp
    draw = np.random.default_rng(seed)
    matrix = sp.csr_matrix((draw.random(rows * entries) + 0.5, draw.integers(0, rows, rows * entries).astype(np.int32),
                            np.arange(0, rows * entries + 1, entries, dtype=np.int32)), shape=(rows, rows))
    matrix.sum_duplicates()
    return matrix


def measure(name, rows, options):
    import schaas
    expression, operands, theirs = OPERATIONS[name]
    given = {operand: random_matrix(rows, options.entries, seed) for seed, operand in enumerate(operands)}
    f = schaas.kernel(expression, A="csr")
    check(name, rows, f(**given, threads=1), theirs(*given.values()))
    timing.settle(f, given, 1, options.settle)
    return timing.in_turns(f, given, lambda: theirs(*given.values()), options.rounds, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--rows", default="12500,25000,50000,100000,200000,400000,800000")
    parser.add_argument("--entries", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--settle", type=float, default=60, help="most seconds to wait for the server's best kernel")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = []
    with program.asked(options.bin):
        for name in OPERATIONS:
            print(f"{OPERATIONS[name][0]}, {options.entries} entries a row; ms\n"
                  f"{'rows':>8} {'call':>9} {'first':>9} {'run':>9} {'scipy':>9} {'first/run':>10} {'scipy/call':>11} {'call, ns a row':>15}")
            for rows in map(int, options.rows.split(",")):
                found = measure(name, rows, options)
                figures.append({"operation": name, "rows": rows, **found})
                print(f"{rows:8} {found['call']:9.2f} {found['first']:9.2f} {found['run']:9.2f} {found['scipy']:9.2f} "
                      f"{found['first'] / found['run']:10.2f} {found['scipy'] / found['call']:11.2f} {found['call'] * 1e6 / rows:15.0f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()

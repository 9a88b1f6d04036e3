#!/usr/bin/env python3
"""Products with a symmetric matrix of which one triangle is stored, beside general ones.

    symmetric.py [--bin DIR] [--side 90] [--freedoms 1] [--threads 1] [--rounds 9]        needs numpy and scipy

The matrix is that of a finite-element mesh: side^3 nodes in the order of the grid, each with its 26 neighbours and itself. `triangle` stores what lies below
the diagonal, and the diagonal as a vector; `whole` stores every entry. Bound computations by turns with scipy's product on one thread,
medians in milliseconds; every result is compared with scipy's.
"""

import argparse
import pathlib
import statistics
import sys

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program
import timing

TRIANGLE = "y(i) = L(i,j) * x(j) + L(j,i) * x(j) + d(i) * x(i)"
WHOLE = "y(i) = B(i,j) * x(j)"


def mesh(side, freedoms):
    """What lies below the diagonal, with random values, and the diagonal."""
    line = sp.diags([np.ones(side - 1), np.ones(side), np.ones(side - 1)], [-1, 0, 1])
    pattern = sp.kron(sp.kron(sp.kron(line, line), line), np.ones((freedoms, freedoms)), format="csr")
    lower = sp.tril(pattern, -1, format="csr")
    lower.data = np.random.default_rng(1).standard_normal(lower.nnz)
    return lower, np.arange(1.0, pattern.shape[0] + 1) / pattern.shape[0]


def check(ours, theirs):
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if error > 40 * np.finfo(theirs.dtype).eps:
        sys.exit(f"the results differ from scipy's by {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--side", type=int, default=90)
    parser.add_argument("--freedoms", type=int, default=1, help="unknowns of a node")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--settle", type=float, default=10, help="seconds in which the server compiles the rest")
    options = parser.parse_args()
    lower, diagonal = mesh(options.side, options.freedoms)
    matrix = sp.csr_matrix(lower + lower.T + sp.diags(diagonal))
    print(f"{matrix.shape[0]:,} rows, {matrix.nnz:,} entries, {options.threads} threads, ms\n{'':8} {'triangle':>9} {'whole':>9} {'scipy':>9} "
          f"{'whole/triangle':>15} {'scipy/triangle':>15}")
    with program.asked(options.bin):
        import schaas
        for dtype in (np.float64, np.float32):
            x = np.random.default_rng(2).standard_normal(matrix.shape[0]).astype(dtype)
            b = matrix.astype(dtype)
            sides = {}
            for name, text, operands in (("triangle", TRIANGLE, dict(L=lower.astype(dtype), d=diagonal.astype(dtype), x=x)),
                                         ("whole", WHOLE, dict(B=b, x=x))):
                kernel = schaas.kernel(text, **{next(iter(operands)): "csr"})
                timing.settle(kernel, operands, options.threads, options.settle)
                sides[name] = kernel.bind(**operands, threads=options.threads)
                check(sides[name](), b @ x)
            sides["scipy"] = lambda b=b, x=x: b @ x
            times = {name: [] for name in sides}
            for _ in range(options.rounds):
                for name, run in sides.items():
                    times[name].append(timing.milliseconds(run)[0])
            triangle, whole, scipy = (statistics.median(times[name]) for name in sides)
            print(f"{np.dtype(dtype).name:8} {triangle:9.2f} {whole:9.2f} {scipy:9.2f} {whole / triangle:15.2f} {scipy / triangle:15.2f}", flush=True)


if __name__ == "__main__":
    main()

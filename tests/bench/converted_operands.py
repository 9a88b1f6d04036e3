#!/usr/bin/env python3
"""Matrices that are converted before a kernel reads them: `y(i) = B(i,j) * x(j)`, plain calls beside scipy's, one thread.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/converted_operands.py [--bin DIR] [--rows 20000]
        [--seconds 0.5] [CASE ...]

Milliseconds. `same`: the same matrix at each call, its conversion is kept. `changed`: a value changes before each call, so that all is converted
anew; scipy reads the matrix as it is. `sorted list` needs no conversion.
"""

import random

import beside_scipy


def matrices(rows):
    import numpy as np
    import scipy.sparse as sp
    draw = np.random.default_rng(5)
    by_rows = beside_scipy.random_rows(1, rows, rows, 5)
    entries = by_rows.tocoo()
    order = draw.permutation(entries.nnz)
    return {
        "sorted list": entries,
        "list in disorder": sp.coo_matrix((entries.data[order], (entries.row[order], entries.col[order])), shape=entries.shape),
        "blocks of 2 x 2": by_rows.tobsr((2, 2)),
        "three diagonals": sp.dia_matrix(sp.diags([draw.random(rows - 1), draw.random(rows), draw.random(rows - 1)], [-1, 0, 1])),
    }


def main():
    parser = beside_scipy.parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=20000)
    options = parser.parse_args()
    import numpy as np
    import schaas
    f, x = schaas.kernel("y(i) = B(i,j) * x(j)"), np.random.default_rng(6).random(options.rows)
    with beside_scipy.program.asked(options.bin):
        print(f"{'':20} {'same':>9} {'changed':>9} {'scipy':>9} {'scipy/same':>11} {'scipy/changed':>14}")
        known = matrices(options.rows)
        for name in options.cases or known:
            matrix = known[name]

            def call():
                return f(B=matrix, x=x, threads=1)

            def changed():
                matrix.data.flat[-1] = random.random()
                return call()

            beside_scipy.timing.settle(f, dict(B=matrix, x=x), 1, options.settle)
            for result in (changed(), call(), call(), call()):
                if not beside_scipy.equal(result, matrix @ x):
                    raise SystemExit(f"{name}: wrong")
            anew = beside_scipy.medians_ms([changed], options.seconds)[0]
            same, scipy = beside_scipy.medians_ms([call, lambda: matrix @ x], options.seconds)
            print(f"{name:20} {same:9.3f} {anew:9.3f} {scipy:9.3f} {scipy / same:11.2f} {scipy / anew:14.2f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Steps of graph searches beside scipy, plain calls on one thread, by the share of vertices that are marked.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/graph_search.py [--bin DIR] [--rows 20000]
        [--entries 10] [--seconds 0.5] [CASE ...]

Milliseconds, and scipy's over ours. `forward` follows the edges of marked vertices, `backward` looks for a marked neighbour of those that are not
marked, `counts` adds 64-bit integers along the edges of marked vertices. A vertex is marked at random.
"""

import beside_scipy


def cases(b):
    """By name: expression, matrix, and what scipy does with the marked vertices."""
    import numpy as np
    integers = b.astype(np.int64)
    return {
        "forward": ("or-and: y(j) = x(i) * B(i,j) * not(v(j))", b, lambda x, v: ((b.T @ x > 0) & (v == 0)) * 1.0),
        "backward": ("or-and: y(i) = not(x(i)) * B(i,j) * x(j)", b, lambda x, v: ((b @ x > 0) & (x == 0)) * 1.0),
        "counts": ("y(j) = x(i) * B(i,j)", integers, lambda x, v: integers.T @ x),
    }


def main():
    parser = beside_scipy.parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--entries", type=int, default=10, help="of a row (default: 10)")
    options = parser.parse_args()
    import numpy as np
    import schaas
    draw = np.random.default_rng(7)
    b = beside_scipy.random_rows(1, options.rows, options.rows, options.entries)
    b.data[:] = 1
    with beside_scipy.program.asked(options.bin):
        print(f"{'':10} {'marked':>8} {'schaas':>9} {'scipy':>9} {'scipy/schaas':>13}")
        known = cases(b)
        for name in options.cases or known:
            expression, matrix, theirs = known[name]
            f = schaas.kernel(expression)
            for share in (1, 0.5, 0.1, 0.01, 0.001):
                x, v = ((draw.random(options.rows) < share).astype(matrix.dtype) for _ in range(2))
                given = dict(B=matrix, x=x, **({"v": v} if "v(" in expression else {}))

                def ours():
                    return f(threads=1, **given)

                beside_scipy.timing.settle(f, given, 1, options.settle)
                if not beside_scipy.equal(ours(), theirs(x, v)):
                    raise SystemExit(f"{name}: wrong")
                own, other = beside_scipy.medians_ms([ours, lambda: theirs(x, v)], options.seconds)
                print(f"{name:10} {share:8.3f} {own:9.3f} {other:9.3f} {other / own:13.2f}", flush=True)


if __name__ == "__main__":
    main()

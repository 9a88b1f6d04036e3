#!/usr/bin/env python3
"""Calls of varying sizes from an empty database: the ten slowest, beside the median of calls of the same sizes.

    tests/bench/calls_bench.py [--calls 200] [--threads 0] [--seed 1]

A private server of its own is started. Each call takes the best kernel at hand, while the search goes on and kernels are compiled
beside it. Exits 1 when a call after the first takes more than 5 times the median of its class of sizes. Run it on a quiet machine.
"""

import argparse
import collections
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

ROWS, WIDTHS = (200, 400, 800, 1600, 3000), (4, 16, 64)


def calls(options):
    """(seconds, class of sizes) of each call."""
    import schaas
    f = schaas.kernel("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)")
    random = np.random.default_rng(options.seed)
    for number in range(options.calls):
        n, k, l = int(random.choice(ROWS)), int(random.choice(WIDTHS)), int(random.choice(WIDTHS))
        b = sp.random(n, n, 10 / n, format="csr", random_state=number)
        c, d, e = random.random((n, k)), random.random((n, k)), random.random((n, l))
        start = time.perf_counter()
        result = f(b, c, d, e, threads=options.threads)
        yield time.perf_counter() - start, (n, k, l)
        if not np.allclose(result, b.multiply(c @ d.T) @ e):
            sys.exit(f"call {number} is wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as state:
        for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
            os.environ[variable] = os.path.join(state, variable.lower())
            os.makedirs(os.environ[variable])
        made = list(calls(options))
    classes = collections.defaultdict(list)
    for seconds, sizes in made[1:]:
        classes[sizes].append(seconds)
    medians = {sizes: statistics.median(seconds) for sizes, seconds in classes.items()}
    print(f"first call {1e3 * made[0][0]:.1f} ms; median of the others {1e3 * statistics.median(s for s, _ in made[1:]):.2f} ms")
    rows = sorted(((seconds / medians[sizes], seconds, number, sizes) for number, (seconds, sizes) in enumerate(made) if number), reverse=True)
    print(f"{'call':>5} {'n':>5} {'k':>3} {'l':>3} {'ms':>8} {'of the median':>14}")
    for ratio, seconds, number, (n, k, l) in rows[:10]:
        print(f"{number:5} {n:5} {k:3} {l:3} {1e3 * seconds:8.2f} {ratio:14.1f}")
    return 1 if rows[0][0] > 5 else 0


if __name__ == "__main__":
    sys.exit(main())

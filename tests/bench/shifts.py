#!/usr/bin/env python3
"""Stencils and convolutions as products over sums of indices, beside scipy.ndimage and numpy; one thread, kept results.

    shifts.py [--length 4000000] [--side 1500] [--rounds 5]

Needs numpy, scipy and a build: SCHAAS_LIBRARY, PYTHONPATH and schaasd on PATH. All take turns in one run, and each round has its least time.
"""

import argparse
import statistics

import numpy as np
import scipy.ndimage

import schaas

from timing import least_milliseconds


def cases(random, length, side):
    """(name, statement, operands, extents, numpy's or scipy's work)."""
    x, w = random.random(length), random.random(3)
    yield "3 points", "A(i) = B(i+k-1) * w(k)", {"B": x, "w": w}, {"i": length}, lambda: scipy.ndimage.correlate1d(x, w, mode="constant")
    image, v = random.random((side, side)), random.random((5, 5))
    yield ("5 x 5 points", "A(i,j) = B(i+k-2,j+l-2) * v(k,l)", {"B": image, "v": v}, {"i": side, "j": side},
           lambda: scipy.ndimage.correlate(image, v, mode="constant"))
    sparse = np.where(random.random(length // 40) < 0.01, 1.0, 0.0)
    u = random.random(9)
    at = np.nonzero(sparse)
    stored = schaas.tensor(list(at), sparse[at], sparse.shape, "compressed")
    for name, given in (("9 points", sparse), ("9 points, one of a hundred stored", stored)):
        yield (name, "A(i) = w(k) * B(i-k)", {"B": given, "w": u}, {"i": sparse.size + 8}, lambda: np.convolve(sparse, u))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=4_000_000)
    parser.add_argument("--side", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name, statement, operands, extents, theirs in cases(np.random.default_rng(5), options.length, options.side):
        run = schaas.kernel(statement, patience=120).bind(**operands, extents=extents, threads=1)
        np.testing.assert_allclose(run(), theirs())
        rounds = [(least_milliseconds(run, 3), least_milliseconds(theirs, 3)) for _ in range(options.rounds)]
        print(f"{name}: ours {min(one for one, _ in rounds):.2f} ms, theirs {min(other for _, other in rounds):.2f} ms, "
              f"theirs over ours {statistics.median(other / one for one, other in rounds):.2f}", flush=True)


if __name__ == "__main__":
    main()

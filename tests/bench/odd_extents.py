#!/usr/bin/env python3
"""Products at extents that are no multiple of a vector register, and products with a vector, beside scipy; one thread, kept results.

    odd_extents.py --data DIR [--matrices bcsstk16,pubmed,email-Enron] [--seconds 0.2]

Needs numpy, scipy and a build: SCHAAS_LIBRARY, PYTHONPATH and schaasd on PATH. Each line: time, time for each column, and scipy's time
over ours; a cliff is a line whose time for a column is far above that of its neighbours.
"""

import argparse
import pathlib
import time

import numpy as np
import scipy.io

import schaas

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 150]


def least_seconds(run, seconds):
    run()
    least, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - begin)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="where matrices/ lies")
    parser.add_argument("--matrices", default="bcsstk16,pubmed,email-Enron")
    parser.add_argument("--seconds", type=float, default=0.2)
    options = parser.parse_args()
    vector = schaas.kernel("y(i) = B(i,j) * x(j)", B="csr", patience=120)
    product = schaas.kernel("C(i,k) = B(i,j) * D(j,k)", B="csr", patience=120)
    sampled = schaas.kernel("A(i,j) = B(i,j) * C(i,k) * D(j,k)", A="csr", B="csr", patience=120)
    random = np.random.default_rng(20261126)
    for name in options.matrices.split(","):
        b = scipy.io.mmread(options.data / "matrices" / f"{name}.mtx.gz").tocsr().astype(np.float64)
        b.sort_indices()
        x = random.random(b.shape[1])
        ours = least_seconds(vector.bind(B=b, x=x, threads=1), options.seconds)
        theirs = least_seconds(lambda: b @ x, options.seconds)
        print(f"{name}: {b.shape[0]} rows, {b.nnz} entries; with a vector {1e6 * ours:.0f} us, scipy over ours {theirs / ours:.2f}")
        for extent in EXTENTS:
            c, d = random.random((b.shape[0], extent)), random.random((b.shape[1], extent))
            ours = least_seconds(product.bind(B=b, D=d, threads=1), options.seconds)
            theirs = least_seconds(lambda: b @ d, options.seconds)
            samples = least_seconds(sampled.bind(B=b, C=c, D=d, threads=1), options.seconds)
            print(f"{extent:5} columns: SpMM {1e6 * ours:7.0f} us, {1e6 * ours / extent:6.1f} a column, scipy over ours {theirs / ours:5.2f}; "
                  f"SDDMM {1e6 * samples:7.0f} us, {1e6 * samples / extent:6.1f} a column", flush=True)


if __name__ == "__main__":
    main()

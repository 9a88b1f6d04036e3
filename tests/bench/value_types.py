#!/usr/bin/env python3
"""Products of a random sparse matrix with a dense one, in each value type beside f64, by the bytes that each moves, and beside scipy where it
has the type; one thread, kept results.

    value_types.py [--rows 400000] [--degree 8] [--columns 1,16,64] [--rounds 5]

Needs numpy, scipy and a build: SCHAAS_LIBRARY, PYTHONPATH and schaasd on PATH. A type as fast as its bytes has `time over bytes` 1. Types take
turns, and each round has its least time.
"""

import argparse
import statistics

import numpy as np
import scipy.sparse as sp

import schaas

from timing import least_milliseconds

TYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "bf16": np.float32, "f16": np.float32, "i16": np.int16,
         "i8": np.int8, "bool": np.bool_, "c128": np.complex128, "c64": np.complex64}  # operands as they are given


def random_matrix(random, rows, degree):
    columns = np.sort(random.integers(0, rows, (rows, degree), np.int32), axis=1)
    return sp.csr_matrix((np.ones(rows * degree), columns.ravel(), np.arange(0, rows * degree + 1, degree, np.int32)), (rows, rows))


def bytes_moved(matrix, columns, name):
    width, result = {"bf16": (2, 4), "f16": (2, 4)}.get(name, (np.dtype(TYPES[name]).itemsize,) * 2)
    return matrix.nnz * (4 + width) + matrix.nnz * columns * width + matrix.shape[0] * columns * result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--degree", type=int, default=8)
    parser.add_argument("--columns", default="1,16,64")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    random = np.random.default_rng(20261126)
    pattern = random_matrix(random, options.rows, options.degree)
    pattern.sum_duplicates()
    for columns in map(int, options.columns.split(",")):
        runs, scipys = {}, {}
        for name, dtype in TYPES.items():
            parts = [random.integers(1, 9, pattern.nnz) for _ in range(2)]
            b = sp.csr_matrix(((parts[0] + 1j * parts[1] if name[0] == "c" else parts[0]).astype(dtype), pattern.indices, pattern.indptr), pattern.shape)
            d = random.integers(-8, 9, (pattern.shape[1], columns)).astype(dtype)
            kernel = schaas.kernel("C(i,k) = B(i,j) * D(j,k)", B="csr", dtype=name, patience=120)
            wanted = b @ d
            ours = {"B": b, "D": d}
            if name in ("bf16", "f16"):  # scipy has neither: it computes with the same numbers as f32
                ours = {"B": schaas.tensor(np.array(b.nonzero()), b.data, b.shape, "csr", dtype=name),
                        "D": schaas.bfloat16(d) if name == "bf16" else d.astype(np.float16)}
            runs[name] = kernel.bind(**ours, threads=1)
            assert np.array_equal(runs[name](), wanted)
            if name not in ("bf16", "f16"):
                scipys[name] = lambda b=b, d=d: b @ d
        for name, run in scipys.items():
            both = [(least_milliseconds(runs[name], 3), least_milliseconds(run, 3)) for _ in range(options.rounds)]
            ours, theirs = map(min, zip(*both))
            ratio = statistics.median(there / here for here, there in both)
            print(f"{columns:4} columns, {name}: {ours:8.2f} ms, scipy {theirs:8.2f} ms, scipy over ours {ratio:5.2f}", flush=True)
        rounds = [{name: least_milliseconds(run, 3) / 1e3 for name, run in runs.items()} for _ in range(options.rounds)]
        plain = bytes_moved(pattern, columns, "f64")
        for name in TYPES:
            least = min(one[name] for one in rounds)
            ratio = statistics.median(one[name] / one["f64"] for one in rounds)
            share = bytes_moved(pattern, columns, name) / plain
            print(f"{columns:4} columns, {name}: {1e3 * least:8.2f} ms, time over f64's {ratio:5.2f}, bytes over f64's {share:5.2f}, "
                  f"time over bytes {ratio / share:5.2f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Plain calls beside bound runs and beside scipy's plain calls, allocation of the result inside both calls.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/calls.py [--bin DIR] [--entries 100000]
        [--rounds 40] [--threads 1] [--json FILE] [CASE ...]

Operands have --entries random entries, 5 a row. `run` is a bound computation run again, without the copy that Python makes of its
sparse results; `call - run` is what a call costs beside the kernel, `allowed` 40 microseconds and a tenth of the run. Sparse results
keep their structure in a run, and are made anew in a call: for them the difference holds the work of finding the structure, and
`first`, the first run of a fresh bound computation, is what the call is compared with. Least of --rounds, ours and scipy's in
turns; every result is compared with scipy's. Marks: `!` the call takes longer than allowed, `<` than scipy where the run does not.
"""

import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program
import timing


def cases(entries):
    """By name: expression, formats, operands, what scipy does."""
    import numpy as np
    import scipy.sparse as sp
    rows = entries // 5
    draw = np.random.default_rng(1)

    def matrix(seed):
        draw = np.random.default_rng(seed)
        made = sp.csr_matrix((draw.random(5 * rows) + 0.5, draw.integers(0, rows, 5 * rows).astype(np.int32),
                              np.arange(0, 5 * rows + 1, 5, dtype=np.int32)), shape=(rows, rows))
        made.sum_duplicates()
        return made
    b, c = matrix(1), matrix(2)
    x, y, dense = draw.random(rows), draw.random(rows), draw.random((rows, 16))
    wide = sp.csr_matrix((b.data, b.indices.astype(np.int64), b.indptr.astype(np.int64)), b.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    coo, csc = b.tocoo(), b.tocsc()
    return {
        "spmv": ("y(i) = B(i,j) * x(j)", {}, dict(B=b, x=x), lambda: b @ x),
        "spmv int64": ("y(i) = B(i,j) * x(j)", {}, dict(B=wide, x=x), lambda: wide @ x),
        "spmv csc": ("y(i) = B(i,j) * x(j)", {}, dict(B=csc, x=x), lambda: csc @ x),
        "spmv coo": ("y(i) = B(i,j) * x(j)", {}, dict(B=coo, x=x), lambda: coo @ x),
        "spmv transposed": ("y(j) = B(i,j) * x(i)", {}, dict(B=b, x=x), lambda: b.T @ x),
        "spmm": ("Y(i,k) = B(i,j) * X(j,k)", {}, dict(B=b, X=dense), lambda: b @ dense),
        "residual": ("r(i) = b(i) - B(i,j) * x(j)", {}, dict(B=b, x=x, b=y), lambda: y - b @ x),
        "quadratic form": ("s = x(i) * B(i,j) * y(j)", {}, dict(B=b, x=x, y=y), lambda: x @ (b @ y)),
        "row sums": ("y(i) = B(i,j)", {}, dict(B=b), lambda: b.sum(axis=1).A1),
        "inner product": ("s = B(i,j) * C(i,j)", {}, dict(B=b, C=c), lambda: b.multiply(c).sum()),
        "scaled": ("A(i,j) = 2 * B(i,j)", dict(A="csr"), dict(B=b), lambda: 2 * b),
        "scaled rows": ("A(i,j) = x(i) * B(i,j)", dict(A="csr"), dict(B=b, x=x), lambda: sp.diags(x) @ b),
        "sum": ("A(i,j) = B(i,j) + C(i,j)", dict(A="csr"), dict(B=b, C=c), lambda: b + c),
        "elementwise": ("A(i,j) = B(i,j) * C(i,j)", dict(A="csr"), dict(B=b, C=c), lambda: b.multiply(c)),
        "product": ("A(i,k) = B(i,j) * C(j,k)", dict(A="csr"), dict(B=b, C=c), lambda: b @ c),
    }


def check(name, ours, theirs):
    import numpy as np
    ours, theirs = (found.toarray() if hasattr(found, "toarray") else np.asarray(found) for found in (ours, theirs))
    if not np.allclose(ours, theirs, rtol=1e-9):
        sys.exit(f"{name}: the result differs from scipy's")


def measure(name, case, options):
    import schaas
    expression, formats, operands, theirs = case
    f = schaas.kernel(expression, **formats)
    call = lambda: f(**operands, threads=options.threads)
    check(name, call(), theirs())
    time.sleep(options.settle)  # better kernels are taken between calls
    for _ in range(3):
        call()
    kept = f.bind(**operands, threads=options.threads)
    kept()
    return timing.in_turns(f, operands, theirs, options.rounds, options.threads, kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--entries", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--settle", type=float, default=4, help="seconds in which the server compiles the rest")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = []
    with program.asked(options.bin):
        known = cases(options.entries)
        print(f"{options.entries} entries, {options.threads} threads, ms\n{'':16} {'call':>8} {'run':>8} {'first':>8} {'scipy':>8} {'call - run':>11} "
              f"{'allowed':>8} {'scipy/call':>11} {'scipy/run':>10}")
        for name in options.cases or known:
            found = measure(name, known[name], options)
            figures.append({"case": name, **found})
            sparse = "A" in known[name][1]
            base = found["first"] if sparse else found["run"]
            beside, allowed = found["call"] - base, 0.04 + 0.1 * base
            marks = ("!" if beside > allowed else "") + ("<" if found["run"] < found["scipy"] < found["call"] else "")
            print(f"{name:16} {found['call']:8.3f} {found['run']:8.3f} {found['first']:8.3f} {found['scipy']:8.3f} {beside:11.3f} {allowed:8.3f} "
                  f"{found['scipy'] / found['call']:11.2f} {found['scipy'] / found['run']:10.2f} {marks}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()

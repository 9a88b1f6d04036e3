#!/usr/bin/env python3
"""Products of CuPy's and torch's arrays on a real GPU: right, where they lie, and in what time beside CuPy's and torch's own.

    on_device_test.py [--seconds 120] [--only TEXT] [--json FILE]

Needs a device, numpy, scipy, CuPy, a build (SCHAAS_LIBRARY, PYTHONPATH, schaasd on PATH) and the CUDA toolkit. Exit status 77: one of them is
missing here. Each row tells the plain call and the bound run beside the opponent's plain call; the median of runs, each synchronised.
"""

import argparse
import faulthandler
import json
import statistics
import sys
import time
import traceback

try:
    import numpy as np
    import scipy.sparse as sp

    import schaas
    import cupy
    import cupyx.scipy.sparse as cusparse
    cupy.cuda.runtime.getDeviceCount()
except Exception as error:  # noqa: BLE001: each way to have no device is a reason to skip
    print(f"SKIP: {error}")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

RANDOM = np.random.default_rng(20261126)


def matrix(rows, columns, density, dtype, skewed=False):
    made = sp.random(rows, columns, density, format="csr", dtype=dtype, random_state=RANDOM)
    if skewed:
        full = sp.csr_matrix(np.ones((1, columns), dtype))
        made = sp.vstack([made[:-1], full], format="csr").astype(dtype)
    made.sort_indices()
    return made


def dense(*shape, dtype):
    return RANDOM.random(shape).astype(dtype)


def median_seconds(run, seconds=0.3):
    run()
    cupy.cuda.Device().synchronize()
    times, start = [], time.perf_counter()
    while len(times) < 5 or (len(times) < 200 and time.perf_counter() - start < seconds):
        begin = time.perf_counter()
        run()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def csr_there(host):
    return cusparse.csr_matrix(host)


def host_of(result):
    if hasattr(result, "get"):
        result = result.get()
    elif torch is not None and isinstance(result, torch.Tensor):
        result = result.cpu().numpy()
    return result if sp.issparse(result) else np.asarray(result)


def error_of(made, wanted):
    """The largest difference over the largest element. Sparse results stay sparse: a dense one of 100,000 rows takes 40 GB."""
    if sp.issparse(wanted) != sp.issparse(made) or wanted.shape != made.shape:
        return float("inf")
    difference = abs(made - wanted)
    return float(difference.max() / max(1.0, abs(wanted).max()))


def products():
    """Name, expression, formats, operands there, the expected result, and the opponent's call or None."""
    for dtype in (np.float32, np.float64):
        short = "f32" if dtype is np.float32 else "f64"
        for shape, density, skewed, label in (((40, 30), 0.2, False, "tiny"), ((4000, 3000), 0.003, True, "one full row"),
                                              ((100_000, 100_000), 1e-4, False, "1e6 entries")):
            host = matrix(*shape, density, dtype, skewed)
            a = csr_there(host)
            x = dense(shape[1], dtype=dtype)
            there = cupy.asarray(x)
            yield (f"spmv {short}, {label}", "y(i) = A(i,j) * x(j)", {}, {"A": a, "x": there}, lambda h=host, x=x: h @ x,
                   lambda a=a, x=there: a @ x)
            for n in (1, 5, 64):
                b = dense(shape[1], n, dtype=dtype)
                there = cupy.asarray(b)
                yield (f"spmm {n} {short}, {label}", "C(i,k) = A(i,j) * B(j,k)", {}, {"A": a, "B": there}, lambda h=host, b=b: h @ b,
                       lambda a=a, b=there: a @ b)
            p, q = dense(shape[0], 16, dtype=dtype), dense(shape[1], 16, dtype=dtype)

            def sampled(h=host, p=p, q=q):
                rows, columns = h.nonzero()
                return sp.csr_matrix((np.einsum("ek,ek->e", p[rows], q[columns]) * h.data, h.indices, h.indptr), h.shape)
            yield (f"sddmm 16 {short}, {label}", "Y(i,j) = A(i,j) * P(i,k) * Q(j,k)", {"Y": "csr"},
                   {"A": a, "P": cupy.asarray(p), "Q": cupy.asarray(q)}, sampled, None)
    if torch is None:
        return
    host = matrix(20_000, 20_000, 5e-4, np.float32)
    a = torch.sparse_csr_tensor(torch.from_numpy(host.indptr), torch.from_numpy(host.indices), torch.from_numpy(host.data),
                                host.shape).cuda()
    for n in (16, 128):
        b = dense(20_000, n, dtype=np.float32)
        there = torch.from_numpy(b).cuda()
        yield (f"torch spmm {n} f32", "C(i,k) = A(i,j) * B(j,k)", {}, {"A": a, "B": there}, lambda h=host, b=b: h @ b,
               lambda a=a, b=there: a @ b)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--json")
    options = parser.parse_args()
    faulthandler.enable()
    faulthandler.dump_traceback_later(options.seconds + 30, exit=True)
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, driver {cupy.cuda.runtime.driverGetVersion()}, CuPy {cupy.__version__}, torch {torch and torch.__version__}")
    start, rows, bad = time.monotonic(), [], 0
    kernels = {}
    for label, expression, formats, operands, expected, opponent in products():
        if options.only not in label:
            continue
        if time.monotonic() - start > options.seconds:
            print("out of time")
            break
        try:
            key = (expression, label.split(",")[0].split()[-1])
            first = time.perf_counter()
            kernel = kernels.setdefault(key, schaas.kernel(expression, patience=60, **formats))
            made = kernel(**operands)
            first = time.perf_counter() - first
            wanted = host_of(expected())
            error = error_of(host_of(made), wanted)
            limit = 1e-4 if "f32" in label else 1e-10
            bound = kernel.bind(**operands)
            told = bound.describe()
            row = {"case": label, "error": error, "right": error < limit, "isa": told["isa"], "schedule": told.get("schedule"),
                   "result": type(made).__module__, "first": first, "call": median_seconds(lambda: kernel(**operands)),
                   "run": median_seconds(bound), "opponent": median_seconds(opponent) if opponent else None}
            if "spmm 64 f32, 1e6" in label or "torch spmm 128" in label:
                row["tuned"] = kernel.tune(**operands)
        except Exception as failure:  # noqa: BLE001: every case is told
            traceback.print_exc()
            row = {"case": label, "right": False, "failure": repr(failure)}
        rows.append(row)
        bad += not row["right"]
        print(json.dumps(row, default=str), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, default=str)
    print(f"{len(rows)} products, {bad} wrong")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

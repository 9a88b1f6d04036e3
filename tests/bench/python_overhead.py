"""What Python costs: import, first and second call, and a tiny kernel by its ways in. Prints one line each; least of several.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so.0 PYTHONPATH=client/python python3 tests/bench/python_overhead.py build/release/bin
"""

import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program

PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin").resolve()


def least(what, run, rounds=15, calls=400):
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        best = min(best, (time.perf_counter() - start) / calls)
    print(f"{what:52} {best * 1e6:9.2f} us")
    return best


def seconds(text):
    return min(float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout) for _ in range(5))


def main():
    with program.asked(PROGRAMS):
        clock = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
        print(f"{'import numpy, scipy.sparse':52} {seconds(clock.format('numpy, scipy.sparse')) * 1e3:9.2f} ms")
        print(f"{'import schaas (numpy with it)':52} {seconds(clock.format('schaas')) * 1e3:9.2f} ms")
        import numpy as np
        import scipy.sparse as sp
        import schaas
        from schaas import _library
        b = sp.random(50, 40, 0.1, format="csr", random_state=1)
        c = np.random.default_rng(1).random((40, 8))
        out = np.empty((50, 8))
        for name in ("the first call ever: search and compile", "the first call of a kernel that is known"):
            start = time.perf_counter()
            f = schaas.kernel("A[i,k] = B[i,j]*C[j,k]")
            f(B=b, C=c)
            print(f"{name:52} {(time.perf_counter() - start) * 1e3:9.2f} ms")
        start = time.perf_counter()
        f(B=b, C=c)
        print(f"{'the second call':52} {(time.perf_counter() - start) * 1e6:9.2f} us")
        kept = f(B=b, C=c)  # what the calls below write to
        arguments, frame = f._prepared[-1]._arguments, f._prepared[-1].frame
        below = least("the C interface alone (schaas_compute)", lambda: _library.api.schaas_compute(*arguments))
        assert np.allclose(kept, b @ c)
        above = least("a call, f(B=b, C=c)", lambda: f(B=b, C=c))
        print(f"{'  so Python costs':52} {(above - below) * 1e6:9.2f} us")
        d = np.random.default_rng(2).random((40, 4))
        least("two calls, of different shapes", lambda: (f(B=b, C=c), f(B=b, C=d)), calls=200)
        step = f.bind(B=b, C=c, out=out)
        running = (step._handle, frame.error_address)
        below = least("the C interface alone, bound (schaas_run)", lambda: _library.api.schaas_run(*running))
        above = least("a bound call, step()", step)
        print(f"{'  so Python costs':52} {(above - below) * 1e6:9.2f} us")
        least("scipy, b @ c", lambda: b @ c)
        g = schaas.kernel("A[i,j] = 2 * B[i,j]", A="csr")
        assert abs(g(B=b) - 2 * b).max() == 0
        least("a call with a sparse result, g(B=b)", lambda: g(B=b))
        least("scipy, 2 * b", lambda: 2 * b)


if __name__ == "__main__":
    main()

"""Default threads beside processes that spin: the five worked examples (docs/examples) with default threads and with `threads=1`, in
turns in one process, on a quiet machine and beside two and eight spinning processes. Prints seconds a call and their ratios.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so.0 PYTHONPATH=client/python python3 tests/bench/busy_machine.py build/release/bin

Ratios are of mean times, stalls included, over `--rounds` rounds of `--seconds` each. Exit status 1 when one beside spinners is above
`--limit`.
"""

import argparse
import contextlib
import importlib
import io
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/service"), str(ROOT / "docs/examples")]
import schaas_program as program

EXAMPLES = ["graph_attention", "cp_als", "tucker", "triangles", "shortest_paths"]


class OfThreads:
    """Stands for `schaas.kernel`: waits for the final kernels, and what it binds has so many threads; 0: the default."""

    def __init__(self, kernel, threads):
        self.kernel, self.threads = kernel, threads

    def __call__(self, *words, **options):
        self.made = self.kernel(*words, patience=60, **options)
        return self

    def bind(self, **operands):
        return self.made.bind(**operands, threads=self.threads)


def captured(name, threads):
    """What the example times: a call of its `ours`."""
    import comparison
    import schaas
    found = []

    def keep(name, ours, theirs, repeat, tolerance=0):
        found.append(ours)
        return 1.0
    kernel, compare, words = schaas.kernel, comparison.compare, sys.argv
    schaas.kernel, comparison.compare, sys.argv = OfThreads(kernel, threads), keep, [name]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(name).main()
    finally:
        schaas.kernel, comparison.compare, sys.argv = kernel, compare, words
    found[0]()
    return found[0]


def times(call, seconds):
    taken, end = [], time.perf_counter() + seconds
    while not taken or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return taken


@contextlib.contextmanager
def spinners(count):
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.3 if count else 0)
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def mean(taken):
    return sum(taken) / len(taken)


def measure(examples, options):
    """Rows of (example, spinners, mean and median of default threads, the same of one)."""
    calls = {name: (captured(name, 0), captured(name, 1)) for name in examples}
    for count in options.spinners:
        with spinners(count):
            for name, pair in calls.items():
                taken = [], []
                for _ in range(options.rounds):
                    for call, into in zip(pair, taken):
                        into += times(call, options.seconds)
                yield name, count, [(mean(one), sorted(one)[len(one) // 2]) for one in taken]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="?", default="build/release/bin", type=pathlib.Path)
    parser.add_argument("--examples", nargs="+", choices=EXAMPLES, default=EXAMPLES)
    parser.add_argument("--spinners", nargs="+", type=int, default=[0, 2, 8])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--limit", type=float, default=1.3)
    options = parser.parse_args()
    above = 0
    with program.asked(options.programs):
        print(f"{'example':18} {'spinners':>8} {'default':>12} {'threads=1':>12} {'ratio':>7} {'of medians':>11}")
        for name, count, (default, one) in measure(options.examples, options):
            ratio = default[0] / one[0]
            above += count > 0 and ratio > options.limit
            print(f"{name:18} {count:8} {default[0] * 1e3:9.3f} ms {one[0] * 1e3:9.3f} ms {ratio:7.2f} {default[1] / one[1]:11.2f}", flush=True)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())

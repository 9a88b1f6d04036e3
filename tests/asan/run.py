#!/usr/bin/env python3
"""AddressSanitizer and UBSan on the client behind the C interface: wrong operands, results over operands, fill values, ended handles.

    python3 tests/asan/run.py        builds the client and the programs into build/asan-ubsan, then runs them; the server is that of --release

All of the client is instrumented, compiled without optimisation so that it builds in minutes. Exit status 1 when a program fails, prints another
text than `all right`, or a sanitizer reports something, leaks included.
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))
import schaas_program as program

PROGRAMS = {"c_cases": "all right\n", "c_program": None}  # name: whole output, None where tests/python/c_test.py compares it
TARGETS = [*PROGRAMS, "schaas_remote"]


def build(folder, jobs):
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "asan-ubsan", "-B", folder, "-DSCHAAS_TESTS=ON", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1"],
                       cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, f"-j{jobs}", *TARGETS], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "asan-ubsan", help="build folder (default: build/asan-ubsan)")
    parser.add_argument("--release", type=pathlib.Path, default=ROOT / "build" / "release", help="a build without sanitizers (default: build/release)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the build (default: one per core)")
    options = parser.parse_args()
    build(options.build.resolve(), options.jobs)
    daemon, failed = program.Daemon(options.release.resolve() / "bin"), 0
    try:
        environment = {**os.environ, "SCHAAS_SERVER": daemon.address, "XDG_CACHE_HOME": str(daemon.folder / "cache"),
                       "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
        for name, output in PROGRAMS.items():
            done = subprocess.run([options.build / "bin" / name], env=environment, capture_output=True, text=True, timeout=600)
            right = done.returncode == 0 and not done.stderr and output in (None, done.stdout)
            print(f"{name}: {'clean' if right else f'exit {done.returncode}'}", flush=True)
            if not right:
                print(done.stdout[-4000:], done.stderr[-8000:], sep="\n", file=sys.stderr)
                failed = 1
    finally:
        daemon.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())

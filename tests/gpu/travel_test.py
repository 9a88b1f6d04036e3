#!/usr/bin/env python3
"""The folder that tests/bench/gpu/make_travel.py writes for a machine with a GPU: its kernels, emulated, are right.

    travel_test.py BIN
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "tests/bench/gpu/make_travel.py", "--bin", sys.argv[1], "--out", folder, "--entries", "0",
                        "--every", "17"], check=True)
        done = subprocess.run([sys.executable, pathlib.Path(folder) / "run.py", "--emulated"], stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        return 0 if done.returncode == 0 and ", 0 wrong" in done.stdout else 1


if __name__ == "__main__":
    sys.exit(main())

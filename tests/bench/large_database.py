#!/usr/bin/env python3
"""A server of many stored problems: the time of its start, of `schaas info` (a connection and Info) and of a scrape of /metrics.

    python3 tests/bench/large_database.py [--bin DIR ...] [--problems 100000]

Rows and files are written beside the server, so no kernel in them runs. Several --bin compare builds on one database.
"""

import argparse
import hashlib
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

from timing import least_milliseconds

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = "2026-01-01T00:00:00.000Z"
HTTP = "127.0.0.1:18999"


def digest(number):
    return hashlib.sha256(b"%d" % number).hexdigest()


def fill(data, problems):
    with sqlite3.connect(data / "schedules.db") as database:
        database.executemany("INSERT INTO problem(id, key, canonical, created) VALUES (?, ?, 'text', ?)",
                             ((n, digest(n), MADE) for n in range(1, problems + 1)))
        database.executemany("INSERT INTO frontier(problem, options, search_version, complete, schedules, seconds, created, payload) "
                             "VALUES (?, 'o', 9999, 1, 5, 0.1, ?, ?)", ((n, MADE, "x" * 300) for n in range(1, problems + 1)))
        database.execute("INSERT INTO frontier_use SELECT id, created, length(payload) FROM frontier")
        database.executemany("INSERT INTO kernel(key, problem, trace, isa, sha256, bytes, seconds, created) VALUES (?, ?, 'linear', 'generic', ?, 8, 0.1, ?)",
                             ((f"k{n}", n, digest(n), MADE) for n in range(1, problems + 1)))
    for n in range(1, problems + 1):
        name = digest(n)
        folder = data / "binaries" / name[:2]
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"%08d" % n)


class Server:
    def __init__(self, programs, data):
        self.command = [programs / "schaas", "info", "--server", f"unix:{data}/socket"]
        began = time.perf_counter()
        self.process = subprocess.Popen([programs / "schaasd", "--data-dir", data, "--listen", f"unix:{data}/socket", "--http", HTTP],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while subprocess.run(self.command, capture_output=True).returncode != 0:
            if self.process.poll() is not None:
                raise RuntimeError("schaasd does not start")
            time.sleep(0.02)
        self.start_seconds = time.perf_counter() - began

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, nargs="+", default=[ROOT / "build" / "release" / "bin"])
    parser.add_argument("--problems", type=int, default=100000)
    options = parser.parse_args()
    data = pathlib.Path(tempfile.mkdtemp(prefix="schaas-large-"))
    try:
        Server(options.bin[0].resolve(), data).stop()
        fill(data, options.problems)
        print(f"{options.problems} problems, each with a frontier, a kernel and a binary")
        for programs in options.bin:
            server = Server(programs.resolve(), data)
            info = least_milliseconds(lambda: subprocess.run(server.command, capture_output=True, check=True))
            scrape = least_milliseconds(lambda: urllib.request.urlopen(f"http://{HTTP}/metrics").read())
            print(f"{programs}: start {server.start_seconds:.2f} s, schaas info {info:.1f} ms, scrape {scrape:.1f} ms", flush=True)
            server.stop()
    finally:
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

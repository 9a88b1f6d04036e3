#!/usr/bin/env python3
"""Measures what watching a job costs a server: watching.py BIN [--items 2000] [--watchers 50] [--postgres]. Not a test.

A job of problems whose answers are stored is worked off once alone and once with watchers. Prints processor seconds of schaasd, and with
--postgres of the database's processes, for each thousand items, and what the watchers add at 90 items a second, as a share of a processor.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import fleet


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def database_seconds(folder):
    """Of the postmaster and, with those that ended, all its children."""
    pid = int((folder / "pg/data/postmaster.pid").read_text().splitlines()[0])
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    total = sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        total += processor_seconds(child)
    return total


class Alone:
    """A server with SQLite, where no fleet is asked for."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs).resolve()
        self.temporary = tempfile.TemporaryDirectory(prefix="schaas-watch-")
        self.folder = pathlib.Path(self.temporary.name)

    def server(self, options):
        self.address = f"unix:{self.folder}/socket"
        self.log = open(self.folder / "log", "wb")
        process = subprocess.Popen([self.programs / "schaasd", "--data-dir", self.folder / "data", "--listen", self.address, *options],
                                   stdout=self.log, stderr=self.log)
        while self.schaas("info", server=self.address).returncode != 0:
            time.sleep(0.1)
        return process

    schaas = fleet.Fleet.schaas

    def close(self):
        self.temporary.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument("--postgres", action="store_true")
    arguments = parser.parse_args()
    options = ("--items", "1", "--threads", "400", "--log-level", "warning")
    if arguments.postgres:
        there = fleet.Fleet(arguments.programs)
        server = there.server("one", *options)
        process, address = server.process, server.address
    else:
        there = Alone(arguments.programs)
        process = there.server(options)
        address = there.address
    try:
        def measure(count, watchers, key):
            path = there.folder / f"{key}.json"
            problems = fleet.problem_lines(20).splitlines(keepends=True)
            path.write_text("".join(problems[n % 20] for n in range(count)))
            # The job waits behind one that blocks it until everybody watches.
            job = json.loads(there.schaas("precompute", path, "--detach", "--key", key, "--json", server=address).stdout)["id"]
            before, base = processor_seconds(process.pid), database_seconds(there.folder) if arguments.postgres else 0
            began = time.monotonic()
            environment = {**os.environ, "SCHAAS_SERVER": address, "SCHAAS_CACHE_BYTES": "0",
                           "XDG_CONFIG_HOME": str(there.folder / "config")}
            watching = [subprocess.Popen([there.programs / "schaas", "watch", job], env=environment, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(watchers)]
            while True:
                time.sleep(0.5)
                found = json.loads(there.schaas("jobs", "--json", server=address).stdout)
                row = next(one for one in found["jobs"] if one["id"] == job)
                if row["waiting"] + row["running"] == 0:
                    break
            ended = time.monotonic() - began
            for one in watching:
                one.wait(timeout=120)
            spent = processor_seconds(process.pid) - before
            database = database_seconds(there.folder) - base if arguments.postgres else 0
            print(f"{key}: ended after {ended:.1f} s, told after {time.monotonic() - began:.1f} s", file=sys.stderr)
            return spent, database, ended
        measure(20, 0, "warm")
        alone = measure(arguments.items, 0, "alone")
        watched = measure(arguments.items, arguments.watchers, "watched")
        for name, (spent, database, wall) in (("alone", alone), ("watched", watched)):
            print(f"{name}: {1000 * spent / arguments.items:.2f} s of schaasd, {1000 * database / arguments.items:.2f} s of the database "
                  f"for 1000 items; {arguments.items / wall:.0f} items/s")
        more = (watched[0] + watched[1] - alone[0] - alone[1]) / arguments.items
        print(f"{arguments.watchers} watchers add {100 * more * 90:.1f} % of a processor at 90 items/s; load {os.getloadavg()[0]:.1f}")
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        there.close()
    return 0


sys.exit(main())

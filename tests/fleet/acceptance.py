#!/usr/bin/env python3
"""Measures what a fleet must hold, one line each: acceptance.py BIN [LINE ...] [--seconds 3] [--problems 100000]. Not a test.

    overhead   an item whose answer is stored, claim and end included: milliseconds, by one worker
    lookups    look-ups made from rows, PostgreSQL beside SQLite
    three      look-ups of cached replies at three servers behind haproxy beside one server
    changes    a change at one server until a watcher at another has it
    connect    a connection and Info with many problems stored
    killed     each command whose server is killed while it works

Without LINE all of them. load_bench must be built. Figures on a busy machine say little; ratios are measured side by side.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import fleet

# One thread: the balancer, the servers and their clients share this machine's processors.
PROXY = """global
  maxconn 2000
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend schaas
  bind 127.0.0.1:{port}
  default_backend servers
backend servers
  balance roundrobin
{servers}
"""
# Triggers count row by row, which is no part of what is measured.
FILL = """
SET session_replication_role = replica;
INSERT INTO problem(key, canonical, created) SELECT encode(sha256(n::text::bytea), 'hex'), 'text', '2026' FROM generate_series(1, {count}) AS n;
INSERT INTO frontier(problem, options, search_version, complete, schedules, seconds, created, payload)
  SELECT id, 'o', 9999, 1, 5, 0.1, '2026', repeat('x', 300)::bytea FROM problem;
INSERT INTO kernel(key, problem, trace, isa, sha256, bytes, seconds, created)
  SELECT 'k' || id || '-' || n, id, 'linear', 'generic', key, 8, 0.1, '2026' FROM problem, generate_series(1, 3) AS n;
UPDATE total SET problems = {count}, frontiers = {count}, kernels = 3 * {count}, bytes = 300 * {count};
"""
# How late a program wakes that does nothing else, in milliseconds: what the machine adds to every time.
SLEEPER = """
import json, select, sys, time
late = []
while not select.select([sys.stdin], [], [], 0)[0]:
    began = time.monotonic()
    time.sleep(0.02)
    late.append(1e3 * (time.monotonic() - began) - 20)
print(json.dumps(late))
"""
# A search of some seconds.
LONG = "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,i)"


class Alone:
    """A schaasd with SQLite."""

    def __init__(self, programs, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="schaas-alone-")
        self.address = f"unix:{self.folder.name}/socket"
        self.process = subprocess.Popen([programs / "schaasd", "--data-dir", f"{self.folder.name}/data", "--listen", self.address,
                                         *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not pathlib.Path(self.folder.name, "socket").exists():
            time.sleep(0.05)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Lines:
    def __init__(self, arguments):
        self.arguments = arguments
        self.programs = pathlib.Path(arguments.programs).resolve()

    def load(self, address, what, clients):
        """Requests a second, and the median and 99th percentile in milliseconds."""
        out = subprocess.run([self.programs / "load_bench", "--server", address, "--clients", str(clients), "--seconds",
                              str(self.arguments.seconds)], capture_output=True, text=True, check=True).stdout
        row = re.search(rf"^{what} .*?([\d.]+) requests/s  p50 +([\d.]+) ms  p99 +([\d.]+) ms  (\d+) refused", out, re.M)
        assert row[4] == "0", out
        return tuple(float(row[n]) for n in (1, 2, 3))

    def overhead(self, there):
        one = there.server("one", "--items", "0")
        worker = there.worker("worker")
        there.precompute(one.address, 20, "warm")
        there.wait_for("SELECT count(*) FROM item WHERE state = 'done'", "20", 600)
        path = there.folder / "stored.json"
        lines = fleet.problem_lines(20).splitlines(keepends=True)
        path.write_text("".join(lines[n % 20] for n in range(1000)))
        began = time.monotonic()
        done = there.schaas("precompute", path, "--key", "stored", "--json", server=one.address, timeout=600)
        assert done.returncode == 0, done.stderr
        print(f"overhead: {time.monotonic() - began:.2f} ms an item (aim 20)")
        worker.stop()

    def lookups(self, there):
        shared = there.server("shared", "--items", "0", "--response-cache-bytes", "0")
        own = Alone(self.programs, "--response-cache-bytes", "0")
        try:
            pairs = [(self.load(shared.address, "lookup", 1)[1], self.load(own.address, "lookup", 1)[1]) for _ in range(3)]
        finally:
            own.close()
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"lookups: PostgreSQL {pairs[-1][0]:.2f} ms, SQLite {pairs[-1][1]:.2f} ms, ratio {ratio:.2f} (aim 1.2)")

    def three(self, there):
        if shutil.which("haproxy") is None:
            print("three: skipped, haproxy is not installed")
            return
        servers = [there.server(f"s{n}", "--items", "0") for n in range(3)]
        single = there.server("single", "--items", "0")
        proxies = [self.proxy(there, 18700, servers), self.proxy(there, 18701, [single])]
        time.sleep(1)
        try:
            rows = []
            for _ in range(5):
                rows.append([self.load(f"127.0.0.1:{port}", "lookup", 8) for port in (18700, 18701)])
        finally:
            for proxy in proxies:
                proxy.kill()
        ratio = statistics.median(several[0] / one[0] for several, one in rows)
        for several, one in rows:
            print(f"three: {several[0]:.0f}/s by three, {one[0]:.0f}/s by one; p99 {several[2]:.1f} and {one[2]:.1f} ms")
        print(f"three: ratio {ratio:.2f} (aim 0.8), the median of five; p99 at most {max(several[2] for several, _ in rows):.1f} ms (aim 20)")

    @staticmethod
    def proxy(there, port, servers):
        lines = "".join(f"  server s{n} unix@{server.address[5:]}\n" for n, server in enumerate(servers))
        path = there.folder / f"haproxy-{port}"
        path.write_text(PROXY.format(port=port, servers=lines))
        return subprocess.Popen(["haproxy", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def changes(self, there):
        one, two = there.server("one"), there.server("two")
        sleeper = subprocess.Popen([sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        times = []
        for n in range(100):
            job = there.precompute(one.address, 1, f"change-{n}")
            ended = []
            watching = threading.Thread(target=lambda: (there.schaas("watch", job, server=two.address), ended.append(time.monotonic())))
            watching.start()
            time.sleep(0.6)
            there.schaas("cancel", job, server=one.address)
            cancelled = time.monotonic()
            watching.join()
            times.append(1e3 * (ended[0] - cancelled))
        times.sort()
        late = self.lateness_of(sleeper)
        print(f"changes: median {times[49]:.1f} ms after the canceller ended, p99 {times[98]:.1f}, most {times[99]:.1f} (aim 50); "
              f"a program that only sleeps woke late by {late[0]:.1f}, p99 {late[1]:.1f}, most {late[2]:.1f}")

    @staticmethod
    def lateness_of(sleeper):
        """The median, the 99th percentile and the most."""
        late = sorted(json.loads(sleeper.communicate("end\n")[0]))
        return late[len(late) // 2], late[len(late) * 99 // 100], late[-1]

    def connect(self, there):
        one = there.server("one")
        there.ask(FILL.format(count=self.arguments.problems))
        rate, median, late = self.load(one.address, "connect", 1)
        print(f"connect: {median:.2f} ms with {self.arguments.problems} problems (aim 2), p99 {late:.2f}, {rate:.0f}/s")
        began = time.monotonic()
        one.metrics("schaas_stored_problems")
        print(f"connect: a scrape of /metrics {1e3 * (time.monotonic() - began):.1f} ms")

    def killed(self, there):
        servers = [there.server("one"), there.server("two")]
        both = ",".join(server.address for server in servers)
        path = there.folder / "long.json"
        for number, words in enumerate((["schedule"], ["schedule", "--why", "linear"], ["emit"], ["precompute"])):
            problem = [LONG, "-f", "B=csr", "-c", f"i <= {1000 + number}"]
            path.write_text(json.dumps({"expression": LONG, "formats": {"B": "csr"}, "constraints": [f"i <= {1000 + number}"]}))
            command = words + ([path, "--key", "killed"] if words == ["precompute"] else problem)
            found = self.killed_while(there, servers, both, command)
            print(f"killed: {' '.join(words)} exit {found}", flush=True)

    @staticmethod
    def killed_while(there, servers, both, command):
        """Kills the server that works on a command; returns the command's exit status."""
        status = []
        asking = threading.Thread(target=lambda: status.append(there.schaas(*command, server=both, timeout=600).returncode))
        asking.start()
        worker = there.worker("worker") if command[0] == "precompute" else None
        end = time.monotonic() + 60
        working = []
        while not working and asking.is_alive() and time.monotonic() < end:
            if worker is not None and there.ask("SELECT count(*) FROM item WHERE state = 'running'") != "0":
                working = servers[:1]
            working = working or [one for one in servers if one.metrics('schaas_working{for="search"') > 0]
        for one in working:
            one.kill()
            one.start()
            one.wait_ready()
        asking.join()
        if worker is not None:
            worker.stop()
        return status[0] if working else "not killed: it had ended"


def main():
    lines = ["overhead", "lookups", "three", "changes", "connect", "killed"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("lines", nargs="*", default=lines)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--problems", type=int, default=100_000)
    arguments = parser.parse_args()
    for line in arguments.lines or lines:
        there = fleet.Fleet(arguments.programs)
        try:
            getattr(Lines(arguments), line)(there)
        finally:
            there.close()
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.exit(main())

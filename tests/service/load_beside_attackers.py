#!/usr/bin/env python3
"""Measures an ordinary client beside each attacker in turn: hits, misses, and the memory of the daemon.

    load_beside_attackers.py BIN [--proxy] [--only NAME]... [--seconds 8] [--table FILE]      BIN: folder with the programs

The ordinary client asks on a Unix socket for a stored answer a hundred times a second, and every two seconds for a new one with its kernel;
first alone, then beside the attacker, who comes by TCP, from another host as the daemon sees it, and runs at the lowest priority, as an attacker
elsewhere takes no processor of this machine. With --proxy both come by TLS through the proxy of deploy/nginx, from two hosts, with a token each. Each attack has a daemon of its own. Exit status 1 when a p99 of hits is above three times the
undisturbed one (and above two milliseconds, below which this machine's own noise decides), a miss takes more than five seconds, or a call fails.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import attacked_daemon
import attackers

HITS_A_SECOND = 100
MISS_EVERY = 2.0
MAX_RATIO, MAX_MISS = 3.0, 5.0
NOISE = 0.002  # seconds
HIT = attackers.schedule_request("A(i,k) = B(i,j) * C(j,k)")


class OrdinaryClient:
    """Asks for a stored answer again and again, and now and then for a new one."""

    def __init__(self, target, new):
        self.target, self.new = target, new
        self.hits, self.misses, self.failed = [], [], collections.Counter()

    def ask(self, connection, stream, request):
        start = time.monotonic()
        connection.send(connection.call(stream, attackers.SCHEDULE, request))
        answer = connection.finish(stream)
        if not answer:
            raise ConnectionError("cut off" if answer is None else "refused")
        return time.monotonic() - start

    def loop(self, times, pause, next_request, end):
        connection, stream = None, 1
        while time.monotonic() < end:
            due = time.monotonic() + pause
            try:
                if connection is None:
                    connection, stream = attackers.Frames(self.target), 1
                times.append(self.ask(connection, stream, next_request()))
                stream += 2
            except OSError as error:
                self.failed[str(error)] += 1
                connection = None
            time.sleep(max(0.0, due - time.monotonic()))

    def work(self, seconds):
        end = time.monotonic() + seconds
        asking = threading.Thread(target=self.loop, args=(self.misses, MISS_EVERY, self.new_request, end))
        asking.start()
        self.loop(self.hits, 1 / HITS_A_SECOND, lambda: HIT, end)
        asking.join()
        return self

    def new_request(self):
        return attackers.schedule_request("y(i) = B(i,j) * x(j)", constraints=[f"i <= {next(self.new)}"])

    def p99(self):
        ranked = sorted(self.hits)
        return ranked[int(0.99 * len(ranked))] if ranked else float("inf")


class Site:
    """A daemon, with or without the proxy, and the two who come to it."""

    def __init__(self, programs, with_proxy):
        self.proxy, self.folder = None, tempfile.TemporaryDirectory(prefix="schaas-proxy-")
        if not with_proxy:
            self.daemon = attacked_daemon.Daemon(programs)
            self.ordinary = attackers.Target(self.daemon.local)
            self.attacker = attackers.Target(self.daemon.remote, http=self.daemon.http)
            return
        words, lines = attacked_daemon.tokens(programs, ["ordinary", "attacker"])
        self.daemon = attacked_daemon.Daemon(programs, lines)
        self.proxy = attacked_daemon.Proxy(pathlib.Path(self.folder.name), self.daemon.local)
        self.ordinary = attackers.Target(self.proxy.address, True, words["ordinary"])
        self.attacker = attackers.Target(self.proxy.address, True, words["attacker"], "127.0.0.2", self.daemon.http)

    def close(self):
        if self.proxy:
            self.proxy.close()
        self.folder.cleanup()
        return self.daemon.close()


def begin_attack(name, target, seconds):
    words = [name, target.address, "--seconds", str(seconds), "--token", target.token, "--source", target.source, "--http", target.http]
    return subprocess.Popen(["nice", "-n", "19", sys.executable, attackers.__file__, *words, *["--tls"] * target.tls], stdout=subprocess.PIPE, text=True)


def measure(programs, name, seconds, with_proxy):
    """One row of the table and whether it is good."""
    site, new = Site(programs, with_proxy), iter(range(2000, 10**6))
    daemon = site.daemon
    try:
        OrdinaryClient(site.ordinary, new).work(2)
        alone = OrdinaryClient(site.ordinary, new).work(seconds)
        before = daemon.memory()
        daemon.reset_peak()
        attacker = begin_attack(name, site.attacker, seconds + 1)
        time.sleep(1)
        beside = OrdinaryClient(site.ordinary, new).work(seconds)
        sent = attacker.communicate(timeout=seconds + 120)[0].split()
        peak = daemon.memory("VmHWM")
        time.sleep(2)
        after = daemon.memory()
        alive = daemon.process.poll() is None
        if not alive:
            print(f"{name}: the daemon ended with {daemon.process.returncode}; its log ends:\n{daemon.last_words()}", file=sys.stderr)
    finally:
        status = site.close()
    miss = max(beside.misses, default=float("inf"))
    limit = max(MAX_RATIO * alone.p99(), NOISE)
    failed = ", ".join(f"{times} {why}" for why, times in beside.failed.items()) or "0"
    good = alive and beside.p99() <= limit and miss <= MAX_MISS and not beside.failed and status == 0
    return (f"| {name} | {' in '.join(sent)} | {1000 * alone.p99():.1f} | {1000 * beside.p99():.1f} | {beside.p99() / alone.p99():.1f} | "
            f"{max(alone.misses):.2f} | {miss:.2f} | {failed} | {before:.0f}, {peak:.0f}, {after:.0f} | {'yes' if good else 'NO'} |"), good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("programs", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--proxy", action="store_true", help="through the proxy of deploy/nginx")
    parser.add_argument("--only", action="append", choices=attackers.NAMES)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    rows = ["| attack | sent in connections | p99 of hits alone, ms | beside | ratio | slowest miss alone, s | beside | failed | memory before, most, after, MiB | good |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(rows), flush=True)
    good = True
    for name in options.only or attackers.NAMES:
        row, fine = measure(options.programs, name, options.seconds, options.proxy)
        good = good and fine
        rows.append(row)
        print(row, flush=True)
    if options.table:
        options.table.write_text("\n".join(rows) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

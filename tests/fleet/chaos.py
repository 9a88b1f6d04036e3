#!/usr/bin/env python3
"""Kills servers, workers, nodes and PostgreSQL at random while workers take the items of a job, and checks that each item ended once with its answer.

    tests/fleet/chaos.py BIN [--problems 200] [--seed 1] [--workers 2] [--servers 2] [--every 2 5] [--slurm] [--alone FILE]

With --slurm the workers are tasks of deploy/slurm/worker.sbatch on two Slurm nodes of this machine, and nodes are killed, too.
Kernels are compiled by the tests' quick compiler. Killing ends with the items, at the latest after --seconds (600).
Afterwards: every item of the accepted job is done, none ended twice (a trigger counts), there is one row for each key, every kernel row has its
binary with the right digest, no advisory lock is left, and survivors, traces and digests are those of one server that worked through the same
problems in the opposite order; --alone keeps them for the next seed. An item with which three workers died fails, which an operator answers with
`schaas retry`, and tasks that Slurm holds with `scontrol release`: so does this. Exits 1 when something is wrong. Not part of the ordinary tests.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time

import fleet
import postgres
import slurm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
from schaas_program import with_quick_compiler  # noqa: E402

ENDED_TWICE = """
CREATE TABLE item_end (item bigint, state text);
CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO item_end VALUES (NEW.id, NEW.state); RETURN NULL; END $$;
CREATE TRIGGER ended AFTER UPDATE ON item FOR EACH ROW
  WHEN (OLD.state = 'running' AND NEW.state IN ('done', 'failed')) EXECUTE FUNCTION note_end();
"""
ANSWERS = """
SELECT problem.key || ' ' || frontier.options || ' ' || frontier.complete || ' ' ||
       encode(sha256(convert_to((convert_from(payload, 'UTF8')::jsonb -> 'survivors')::text, 'UTF8')), 'hex')
FROM frontier JOIN problem ON problem.id = frontier.problem ORDER BY 1;
"""
KERNELS = "SELECT key || ' ' || trace || ' ' || sha256 FROM kernel ORDER BY 1;"


class Chaos:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.fleet = fleet.Fleet(arguments.programs)
        os.environ.update(with_quick_compiler(self.fleet.folder))
        self.wrong = []
        self.slurm = None
        self.away = {}  # lost nodes, with the time at which they come back
        self.deeds = {"server": 0, "worker": 0, "node": 0, "database": 0}

    def run(self):
        servers = [self.fleet.server(f"s{n}") for n in range(self.arguments.servers)]
        self.addresses = ",".join(server.address for server in servers)
        workers = self.start_workers()
        self.fleet.ask(ENDED_TWICE)
        self.job = self.fleet.precompute(self.addresses, self.arguments.problems)
        began = time.monotonic()
        while time.monotonic() < began + self.arguments.seconds:
            time.sleep(self.random.uniform(*self.arguments.every))
            left = self.fleet.wait_for("SELECT count(*) FROM item WHERE state IN ('waiting', 'running')", "0", 0)
            if left == "0":
                break
            kind = self.kill_something(servers, workers)
            print(f"{time.monotonic() - began:.0f} s: {left or '?'} items are left; killed a {kind}", flush=True)
        for process in servers + workers:
            if not process.alive():
                process.start()
        self.bring_back(time.monotonic() + 3600)
        self.finish()

    def start_workers(self):
        if not self.arguments.slurm:
            return [self.fleet.worker(f"w{n}") for n in range(self.arguments.workers)]
        self.slurm = slurm.Slurm(self.fleet.folder / "slurm", port=17400 + 10 * (self.arguments.seed % 100))
        script = pathlib.Path(__file__).resolve().parents[2] / "deploy/slurm/worker.sbatch"
        self.array = self.slurm.submit(script, f"--array=1-{self.arguments.workers}", "--cpus-per-task=1",
                          PATH=f"{self.fleet.programs}:{os.environ['PATH']}", SCHAAS_DATABASE=str(self.fleet.uri_file),
                          SCHAAS_SIGNING_KEY=str(self.fleet.folder / "key"), TMPDIR=str(self.fleet.folder), SCHAAS_IDLE_SECONDS="3600")
        return []

    def kill_something(self, servers, workers):
        self.bring_back(time.monotonic())
        kind = self.random.choice(["server", "worker", "worker", "database", *(["node"] if self.slurm else [])])
        self.deeds[kind] += 1
        if kind == "database":
            self.fleet.postgres.kill()
        elif kind == "node":
            self.lose_a_node()
        elif kind == "worker" and self.slurm:
            self.kill_a_task()
        else:
            process = self.random.choice(servers if kind == "server" else workers)
            if process.alive():
                process.kill()
            process.start()
        return kind

    def lose_a_node(self):
        there = [node for node in self.slurm.nodes if node not in self.away]
        if len(there) > 1:  # one is left to work
            node = self.random.choice(there)
            self.slurm.lose(node)
            self.away[node] = time.monotonic() + 10

    def bring_back(self, now):
        if self.slurm:
            self.slurm.release(self.array)
        for node, when in list(self.away.items()):
            if when <= now:
                self.slurm.start_node(node)
                del self.away[node]

    def kill_a_task(self):
        """Kills a worker; the script of its task starts another."""
        pids = [pid for node in self.slurm.nodes for pid in sorted(self.slurm.tasks(node)[1])
                if postgres.read_if_there(pathlib.Path(f"/proc/{pid}/comm")) == "schaasd\n"]
        if pids:
            os.kill(self.random.choice(pids), signal.SIGKILL)

    def finish(self):
        self.check("items are left", self.wait_for_the_end(), "0")
        died = self.fleet.ask("SELECT count(*) FROM item WHERE state = 'failed' AND error LIKE '%the server ended while%'")
        print(f"items with which three workers died: {died}")
        if died != "0":
            self.fleet.schaas("retry", self.job, server=self.addresses)
            self.check("items are left after a retry", self.wait_for_the_end(), "0")
        self.check("items failed", self.fleet.ask("SELECT count(*) FROM item WHERE state = 'failed'"), "0")
        done = int(self.fleet.ask("SELECT count(*) FROM item WHERE state = 'done'"))
        twice = self.fleet.ask("SELECT count(*) FROM (SELECT item FROM item_end WHERE state = 'done' GROUP BY item HAVING count(*) > 1) AS twice")
        self.check("items ended twice", twice, "0")
        self.check("ends were noted", self.fleet.ask("SELECT count(DISTINCT item) FROM item_end"), str(self.arguments.problems))
        self.check("kernels without binary", self.fleet.ask(
            "SELECT count(*) FROM kernel WHERE NOT EXISTS (SELECT 1 FROM binary_content AS b WHERE b.sha256 = kernel.sha256)"), "0")
        self.check("damaged binaries", self.fleet.ask(
            "SELECT count(*) FROM binary_content WHERE encode(sha256(content), 'hex') <> sha256"), "0")
        totals = self.fleet.ask("SELECT sum(done) FROM job_total")
        self.check("totals", totals, str(done))
        if self.slurm:
            self.slurm.close()
        for process in self.fleet.processes:
            process.stop()
        self.fleet.wait_for("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0", 30)
        self.check("locks are left", self.fleet.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0")
        mine = self.fleet.ask(ANSWERS), self.fleet.ask(KERNELS)
        self.compare(mine, done)

    def wait_for_the_end(self):
        return self.fleet.wait_for("SELECT count(*) FROM item WHERE state IN ('waiting', 'running')", "0", 1200)

    def alone(self):
        """Returns the answers of one server that works through the problems backwards."""
        kept = self.arguments.alone
        if kept and kept.exists():
            return json.loads(kept.read_text())
        alone = fleet.Fleet(self.arguments.programs)
        try:
            server = alone.server("alone", "--items", "1")
            path = alone.folder / "backwards.json"
            path.write_text("".join(reversed(fleet.problem_lines(self.arguments.problems).splitlines(keepends=True))))
            submitted = alone.schaas("precompute", path, "--key", "one", server=server.address, timeout=3600)
            if submitted.returncode != 0:
                self.wrong.append(submitted.stderr)
            theirs = alone.ask(ANSWERS), alone.ask(KERNELS)
        finally:
            alone.close()
        if kept and not self.wrong:
            kept.write_text(json.dumps(theirs))
        return theirs

    def compare(self, mine, done):
        theirs = self.alone()
        for what, ours, others in zip(("frontiers", "kernels"), mine, theirs):
            different = set(ours.splitlines()) ^ set(others.splitlines())
            if done == self.arguments.problems and different:
                self.wrong.append(f"{len(different)} {what} differ, of {len(others.splitlines())}")
            print(f"{what}: {len(ours.splitlines())}, alone {len(others.splitlines())}, different {len(different)}")

    def check(self, what, found, expected):
        print(f"{what}: {found}")
        if found != expected:
            self.wrong.append(f"{what}: {found}, expected {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--alone", type=pathlib.Path)
    parser.add_argument("--every", type=float, nargs=2, default=(2, 5))
    arguments = parser.parse_args()
    if arguments.slurm and not slurm.installed():
        print("skipped: Slurm is not installed, or this is not root")
        return 77
    chaos = Chaos(arguments)
    try:
        chaos.run()
    finally:
        for process in chaos.fleet.processes:
            if chaos.wrong:
                print(process.folder.name, process.log.read_text(errors="replace")[-1500:])
        if chaos.slurm:
            chaos.slurm.close()
        chaos.fleet.close()
    print(json.dumps({"killed": chaos.deeds, "wrong": chaos.wrong}))
    return 1 if chaos.wrong else 0


sys.exit(main())

#!/usr/bin/env python3
"""Kills schaasd and its children at random instants under load and checks that nothing that was acknowledged is lost or damaged.

    tests/service/chaos.py BIN [--kills 500] [--seed 1] [--only break_disk]      BIN: folder with the programs; about a second and a half a kill

In every round a daemon is started whose cache is too small for all kernels, clients run, schedule, search, precompute, verify, collect and
back up the cache side by side, and compilers, trials and solvers get SIGKILL or SIGTERM at random instants. In most rounds one thing more happens:

    full          for a while no file grows (a limit of file sizes)
    closed        for a while the folder is mounted read-only: nothing is opened for writing, made, renamed or removed; open files are written
    broken        the file system turns read-only as the kernel makes it after an error (ext4, `abort`): no write passes, of open files neither, and
                  what was not flushed is lost. It is mounted again after the kill
    memory        the daemon's memory cgroup has no more: the kernel ends something of it, the daemon or a child

After a random time the daemon gets SIGKILL, or it is stopped as a service manager does that ends a whole group: SIGTERM to the daemon and all its
children at once. Every kill counts, of children and of daemons.

While the disk is closed or broken the daemon must answer: a schedule, and `disk-read-only` (or `disk-failing`, of what was under way) to a backup and, when it is broken, to a job; once it is no longer
full or closed, the same daemon must do both. After each round both databases must pass `PRAGMA integrity_check`, every job that was accepted must be there, and no kernel may be in quarantine. At the end a
daemon works off all jobs; each must end, no request of them may fail but for having died with its server too often or for a child that was killed (those are tried again), the
answers must be those of a daemon that was never killed, every kernel must verify. Exits 1 when something is wrong. Not part of the ordinary tests.

Mounting and memory cgroups need root: where they are refused they are left out, which is said. All mounts are in a namespace of this program's own and end with it.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import schaas_program as program

PROBLEMS = [
    ("A(i,k) = B(i,j) * C(j,k)", {"k": 5}),
    ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {"k": 3, "l": 4}),
    ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {"k": 4, "l": 6}),
    ("y(i) = B(i,j) * x(j)", {}),
    ("A(i,k) = B(i,j) * C(j,k) + C(i,k)", {"k": 5}),
    ("S(i) = exp(B(i,j)) * x(j)", {}),
]


# Why a request of a job may fail, to be tried again.
MAY_FAIL = ("the server ended while", "the compiler was ended from outside", "ended without a verdict")


# Problems whose searches ask the solver. A solver that is killed leaves more in a frontier, so these are not compared.
SEARCHED = ["A(i) = B(i,j) * C(j,k) * D(k,l) * x(l)", "A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)"]


class Disk:
    """An ext4 file system in a file, to be broken and mounted again."""

    def __init__(self, folder):
        self.image, self.path = folder / "disk.ext4", folder / "disk"
        self.path.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(512 << 20)
        must("mkfs.ext4", "-q", self.image)
        self.mount()

    def mount(self):
        must("mount", "-o", "loop", self.image, self.path)

    def break_down(self):
        must("mount", "-o", "remount,abort", self.path)

    def unmount(self):
        for _ in range(100):  # what a dead daemon had open is let go soon
            if subprocess.run(["umount", self.path], capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.path} is still in use")

    def mend(self):
        self.unmount()
        subprocess.run(["e2fsck", "-p", self.image], capture_output=True)
        self.mount()


class MemoryGroup:
    """A memory cgroup (version 1 or 2) for the daemon and its children."""

    def __init__(self):
        first = pathlib.Path("/sys/fs/cgroup/memory")
        self.path = (first if first.is_dir() else first.parent) / f"schaas-chaos-{os.getpid()}"
        self.path.mkdir()
        self.limit_file, self.usage_file, self.events, self.none = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control", "-1") if first.is_dir() else
            ("memory.max", "memory.current", "memory.events", "max"))
        self.limit(None)

    def enter(self):
        """Puts this process in, between fork and exec."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def limit(self, more):
        """Leaves so many bytes beyond what is used; None: all."""
        text = self.none if more is None else str(int((self.path / self.usage_file).read_text()) + more)
        try:
            (self.path / self.limit_file).write_text(text)
        except OSError:  # it was used meanwhile
            self.limit(more + (16 << 20))

    def kills(self):
        for line in (self.path / self.events).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    def remove(self):
        self.path.rmdir()


def make_memory_group():
    """None, with the reason printed, where there are no cgroups to write to."""
    try:
        return MemoryGroup()
    except OSError as error:
        print(f"memory never runs out: {error}", flush=True)
        return None


def children_of(parent):
    """(number, name) of all descendants of a process."""
    out, left = [], [parent]
    while left:
        number = left.pop()
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{number}/task").iterdir():
                for child in (task / "children").read_text().split():
                    with contextlib.suppress(OSError):
                        out.append((int(child), pathlib.Path(f"/proc/{child}/comm").read_text().strip()))
                        left.append(int(child))
    return out


KINDS = {"schaas-trial": "trial", "schaas-solver": "solver"}  # by the system's name of the process; others are compilers
CHILDREN_A_ROUND = 6


def must(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")


def make_disk(folder):
    """None, with the reason printed, where mounting is not allowed."""
    try:
        return Disk(folder)
    except (RuntimeError, OSError) as error:
        print(f"no disk is closed or broken: {error}", flush=True)
        return None


def enter_own_mounts():
    """Runs this program again where its mounts are its own, if that is allowed."""
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    if allowed and "SCHAAS_CHAOS_MOUNTS" not in os.environ:
        os.environ["SCHAAS_CHAOS_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


class Chaos:
    def __init__(self, programs, seed, only=""):
        self.programs = pathlib.Path(programs).resolve()
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-chaos-"))
        self.matrix = program.write_matrix(self.folder / "B.mtx", 30, 30, 120, seed=3)
        self.accepted = {}  # id -> number of requests
        self.submitted = self.backups = 0
        self.disk = make_disk(self.folder)
        self.data = (self.disk.path if self.disk else self.folder) / "data"
        self.group = make_memory_group()
        self.disturbances = [self.leave_alone, self.fill_disk, *([self.close_disk, self.break_disk] if self.disk else []),
                             *([self.exhaust_memory] if self.group else [])]
        if only:
            self.disturbances = [disturb for disturb in self.disturbances if disturb.__name__ == only]
            if not self.disturbances:
                raise RuntimeError(f"{only}: not here")
        self.disturbed, self.killed = collections.Counter(), collections.Counter()
        self.clients = []  # of this round: (command, process)
        self.answered = self.refused = 0
        self.wrong = []

    def start(self, data):
        address = f"unix:{self.folder}/{data.name}.socket"
        daemon = subprocess.Popen([self.programs / "schaasd", "--data-dir", data, "--listen", address,
                                   "--cache-bytes", "150000", "--cache-min-age-seconds", "15", "--drain-seconds", "1"],
                                  stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "ab"), start_new_session=True,
                                  preexec_fn=self.group.enter if self.group else None)
        return daemon, address

    def wait(self, address):
        for _ in range(400):
            if self.run(address, "info").returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError("schaasd does not answer after a kill")

    def run(self, address, *words):
        return program.run(self.programs, *words, server=address)

    def begin(self, address, *words):
        return subprocess.Popen([self.programs / "schaas", *map(str, words), "--server", address, "--json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def words_of(self, problem, command):
        expression, extents = problem
        words = [command, expression, "-f", "B=csr"]
        if command == "run":
            words += ["-t", f"B={self.matrix}", "--verify", *[word for index, extent in extents.items() for word in ("-d", f"{index}={extent}")]]
        return words

    def job_file(self):
        self.submitted += 1
        path = self.folder / f"job{self.submitted}.json"
        problems = self.random.sample(PROBLEMS, 3)
        path.write_text("\n".join(json.dumps({"expression": expression, "formats": {"B": "csr"}, "kernels": 2,
                                              "constraints": [f"i <= {10 ** self.random.randint(3, 6)}"]}) for expression, _ in problems))
        return path

    def job_words(self):
        return ["precompute", self.job_file(), "--detach"]

    def backup_words(self):
        self.backups += 1
        return ["admin", "backup", f"b{self.backups}"]

    def command(self, address):
        kind = self.random.choice(["run", "run", "schedule", "search", "search", "precompute", "precompute", "verify", "gc", "backup"])
        if kind == "precompute":
            return kind, self.begin(address, *self.job_words())
        if kind in ("verify", "gc"):
            return kind, self.begin(address, "cache", kind)
        if kind == "backup":
            return kind, self.begin(address, *self.backup_words())
        if kind == "search":  # nobody has asked for these sizes
            return kind, self.begin(address, "schedule", self.random.choice(SEARCHED), "-f", "B=csr", "-c", f"i <= {self.random.randint(10**3, 10**6)}")
        return kind, self.begin(address, *self.words_of(self.random.choice(PROBLEMS), kind))

    def settle(self, kind, client):
        out, err = client.communicate(timeout=120)
        if client.returncode != 0:
            self.refused += 1
            if client.returncode not in (4, 5):  # exhausted, unreachable: the server was killed
                self.wrong.append(f"{kind}: exit {client.returncode}: {out} {err}")
            return
        self.answered += 1
        answer = json.loads(out)
        if kind == "precompute":
            self.accepted[answer["id"]] = answer["requests"]
        if kind == "run" and not answer["verify"]["passed"]:
            self.wrong.append(f"a wrong result: {answer}")
        if kind == "verify" and answer["damaged"]:
            self.wrong.append(f"damaged binaries: {answer}")

    def check_files(self):
        condemned = [path.read_text(errors="replace").splitlines()[0] for path in (self.data / "quarantine").glob("*.txt")]
        if condemned:
            self.wrong.append(f"in quarantine: {condemned}")
        for name in ("schedules.db", "jobs.db"):
            with contextlib.closing(sqlite3.connect(self.data / name)) as database:
                found = database.execute("PRAGMA integrity_check").fetchone()[0]
                if found != "ok":
                    self.wrong.append(f"{name}: {found}")
        with contextlib.closing(sqlite3.connect(self.data / "jobs.db")) as database:
            stored = {f"j{job}": count for job, count in database.execute("SELECT job, count(*) FROM item GROUP BY job")}
        for job, requests in self.accepted.items():
            if stored.get(job) != requests:
                self.wrong.append(f"{job} was accepted with {requests} requests and has {stored.get(job)}")

    def kill_children(self, daemon, ended):
        """Kills some children until the round has ended, most often those of which fewest were killed."""
        left = CHILDREN_A_ROUND
        while left and not ended.wait(0.05 * self.random.random()):
            children = [(number, KINDS.get(name, "compiler")) for number, name in children_of(daemon.pid)]
            if not children:
                continue
            kind = min((kind for _, kind in children), key=self.killed.__getitem__)
            if self.random.random() > 0.3 and self.killed[kind] > min(self.killed[other] for other in ("compiler", "solver", "trial")):
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.random.choice([number for number, of in children if of == kind]), self.random.choice([signal.SIGKILL, signal.SIGTERM]))
                self.killed[kind] += 1
                left -= 1

    def end(self, daemon):
        """Kills the daemon, or stops all of it as a service manager does."""
        if self.random.random() < 0.7:
            self.killed["server"] += 1
            daemon.kill()
            daemon.wait()
            return
        self.killed["stop"] += 1
        for number in (daemon.pid, *(number for number, _ in children_of(daemon.pid))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGTERM)
        try:
            daemon.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.wrong.append("the daemon does not stop within 30 s")
            daemon.kill()
            daemon.wait()

    def round(self):
        daemon, address = self.start(self.data)
        self.wait(address)
        self.clients = [self.command(address) for _ in range(3)]
        disturb = self.random.choice(self.disturbances)
        self.disturbed[disturb] += 1
        ended = threading.Event()
        killer = threading.Thread(target=self.kill_children, args=(daemon, ended))
        # Whoever expects an answer of a disturbed daemon gets one: its children are left alone.
        if disturb in (self.leave_alone, self.exhaust_memory):
            killer.start()
        time.sleep(self.random.random() ** 2)
        end = disturb(daemon, address)
        time.sleep(self.random.random() ** 2 * 1.5)
        self.end(daemon)
        ended.set()
        if killer.ident:
            killer.join()
        end()
        for kind, client in self.clients:
            self.settle(kind, client)
        self.check_files()

    # What happens to the disk and to memory. Each gives what ends it when the daemon is dead.

    def leave_alone(self, daemon, address):
        return lambda: None

    def fill_disk(self, daemon, address):
        """No file of the daemon's grows beyond some kilobytes; half of the time until it is killed."""
        before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (self.random.choice([0, 5_000, 50_000]), before[1]))
        time.sleep(self.random.random())
        if self.random.random() < 0.5:
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)
            self.expect_work(address)
        return lambda: None

    def close_disk(self, daemon, address):
        """A read-only mount lies over the data directory; half of the time until the daemon is killed."""
        aside = self.folder / "aside"  # what lies over the data directory is read-only from its first instant
        aside.mkdir(exist_ok=True)
        must("mount", "--bind", self.data, aside)
        must("mount", "-o", "remount,bind,ro", aside)
        must("mount", "--bind", aside, self.data)
        must("umount", aside)
        self.expect_read_only(address, [self.backup_words()])
        if self.random.random() < 0.5:
            return lambda: must("umount", "--lazy", self.data)
        must("umount", "--lazy", self.data)
        self.expect_work(address)
        return lambda: None

    def break_disk(self, daemon, address):
        """While jobs are accepted: ext4 lets a flush succeed whose transaction it gives up."""
        self.clients += [("precompute", self.begin(address, *self.job_words())) for _ in range(6)]
        time.sleep(0.2 * self.random.random())
        self.disk.break_down()
        self.expect_read_only(address, [self.backup_words(), self.job_words()])
        return self.disk.mend

    def exhaust_memory(self, daemon, address):
        """Leaves some mebibytes for a second, in which more is begun."""
        before = self.group.kills()
        self.group.limit(self.random.choice([0, 1, 4, 8]) << 20)
        fresh = ["-c", f"j <= {self.random.randint(10**3, 10**6)}"]  # so that kernels are compiled
        self.clients.append(("run", self.begin(address, *self.words_of(self.random.choice(PROBLEMS), "run"), *fresh)))
        self.clients += [self.command(address) for _ in range(2)]
        for _ in range(30):
            time.sleep(0.1)
            if self.group.kills() > before:
                break
        self.group.limit(None)
        self.killed["memory"] += self.group.kills() - before
        return lambda: None

    def expect_read_only(self, address, writing):
        self.settle("schedule", self.begin(address, *self.words_of(self.random.choice(PROBLEMS), "schedule")))
        for words in writing:
            done = self.run(address, *words)
            if done.returncode != 4 or not any(code in done.stderr for code in ("disk-read-only", "disk-failing")):
                self.wrong.append(f"{words[0]} on a read-only disk: exit {done.returncode}: {done.stdout} {done.stderr}")

    def expect_work(self, address):
        for kind, words in (("precompute", self.job_words()), ("backup", self.backup_words())):
            refused = self.refused
            self.settle(kind, self.begin(address, *words))
            if self.refused != refused:
                self.wrong.append(f"{kind} is refused though the disk is writable again")

    def answers(self, address):
        """What is stored of each problem, without times."""
        out = {}
        for expression, _ in PROBLEMS:
            done = self.run(address, "schedule", expression, "-f", "B=csr", "--json")
            answer = json.loads(done.stdout)
            out[expression] = [(entry["trace"], entry["time"], entry["memory"], entry["members"]) for entry in answer["frontier"]]
        return out

    def work_off(self, address):
        for job in self.accepted:
            for _ in range(20):
                self.run(address, "watch", job)
                left = json.loads(self.run(address, "watch", job, "--json").stdout)
                if "items" not in left:
                    self.wrong.append(f"{job} cannot be watched: {left}")
                    break
                others = [item["error"] for item in left["items"] if item["state"] != "done" and not any(why in item["error"] for why in MAY_FAIL)]
                if others:
                    self.wrong.append(f"{job}: {others}")
                if left["done"] == left["requests"]:
                    break
                self.run(address, "retry", job)
            else:
                self.wrong.append(f"{job} does not end: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", choices=["leave_alone", "fill_disk", "close_disk", "break_disk", "exhaust_memory"],
                        help="nothing else happens")
    options = parser.parse_args()
    enter_own_mounts()
    chaos = Chaos(options.programs, options.seed, options.only)
    started, kills = time.monotonic(), 0
    rounds = 0
    while kills < options.kills:
        chaos.round()
        rounds += 1
        kills = chaos.killed.total()
        if chaos.wrong:
            print("WRONG", *chaos.wrong, flush=True)
            break
        if rounds % 20 == 0:
            print(f"{kills} kills, {chaos.answered} commands answered, {chaos.refused} cut off, {len(chaos.accepted)} jobs accepted, "
                  f"{time.monotonic() - started:.0f} s", flush=True)
    daemon, address = chaos.start(chaos.data)
    undisturbed, other = chaos.start(chaos.folder / "other")
    try:
        chaos.wait(address)
        chaos.wait(other)
        chaos.work_off(address)
        expected = chaos.answers(other)
        for expression, answer in chaos.answers(address).items():
            if answer != expected[expression]:
                chaos.wrong.append(f"{expression}: {answer}, of a server that was never killed {expected[expression]}")
        verified = json.loads(chaos.run(address, "cache", "verify", "--json").stdout)
        if verified["damaged"] or verified["missing"]:
            chaos.wrong.append(f"the cache: {verified}")
    finally:
        for one in (daemon, undisturbed):
            one.terminate()
            one.wait()
    chaos.check_files()
    disturbed = ", ".join(f"{disturb.__name__} {times}" for disturb, times in sorted(chaos.disturbed.items(), key=lambda one: one[0].__name__))
    killed = ", ".join(f"{kind} {times}" for kind, times in sorted(chaos.killed.items()))
    print(f"{kills} kills ({killed}) in {rounds} rounds, {time.monotonic() - started:.0f} s, seed {options.seed}: {disturbed}; {chaos.answered} commands answered, "
          f"{chaos.refused} cut off, {len(chaos.accepted)} jobs accepted and done, {verified['checked']} binaries verified, {len(chaos.wrong)} things wrong")
    for wrong in chaos.wrong:
        print("WRONG", wrong)
    if chaos.wrong:
        print(f"the log is {chaos.folder / 'log'}")
        return 1
    if chaos.disk:
        chaos.disk.unmount()
    if chaos.group:
        chaos.group.remove()
    shutil.rmtree(chaos.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the programs as a user does: `schaas` against a private `schaasd` with a database in a temporary folder."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
import unittest


def with_quick_compiler(folder):
    """The environment with a `cc` that optimises little, where there is one: tests of whole programs compile thousands of kernels, and what -O3
    makes of them is tested by the property tests."""
    compiler = shutil.which("cc")
    if compiler is None:
        return dict(os.environ)
    script = folder / "compiler" / "cc"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {compiler} "$@" -Og\n', encoding="ascii")
    script.chmod(0o755)
    return os.environ | {"PATH": f"{script.parent}:{os.environ['PATH']}"}


class Daemon:
    """A `schaasd` of the test's own, with a quick compiler unless told otherwise. Its folder, and with it the database, goes when it is closed."""

    def __init__(self, programs, options=(), quick_compiler=True):
        self.options = options
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-test-"))
        self.address = f"unix:{self.folder}/socket"
        self.environment = with_quick_compiler(self.folder) if quick_compiler else dict(os.environ)
        self.process = None
        self.start()

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [self.programs / "schaasd", "--data-dir", self.folder / "data", "--listen", self.address,
             "--idle-seconds", "120", *self.options],  # ends by itself should the test be killed
            stdout=self.log, stderr=self.log, env=self.environment)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if self.run("info").returncode == 0:
                return
            time.sleep(0.05)
        log = (self.folder / "log").read_text(errors="replace")[-4000:]
        self.close()
        raise RuntimeError("schaasd does not answer:\n" + log)

    def stop(self):
        self.process.terminate()
        status = self.process.wait(timeout=30)
        self.log.close()
        return status

    def close(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words):
        return run(self.programs, *words, server=self.address)

    def json(self, *words):
        """The one object a command printed; the command must have succeeded."""
        done = self.run(*words, "--json")
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}{done.stdout}")
        return one_object(done.stdout)


@contextlib.contextmanager
def asked(programs):
    """A `schaasd` that this process and its children ask, with an empty database and an empty kernel cache. Its kernels are compiled as users'
    are: benches measure them."""
    daemon = Daemon(pathlib.Path(programs).resolve(), quick_compiler=False)
    ours = {"SCHAAS_SERVER": daemon.address, "XDG_CACHE_HOME": str(daemon.folder / "cache")}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield daemon
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        daemon.close()


def run(programs, *words, server=None, environment=None, folder=None):
    """`schaas` with these words; SCHAAS_SERVER is `server` or unset. Nothing is kept unless the environment says where."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SCHAAS_", "XDG_"))}
    if server:
        variables["SCHAAS_SERVER"] = server
    variables.update(environment or {})
    if "XDG_CACHE_HOME" not in variables:
        variables.setdefault("SCHAAS_CACHE_BYTES", "0")
    return subprocess.run([pathlib.Path(programs) / "schaas", *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=variables, timeout=240, cwd=folder)


def one_object(text):
    """Exactly one JSON object and nothing else."""
    lines = text.splitlines()
    assert len(lines) == 1, f"expected one line of JSON, found {len(lines)}"
    found = json.loads(lines[0])
    assert isinstance(found, dict)
    return found


def write_matrix(path, rows, columns, entries, seed):
    """A random matrix with distinct coordinates, entries unsorted."""
    generator = random.Random(seed)
    places = generator.sample(range(rows * columns), entries)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n% seed {seed}\n{rows} {columns} {entries}\n")
        for place in places:
            out.write(f"{place // columns + 1} {place % columns + 1} {generator.uniform(-1, 1)!r}\n")
    return path


def write_tensor(path, extents, entries, seed):
    """A random FROSTT tensor of any order; the last coordinate of each mode occurs, so the extents are what is asked for."""
    generator = random.Random(seed)
    places = {tuple(extents)}
    while len(places) < entries:
        places.add(tuple(generator.randint(1, extent) for extent in extents))
    with open(path, "w", encoding="ascii") as out:
        out.write(f"# seed {seed}\n")
        for place in sorted(places, key=lambda _: generator.random()):
            out.write(" ".join(map(str, place)) + f" {generator.uniform(-1, 1)!r}\n")
    return path


class WithDaemon(unittest.TestCase):
    """One daemon for all tests of a class."""

    programs = None

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(cls.programs)
        cls.addClassCleanup(cls.daemon.close)
        cls.folder = cls.daemon.folder

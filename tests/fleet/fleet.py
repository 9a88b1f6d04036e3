"""Servers and workers of one PostgreSQL database, each with a folder of its own."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

import postgres

EXPRESSIONS = [
    "A(i,k) = B(i,j) * C(j,k)",
    "A(i,k) = B(i,j) * C(j,k) + C(i,k)",
    "y(i) = B(i,j) * x(j)",
    "y(i) = B(i,j) * x(j) + x(i)",
    "S(i) = exp(B(i,j)) * x(j)",
    "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
]


def problem_lines(count):
    """Small problems, all different, one JSON object a line; of each two kernels."""
    return "".join(json.dumps({"expression": EXPRESSIONS[n % len(EXPRESSIONS)], "formats": {"B": "csr"}, "kernels": 2,
                               "constraints": [f"i <= {1000 * (n + 1)}"]}) + "\n" for n in range(count))


class Process:
    """A schaasd with `options`, a server or a worker."""

    def __init__(self, fleet, name, options):
        self.folder = fleet.folder / name
        self.folder.mkdir(exist_ok=True)
        self.address = f"unix:{self.folder}/socket"
        self.words = [fleet.programs / "schaasd", "--data-dir", self.folder / "data", "--database", fleet.uri_file,
                      "--signing-key", fleet.folder / "key", *options]
        if "--worker" not in options:
            self.words += ["--listen", self.address, "--http", "127.0.0.1:0"]
        self.process = None
        self.start()

    def start(self):
        self.log = self.folder / "log"
        with open(self.log, "ab") as log, open(self.folder / "out", "wb") as out:
            self.process = subprocess.Popen(self.words, stdout=out, stderr=log)

    def alive(self):
        return self.process.poll() is None

    def wait_ready(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.alive():
                break
            if b"serving http" in (self.folder / "out").read_bytes():
                return self
            time.sleep(0.05)
        raise RuntimeError("schaasd does not start:\n" + self.log.read_text(errors="replace")[-3000:])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.alive():
            self.process.terminate()
        return self.process.wait(timeout=60)

    def metrics(self, name):
        """The sum of a metric's samples whose labels `name` begins with."""
        where = re.search(r"serving http on (\S+)", (self.folder / "out").read_text())[1]
        text = urllib.request.urlopen(f"http://{where}/metrics", timeout=20).read().decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


class Fleet:
    def __init__(self, programs):
        self.programs = pathlib.Path(programs).resolve()
        self.temporary = tempfile.TemporaryDirectory(prefix="schaas-fleet-")
        self.folder = pathlib.Path(self.temporary.name)
        self.folder.chmod(0o755)
        self.postgres = postgres.Postgres(self.folder / "pg")
        self.uri_file = self.folder / "database"
        self.uri_file.write_text(self.postgres.uri + "\n")
        self.uri_file.chmod(0o600)
        self.processes = []

    def server(self, name, *options):
        process = Process(self, name, options or ("--items", "0"))
        self.processes.append(process)
        return process.wait_ready()

    def worker(self, name, *options):
        process = Process(self, name, ("--worker", *options))
        self.processes.append(process)
        return process

    def schaas(self, *words, server, timeout=240):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SCHAAS_")}
        environment.update(SCHAAS_SERVER=server, SCHAAS_CACHE_BYTES="0", XDG_CONFIG_HOME=str(self.folder / "config"))
        return subprocess.run([self.programs / "schaas", *map(str, words)], capture_output=True, text=True, timeout=timeout,
                              env=environment, stdin=subprocess.DEVNULL, check=False)

    def precompute(self, server, count, key="one"):
        """Submits a job; returns its id."""
        path = self.folder / f"problems-{key}.json"
        path.write_text(problem_lines(count))
        done = self.schaas("precompute", path, "--detach", "--key", key, server=server)
        if done.returncode != 0:
            raise RuntimeError(done.stderr + done.stdout)
        return re.search(r"\bj\d+\b", done.stdout + done.stderr)[0]

    def ask(self, sql):
        return self.postgres.ask(sql)

    def wait_for(self, sql, expected, seconds):
        """Waits until a query answers as expected; returns the last answer."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = self.ask(sql)
            except subprocess.CalledProcessError:
                found = ""  # the database is starting
            if found == expected or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def close(self):
        for process in self.processes:
            if process.alive():
                process.process.kill()
            process.process.wait()
        self.postgres.stop()
        self.temporary.cleanup()

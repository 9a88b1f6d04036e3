"""A PostgreSQL server of its own in a folder, also as root and without a service manager, for tests."""
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time


def programs():
    """Returns the folder of PostgreSQL's programs; None where it is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    if found:
        return pathlib.Path(found[-1]).parent
    there = shutil.which("initdb")
    return pathlib.Path(there).parent if there else None


def read_if_there(path):
    """Returns the text of a file of the kernel; an empty one where it is missing or cannot be read."""
    try:
        return path.read_text()
    except OSError:
        return ""


class Postgres:
    """Listens on a Unix socket in `folder`. A crash of the server is `kill`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.bin = programs()
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.folder.chmod(0o755)
        self.run("initdb", "-D", "data", "-U", "schaas", "-A", "trust", "--no-instructions", "--no-sync", "-E", "UTF8", "--locale=C")
        settings = (f"unix_socket_directories = '{self.folder}'\nunix_socket_permissions = 0777\nlisten_addresses = ''\n"
                    "max_connections = 200\nshared_buffers = 64MB\n")
        with open(self.folder / "data/postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(settings)
        self.start()
        self.run("createdb", "-h", str(self.folder), "-U", "schaas", "schaas")

    def command(self, program, *arguments):
        as_user = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "env", "HOME=/tmp"]
        return [*as_user, str(self.bin / program), *arguments]

    def run(self, program, *arguments):
        return subprocess.run(self.command(program, *arguments), cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def start(self):
        # The log is the server's own file: a pipe to it would stay open.
        self.run("pg_ctl", "-D", "data", "-l", "server.log", "-w", "-t", "60", "start")
        self.share_the_priority()

    def share_the_priority(self):
        """Gives the server, which is a session of its own, the priority of this one: measurements compare both."""
        own = re.search(r"nice (-?\d+)", read_if_there(pathlib.Path("/proc/self/autogroup")))
        if own and own.group(1) != "0":
            pid = (self.folder / "data/postmaster.pid").read_text().splitlines()[0]
            pathlib.Path(f"/proc/{pid}/autogroup").write_text(own.group(1))

    def stop(self):
        subprocess.run(self.command("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop"), cwd=self.folder,
                       check=False, capture_output=True)

    def kill(self):
        """Ends it as a crash of its machine would, and starts it again."""
        pid = int((self.folder / "data/postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                self.start()
                return
            except subprocess.CalledProcessError:  # its children are still going
                time.sleep(0.2)
        raise TimeoutError("PostgreSQL does not start again")

    @property
    def uri(self):
        return f"postgresql://schaas@/schaas?host={self.folder}"

    def ask(self, sql):
        return self.run("psql", "-h", str(self.folder), "-U", "schaas", "-d", "schaas", "-tA", "-c", sql).strip()

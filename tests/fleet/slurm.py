"""A Slurm cluster of some nodes on this one machine, as root and without a service manager, for chaos.py."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

# Requeued tasks wait as long as credentials hold (cred_expire); tasks go to the node with the least load (CR_LLN).
CONFIGURATION = """ClusterName=schaas-test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={port}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core,CR_LLN
MpiDefault=none
ReturnToService=2
JobRequeue=1
SlurmdTimeout=5
KillWait=2
SchedulerParameters=bf_interval=1,sched_min_interval=0,sched_interval=1
SlurmdParameters=config_overrides
"""


def installed():
    return os.geteuid() == 0 and all(shutil.which(program) for program in ("slurmctld", "slurmd", "sbatch", "munged"))


class Slurm:
    """Nodes n1, n2, ... with `processors` each. A node is lost with all its processes."""

    def __init__(self, folder, nodes=2, processors=2, port=17400):
        self.folder = pathlib.Path(folder)
        (self.folder / "munge").mkdir(parents=True)
        (self.folder / "state").mkdir()
        host = socket.gethostname().split(".")[0]
        self.nodes = [f"n{n}" for n in range(1, nodes + 1)]
        text = CONFIGURATION.format(host=host, port=port, folder=self.folder)
        for number, node in enumerate(self.nodes, 1):
            (self.folder / f"spool.{node}").mkdir()
            text += (f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + number} CPUs={processors} "
                     "RealMemory=4000 State=UNKNOWN\n")
        text += f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(text)
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        try:
            self.start_munge()
            self.run("slurmctld", "-f", self.configuration)
            for node in self.nodes:
                self.start_node(node)
        except BaseException:
            self.close()
            raise

    def start_munge(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o400)
        for path in (munge, munge / "key"):
            shutil.chown(path, "munge", "munge")
        munge.chmod(0o711)
        self.run("setpriv", "--reuid=munge", "--regid=munge", "--init-groups", "munged", f"--key-file={munge}/key",
                 f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")

    def run(self, *words, **more):
        return subprocess.run([str(word) for word in words], env={**self.environment, **more}, check=True, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def start_node(self, node):
        self.run("slurmd", "-f", self.configuration, "-N", node)
        daemon, end = self.folder / f"slurmd.{node}.pid", time.monotonic() + 30
        while not (daemon.exists() and daemon.read_text().strip()):  # it is written a moment after the start
            if time.monotonic() > end:
                raise TimeoutError(f"slurmd of {node} does not start")
            time.sleep(0.05)

    def submit(self, script, *options, **environment):
        out = self.run("sbatch", f"--output={self.folder}/task.%a", *options, script, **environment)
        return re.search(r"\d+", out)[0]

    def release(self, job):
        """Lets tasks run again that Slurm holds since their nodes were lost five times, as an operator does."""
        subprocess.run(["scontrol", "release", job], env=self.environment, check=False, capture_output=True)

    def tasks(self, node):
        """The processes on a node that start those of jobs, and these."""
        mark, ours = f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.configuration}".encode()
        starters, found = set(), set()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                if mark in variables and ours in variables:
                    parent = int((process / "stat").read_text().rsplit(") ", 1)[1].split()[1])
                    found.add(int(process.name))
                    if b"slurmstepd" in pathlib.Path(f"/proc/{parent}/cmdline").read_bytes():
                        starters.add(parent)
            except (OSError, IndexError):
                continue  # it ended meanwhile
        return starters, found - starters

    def lose(self, node):
        """Kills everything that runs on a node, first what could tell the controller of it."""
        starters, tasks = self.tasks(node)
        daemon = self.folder / f"slurmd.{node}.pid"
        if daemon.exists():
            starters.add(int(daemon.read_text()))
            daemon.unlink()
        for pid in [*starters, *tasks]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self):
        subprocess.run(["scancel", "--user=root"], env=self.environment, check=False, capture_output=True)
        time.sleep(1)
        for node in self.nodes:
            self.lose(node)
        for name in ("slurmctld.pid", "munge/pid"):
            try:
                os.kill(int((self.folder / name).read_text()), signal.SIGKILL)
            except (OSError, ValueError):
                pass

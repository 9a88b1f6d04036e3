"""What the tests of installations share: a folder, an environment that knows nothing of this build, and an end for the private
daemons that were started from the folder."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

PRIVATE = ("SCHAAS_", "XDG_", "PYTHONPATH", "LD_LIBRARY_PATH")


def run(*words, **options):
    """What it printed; an error says what it said."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def end_processes_of(folder):
    """Of programs that lie in it."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").resolve().is_relative_to(folder):
                os.kill(int(process.name), signal.SIGTERM)
        except OSError:
            pass


class Installation:
    """`root` is where things are installed, `environment` that of a user with a home of his own."""

    def __init__(self, test):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-root-"))
        test.addClassCleanup(shutil.rmtree, self.folder, True)
        test.addClassCleanup(self.end_daemons)
        self.root = self.folder / "root"
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
        self.environment |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}

    def with_(self, **variables):
        return {**self.environment, **{name: str(value) for name, value in variables.items()}}

    def end_daemons(self):
        end_processes_of(self.folder)

"""The wheel in a folder that holds nothing else: it computes with the private daemon that it brings."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile

import with_server

PACKAGE = with_server.ROOT / "client/python"
TRY = """
import numpy as np, scipy.sparse as sp, schaas
b = sp.random(12, 9, 0.3, format="csr", random_state=3)
x = np.arange(9.0)
assert np.allclose(schaas.einsum("ij,j->i", b, x), b @ x)
print(schaas.__file__, schaas.__version__)
"""


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-wheel-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.clean = {name: value for name, value in os.environ.items()
                      if not name.startswith(("SCHAAS_", "XDG_", "PYTHONPATH"))}

    def build(self):
        done = subprocess.run([sys.executable, PACKAGE / "build_wheel.py", self.folder], capture_output=True, text=True, timeout=120,
                              env={**self.clean, "SCHAAS_BUILD": str(with_server.PROGRAMS.parent)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / done.stdout.strip()

    def test_an_unpacked_wheel_works_alone(self):
        wheel = self.build()
        root = self.folder / "root"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root)
            for entry in archive.infolist():  # zipfile keeps no modes, pip does
                os.chmod(root / entry.filename, entry.external_attr >> 16 & 0o777 or 0o644)
        self.run_in(root)

    def test_pip_installs_it(self):
        found = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, env=self.clean)
        if found.returncode != 0:
            self.skipTest(f"{sys.executable} has no pip")
        root = self.folder / "root"
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", root,
                               self.build()], capture_output=True, text=True, env=self.clean, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_in(root)

    def run_in(self, root):
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        variables = {**self.clean, "PYTHONPATH": str(root), "XDG_DATA_HOME": str(data), "XDG_RUNTIME_DIR": str(data)}
        try:
            done = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, env=variables, cwd=self.folder,
                                  timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split(), [str(root / "schaas/__init__.py"), "0.1.0"])
        finally:
            for process in pathlib.Path("/proc").glob("[0-9]*"):  # the private daemon, which would wait for more
                try:
                    if (process / "exe").resolve() == root / "schaas/_lib/schaasd":
                        os.kill(int(process.name), signal.SIGTERM)
                except OSError:
                    pass


if __name__ == "__main__":
    with_server.main()

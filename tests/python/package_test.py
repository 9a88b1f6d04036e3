"""The wheel in a folder that holds nothing else: it computes with the private daemon that it brings."""

import email
import os
import re
import sys
import tarfile
import unittest
import zipfile

import with_server
from installed import Installation, run

PACKAGE = with_server.ROOT / "client/python"
TRY = """
import numpy as np, scipy.sparse as sp, schaas
b = sp.random(12, 9, 0.3, format="csr", random_state=3)
x = np.arange(9.0)
assert np.allclose(schaas.einsum("ij,j->i", b, x), b @ x)
print(schaas.__file__, schaas.__version__)
"""


# Beside the C library and its loader. OpenMP tells how many threads the user set (docs/decisions/0003).
OFFLINE = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1", "libcrypto.so.3"}
LOADED = """
import schaas
print([line.split("/")[-1].strip() for line in open("/proc/self/maps") if "grpc" in line or "schaas-remote" in line])
"""


class Library(unittest.TestCase):
    def test_it_links_few_libraries(self):
        needed = run("readelf", "-d", with_server.PROGRAMS.parent / "lib/libschaas.so.0")
        names = set(re.findall(r"NEEDED.*\[(.*)\]", needed)) - {"ld-linux-x86-64.so.2"}
        self.assertEqual(names - OFFLINE, set())

    def test_importing_it_loads_no_grpc(self):
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        self.assertEqual(run(sys.executable, "-c", LOADED, env=environment).strip(), "[]")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Installation(cls)
        cls.wheel = cls.place.folder / run(sys.executable, PACKAGE / "build_wheel.py", cls.place.folder,
                                           env=cls.place.with_(SCHAAS_BUILD=with_server.PROGRAMS.parent)).strip()

    def test_an_unpacked_wheel_works_alone(self):
        root = self.place.folder / "unpacked"
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(root)
            for entry in archive.infolist():  # zipfile keeps no modes, pip does
                os.chmod(root / entry.filename, entry.external_attr >> 16 & 0o777 or 0o644)
        self.run_in(root)

    def test_pip_installs_it(self):
        self.pip("install", "--quiet", "--no-index", "--no-deps", "--target", self.place.root, self.wheel)
        self.run_in(self.place.root)

    def test_pip_installs_the_program(self):
        root = self.place.folder / "with_scripts"
        self.pip("install", "--no-index", "--no-deps", "--target", root, self.wheel)
        self.assertEqual(run(root / "bin/schaas", "--version", env=self.place.with_(PYTHONPATH=root)), "schaas 0.1.0\n")

    def test_it_says_what_it_is(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = email.message_from_bytes(archive.read("schaas-0.1.0.dist-info/METADATA"))
        self.assertIn("schaas/py.typed", names)
        self.assertIn("schaas-0.1.0.dist-info/LICENSE", names)
        self.assertEqual((metadata["Name"], metadata["License"], metadata["Requires-Python"]), ("schaas", "Apache-2.0", ">=3.9"))
        self.assertTrue(metadata.get_payload().startswith("# schaas\n"))
        self.assertRegex(self.wheel.name, r"-py3-none-linux_\w+\.whl$")  # of this system alone

    def test_a_source_distribution_has_what_a_build_needs(self):
        text = f"import build_wheel, sys; print(build_wheel.build_sdist({str(self.place.folder)!r}))"
        name = run(sys.executable, "-c", text, cwd=PACKAGE).strip()
        with tarfile.open(self.place.folder / name) as archive:
            names = {entry.removeprefix("schaas-0.1.0/") for entry in archive.getnames()}
            described = archive.extractfile("schaas-0.1.0/pyproject.toml").read().decode()
        self.assertLessEqual({"PKG-INFO", "LICENSE", "CMakePresets.json", "client/python/build_wheel.py", "proto/schaas/v1/schaas.proto", "deploy/packages.txt"}, names)
        self.assertIn('backend-path = ["client/python"]', described)
        self.assertFalse([name for name in names if name.startswith(("build/", "tests/")) or "__pycache__" in name])

    def pip(self, *words):
        try:
            run(sys.executable, "-m", "pip", "--version", env=self.place.environment)
        except AssertionError:
            self.skipTest(f"{sys.executable} has no pip")
        run(sys.executable, "-m", "pip", *words, env=self.place.environment)

    def run_in(self, root):
        told = run(sys.executable, "-c", TRY, env=self.place.with_(PYTHONPATH=root), cwd=self.place.folder)
        self.assertEqual(told.split(), [str(root / "schaas/__init__.py"), "0.1.0"])


if __name__ == "__main__":
    with_server.main()

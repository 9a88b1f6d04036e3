"""A portable wheel: its files need nothing but the C library and the runtime of C++, and its tag promises no older ones. clean_root.py installs
it where there is nothing else."""

import re
import shutil
import sys
import unittest
import zipfile

import with_server
from installed import Installation, run

PACKAGE = with_server.ROOT / "client/python"
# PEP 600 has them everywhere.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"}
TRY = """
import numpy as np, scipy.sparse as sp, schaas
b, x = sp.random(12, 9, 0.3, format="csr", random_state=3), np.arange(9.0)
assert np.allclose(schaas.einsum("ij,j->i", b, x), b @ x)
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libcrypto" in line or "libgomp" in line or "schaas-remote" in line}
print(sorted({path.split("/")[-1].split(".")[0].split("-")[0] for path in loaded if "/schaas/_lib/" in path}))
"""


class PortableWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("patchelf"):
            raise unittest.SkipTest("there is no patchelf")
        cls.place = Installation(cls)
        cls.wheel = cls.place.folder / run(sys.executable, PACKAGE / "build_wheel.py", cls.place.folder, "--portable",
                                           env=cls.place.with_(SCHAAS_BUILD=with_server.PROGRAMS.parent)).strip()
        cls.root = cls.place.folder / "unpacked"
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.root)
        cls.files = sorted(path for path in (cls.root / "schaas/_lib").rglob("*") if path.is_file())
        for file in cls.files:
            file.chmod(0o755)  # zipfile keeps no modes, pip does

    def test_every_library_is_everywhere_or_in_it(self):
        brought = {file.name for file in self.files}
        for file in self.files:
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", file)))
            missing = {name for name in needed - EVERYWHERE - brought if not name.startswith("ld-linux")}
            self.assertEqual(missing, set(), file)
            versions = set(re.findall(r"File: (\S+)", run("readelf", "-V", "--wide", file)))
            self.assertLessEqual(versions, needed, f"{file}: versions of libraries that it does not need")

    def test_no_library_has_a_name_of_the_systems(self):
        for file in self.files:
            if file.parent.name == "libraries":
                self.assertRegex(file.name, r"-[0-9a-f]{8}\.so\.")

    def test_its_tag_has_the_symbols_that_it_asks_for(self):
        minor = int(re.search(r"-manylinux_2_(\d+)_\w+\.whl$", self.wheel.name).group(1))
        for file in self.files:
            asked = [int(version) for version in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-V", "--wide", file).split("Version needs")[-1])]
            self.assertLessEqual(max(asked, default=0), minor, file)

    def test_its_programs_start(self):
        for name in ("schaas", "schaasd"):
            self.assertEqual(run(self.root / "schaas/_lib" / name, "--version", env=self.place.environment), f"{name} 0.1.0\n")

    def test_python_computes_with_what_it_brings(self):
        told = run(sys.executable, "-c", TRY, cwd=self.place.folder, env=self.place.with_(PYTHONPATH=self.root, SCHAAS_SERVER=with_server.daemon().address))
        self.assertEqual(told, "['libcrypto', 'libgomp', 'libschaas']\n")


if __name__ == "__main__":
    with_server.main()

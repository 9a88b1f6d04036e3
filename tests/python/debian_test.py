"""The Debian packages, unpacked into one root: the program, the daemon it starts, Python, and what each package depends on."""

import shutil
import sys
import unittest

import with_server
from installed import Installation, run

BUILD = with_server.PROGRAMS.parent
NAMES = ["libschaas-dev", "libschaas0", "python3-schaas", "schaas", "schaas-daemon"]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
            if shutil.which(program) is None:
                raise unittest.SkipTest(f"there is no {program}")
        cls.place = Installation(cls)
        cls.folder, cls.root = cls.place.folder, cls.place.root
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder, cwd=cls.folder)
        cls.packages = sorted(cls.folder.glob("*.deb"))
        for package in cls.packages:
            run("dpkg-deb", "-x", package, cls.root)
        cls.clean = cls.place.with_(PATH=f"{cls.root}/usr/bin:{cls.place.environment['PATH']}",
                                    LD_LIBRARY_PATH=next(cls.root.glob("usr/lib/**/libschaas.so.0")).parent)

    def test_there_is_one_for_each_part(self):
        self.assertEqual(sorted(package.name.split("_")[0] for package in self.packages), NAMES)
        depends = {package.name.split("_")[0]: run("dpkg-deb", "-f", package, "Depends") for package in self.packages}
        for name in ("libschaas0", "schaas"):
            self.assertNotRegex(depends[name], "libz3|libsqlite3|gcc,|libgmp")
        self.assertIn("libz3-4", depends["schaas-daemon"])
        self.assertIn("python3-scipy", depends["python3-schaas"])

    def test_the_program_computes_with_the_daemon_it_starts(self):
        told = run("schaas", "run", "y(i) = B(i,j) * x(j)", "-f", "B=csr", "-d", "i=40", "-d", "j=30", "--verify", env=self.clean)
        self.assertIn("verified", told)

    def test_python_computes(self):
        variables = {**self.clean, "PYTHONPATH": str(self.root / "usr/lib/python3/dist-packages")}
        text = "import schaas, numpy; print(schaas.einsum('ij,j->i', numpy.eye(2), numpy.array([3.0, 4.0])))"
        self.assertEqual(run(sys.executable, "-c", text, env=variables, cwd=self.folder), "[3. 4.]\n")


if __name__ == "__main__":
    with_server.main()

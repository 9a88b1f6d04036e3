"""The Debian packages, unpacked into one root: the program, the daemon it starts, Python, and what each package depends on."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import with_server

BUILD = with_server.PROGRAMS.parent
NAMES = ["libschaas-dev", "libschaas0", "python3-schaas", "schaas", "schaas-daemon"]


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
            if shutil.which(program) is None:
                raise unittest.SkipTest(f"there is no {program}")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder, cwd=cls.folder)
        cls.packages = sorted(cls.folder.glob("*.deb"))
        cls.root = cls.folder / "root"
        for package in cls.packages:
            run("dpkg-deb", "-x", package, cls.root)
        cls.data = cls.folder / "data"
        cls.data.mkdir(mode=0o700)
        cls.clean = {name: value for name, value in os.environ.items() if not name.startswith(("SCHAAS_", "XDG_", "PYTHONPATH"))}
        cls.clean |= {"XDG_DATA_HOME": str(cls.data), "XDG_RUNTIME_DIR": str(cls.data), "PATH": f"{cls.root}/usr/bin:{os.environ['PATH']}",
                      "LD_LIBRARY_PATH": str(next(cls.root.glob("usr/lib/**/libschaas.so.0")).parent)}

    @classmethod
    def tearDownClass(cls):
        for process in pathlib.Path("/proc").glob("[0-9]*"):  # the private daemon, which would wait for more
            try:
                if (process / "exe").resolve() == cls.root / "usr/bin/schaasd":
                    os.kill(int(process.name), signal.SIGTERM)
            except OSError:
                pass

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

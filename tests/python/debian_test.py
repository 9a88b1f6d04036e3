"""The Debian packages: lintian has no error, and unpacked into one root the program, the daemon it starts and Python work. clean_root.py
installs them."""

import re
import shutil
import subprocess
import sys
import unittest

import with_server
from installed import Installation, run

BUILD = with_server.PROGRAMS.parent
NAMES = ["libschaas-dev", "libschaas0", "python3-schaas", "schaas", "schaas-daemon"]
TOOLS = {"dpkg-buildpackage": "dpkg-dev", "dh": "debhelper", "dh_python3": "dh-python"}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program, package in TOOLS.items():
            if shutil.which(program) is None:
                raise unittest.SkipTest(f"there is no {program}: apt-get install {package}")
        cls.place = Installation(cls)
        cls.folder, cls.root = cls.place.folder / "packages", cls.place.root
        run(with_server.ROOT / "deploy/build-packages.sh", BUILD, cls.folder)
        cls.packages = {package.name.split("_")[0]: package for package in sorted(cls.folder.glob("*.deb"))}
        for package in cls.packages.values():
            run("dpkg-deb", "-x", package, cls.root)
        cls.clean = cls.place.with_(PATH=f"{cls.root}/usr/bin:{cls.place.environment['PATH']}")

    def control(self, name, file):
        return run("dpkg-deb", "-I", self.packages[name], file)

    def test_there_is_one_for_each_part(self):
        self.assertEqual(sorted(self.packages), NAMES)
        depends = {name: re.search("^Depends: (.*)$", self.control(name, "control"), re.MULTILINE).group(1) for name in NAMES}
        for name in ("libschaas0", "schaas"):
            self.assertNotRegex(depends[name], "libz3|libsqlite3|gcc,|libgmp")
        self.assertIn("libz3-4", depends["schaas-daemon"])
        self.assertIn("python3-scipy", depends["python3-schaas"])

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian")
    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--allow-root", "--no-tag-display-limit", "--fail-on", "error", next(self.folder.glob("*.changes"))],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, re.findall("^E: .*$", done.stdout, re.MULTILINE)), (0, []), done.stderr)

    def test_the_library_is_known_to_the_loader_and_to_packages(self):
        self.assertIn("ldconfig", self.control("libschaas0", "triggers"))
        self.assertIn("libschaas 0 libschaas0", self.control("libschaas0", "shlibs"))

    def test_the_service_has_a_user_a_configuration_and_is_enabled(self):
        self.assertEqual(self.control("schaas-daemon", "conffiles"), "/etc/schaas/schaasd.toml\n")
        script = self.control("schaas-daemon", "postinst")
        self.assertRegex(script, r"systemd-sysusers .*schaas\.conf")
        self.assertIn("deb-systemd-helper enable 'schaasd.service'", script)
        unit = (self.root / "lib/systemd/system/schaasd.service").read_text()
        self.assertIn("ExecStart=/usr/bin/schaasd --config /etc/schaas/schaasd.toml", unit)
        self.assertIn("User=schaas\n", unit)
        self.assertRegex((self.root / "usr/lib/sysusers.d/schaas.conf").read_text(), r"(?m)^u schaas ")

    def test_the_program_computes_with_the_daemon_it_starts(self):
        told = run("schaas", "run", "y(i) = B(i,j) * x(j)", "-f", "B=csr", "-d", "i=40", "-d", "j=30", "--verify", env=self.clean)
        self.assertIn("verified", told)

    def test_python_computes(self):
        variables = {**self.clean, "PYTHONPATH": str(self.root / "usr/lib/python3/dist-packages")}
        text = "import schaas, numpy; print(schaas.einsum('ij,j->i', numpy.eye(2), numpy.array([3.0, 4.0])))"
        self.assertEqual(run(sys.executable, "-c", text, env=variables, cwd=self.folder), "[3. 4.]\n")


if __name__ == "__main__":
    with_server.main()

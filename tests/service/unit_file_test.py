#!/usr/bin/env python3
"""The systemd unit: systemd understands every line of it, it is well shut in, and the daemon understands what it is started with.

    unit_file_test.py BIN      BIN: folder with the programs
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv.pop(1)).resolve()
UNIT = (ROOT / "deploy" / "systemd" / "schaasd.service").read_text()
MOST_EXPOSED = 30  # tenths, as systemd counts: below 3 is its "ok"


class UnitFile(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-unit-"))
        self.addCleanup(shutil.rmtree, folder)
        self.file = folder / "schaasd.service"
        self.file.write_text(UNIT.replace("/usr/bin/schaasd", str(BIN / "schaasd")))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze is installed")
    def test_systemd_understands_it(self):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", self.file], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze is installed")
    def test_the_daemon_is_shut_in(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", self.file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_daemon_understands_how_it_is_started(self):
        started, checked = (re.search(rf"^{line}=\S+ (.*)$", UNIT, re.MULTILINE).group(1) for line in ("ExecStart", "ExecStartPre"))
        self.assertEqual(checked, f"{started} --check-config")
        folder = self.file.parent
        for there, here in (("/etc/schaas", ROOT / "deploy"), ("/var/lib", folder), ("/run/schaas", folder)):
            checked = checked.replace(there, str(here))
        done = subprocess.run([BIN / "schaasd", *checked.split()], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "the configuration is valid\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()

"""The worked examples agree with numpy and scipy, on generated data. Figures are their own business (docs/examples)."""

import os
import subprocess
import sys
import unittest

import with_server

with_server.daemon()
EXAMPLES = with_server.ROOT / "docs/examples"


class Examples(unittest.TestCase):
    pass


def runs(name):
    def test(self):
        done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--repeat", "1"], capture_output=True, text=True, timeout=500,
                              env=os.environ)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"schaas +[\d.]+ ms +numpy/scipy +[\d.]+ ms")
    return test


for _name in ("graph_attention", "cp_als", "tucker", "triangles", "shortest_paths"):
    setattr(Examples, f"test_{_name}", runs(_name))

if __name__ == "__main__":
    with_server.main()

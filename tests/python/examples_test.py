"""The worked examples agree with numpy and scipy, on generated data and, where it lies beside the checkout, on real data. Figures
are their own business (tests/bench/examples.py)."""

import os
import subprocess
import sys
import unittest

import with_server

with_server.daemon()
EXAMPLES = with_server.ROOT / "docs/examples"
DATA = with_server.ROOT.parent / "shared/data"

# Each with a set that the numpy and scipy way can hold as well.
REAL = {"graph_attention": "matrices/cora.mtx.gz", "cp_als": "tensors/kinship.tns.gz", "tucker": "tensors/umls.tns.gz",
        "triangles": "matrices/facebook_combined.mtx.gz", "shortest_paths": "matrices/power.mtx.gz"}


class OnGeneratedData(unittest.TestCase):
    pass


@unittest.skipUnless(DATA.is_dir(), f"there is no {DATA}: real matrices and tensors")
class OnRealData(unittest.TestCase):
    pass


def runs(name, *words):
    def test(self):
        done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--repeat", "1", *words], capture_output=True, text=True,
                              timeout=500, env=os.environ)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"schaas +[\d.]+ ms +numpy/scipy +[\d.]+ ms")
    return test


for _name, _data in REAL.items():
    setattr(OnGeneratedData, f"test_{_name}", runs(_name))
    setattr(OnRealData, f"test_{_name}", runs(_name, "--data", str(DATA / _data)))

if __name__ == "__main__":
    with_server.main()

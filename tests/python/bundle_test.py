"""Kernels from a file, without a server."""

import os
import subprocess
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

daemon = with_server.daemon()
import schaas

SEED = 20261122
STATEMENT = "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)"
PATH = daemon.folder / "kernels.schaas"


def setUpModule():
    print(f"seed {SEED}")
    daemon.json("bundle", STATEMENT, "-f", "B=csr", "-c", "k <= 64", "--isa", "generic", "-o", PATH)


class Loaded(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(SEED)
        self.b = sp.random(30, 20, 0.2, format="csr", random_state=SEED)
        self.c, self.d, self.e = random.random((30, 8)), random.random((20, 8)), random.random((20, 5))
        self.expected = self.b.multiply(self.c @ self.d.T) @ self.e

    def test_computes_what_the_file_says(self):
        f = schaas.load(PATH)
        self.assertEqual((f.expression, f.operands), (STATEMENT, ["B", "C", "D", "E"]))
        self.assertTrue(f.bundle["made_by"].startswith("schaas "))
        np.testing.assert_allclose(f(self.b, self.c, self.d, self.e), self.expected, rtol=1e-12)
        wide = self.b.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        np.testing.assert_allclose(f(wide, self.c, self.d, self.e), self.expected, rtol=1e-12)
        np.testing.assert_allclose(f(self.b.tocsc(), self.c.astype(np.float32), self.d, self.e),
                                   self.b.multiply(self.c.astype(np.float32) @ self.d.T) @ self.e, rtol=1e-12)
        self.assertIn(f.bind(self.b, self.c, self.d, self.e).describe()["id"], [entry["id"] for entry in f.frontier])

    def test_needs_no_server(self):
        program = (f"import schaas, numpy as np, scipy.sparse as sp\n"
                   f"f = schaas.load({str(PATH)!r})\n"
                   f"print(f(sp.identity(4, format='csr'), np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 1))).ravel())\n"
                   f"assert 'schaas-remote' not in open('/proc/self/maps').read(), 'gRPC was loaded'\n")
        environment = {**os.environ, "SCHAAS_SERVER": "unix:/nowhere/at/all"}
        done = subprocess.run([os.sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[2. 2. 2. 2.]\n")

    def test_says_what_is_wrong(self):
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.load(daemon.folder / "nothing.schaas")
        self.assertEqual(raised.exception.code, "file-missing")
        f = schaas.load(PATH)
        with self.assertRaises(schaas.Invalid) as raised:
            f(self.b, np.ones((30, 65)), np.ones((20, 65)), self.e)
        self.assertEqual(raised.exception.code, "bound-violated")


if __name__ == "__main__":
    with_server.main()

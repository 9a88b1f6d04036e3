"""A server that goes and comes back under a session: kernels that were received run, and it is asked again."""

import time
import unittest
import warnings

import with_server
import numpy as np
import scipy.sparse as sp

daemon = with_server.daemon()
import schaas

SEED = 20261124


class Gone(unittest.TestCase):
    def test_and_back(self):
        print(f"seed {SEED}")
        b, x = sp.random(30, 20, 0.2, format="csr", random_state=SEED), np.random.default_rng(SEED).random(20)
        known = schaas.kernel("y(i) = B(i,j) * x(j)")
        np.testing.assert_allclose(known(b, x), b @ x, rtol=1e-13)
        daemon.stop()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            np.testing.assert_allclose(known(b, x), b @ x, rtol=1e-13)  # it is here
            self.assertEqual(told, [])
            again = schaas.kernel("y(i) = B(i,j) * x(j)")  # from the cache, by way of a new question
            np.testing.assert_allclose(again(b, x), b @ x, rtol=1e-13)
            self.assertEqual([one.category for one in told], [schaas.OfflineWarning])
            self.assertRegex(str(told[0].message), f"^no server answers at {daemon.address}: .*; kernels that were received earlier run, from ")
            with self.assertRaises(schaas.Unreachable) as raised:
                schaas.kernel("y(j) = B(i,j) * z(i)")(b, np.ones(30))
            self.assertIn("note: kernels for this problem are not among those received earlier either", str(raised.exception))
        daemon.start()
        time.sleep(2.1)  # it is looked for again no more often than every 2 s
        np.testing.assert_allclose(schaas.kernel("y(j) = B(i,j) * z(i)")(b, np.ones(30)), b.T @ np.ones(30), rtol=1e-13)


if __name__ == "__main__":
    with_server.main()

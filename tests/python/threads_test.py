"""Many threads of Python, one kernel."""

import concurrent.futures
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

SEED = 8


class Threads(unittest.TestCase):
    def test_a_thousand_calls_from_eight_threads(self):
        print(f"seed {SEED}")
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        matrices = [sp.random(20 + n, 15, 0.3, format="csr", random_state=SEED + n) for n in range(8)]

        def work(thread):
            random = np.random.default_rng(thread)
            for _ in range(125):
                b, x = matrices[random.integers(8)], random.random(15)
                if not np.allclose(f(B=b, x=x, threads=int(random.integers(0, 3))), b @ x, rtol=1e-12):
                    return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(work, range(8))), [True] * 8)


if __name__ == "__main__":
    with_server.main()

"""Programs in parts: intermediates that are stored sparse, beside scipy."""

import unittest

import with_server
import numpy as np
import scipy.sparse as sp

daemon = with_server.daemon()
import schaas


def matrix(seed, rows=300, columns=300, each=3):
    draw = np.random.default_rng(seed)
    entries = draw.integers(0, rows, rows * each), draw.integers(0, columns, rows * each)
    return sp.csr_matrix((draw.integers(1, 9, rows * each).astype(float), entries), (rows, columns))


B, C, D = matrix(1), matrix(2), matrix(3)
T = B @ C
# expression, what scipy makes of it; results are csr
CASES = [
    ("T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * T(k,l)", lambda: T @ T),
    ("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) + T(k,i)", lambda: T + T.T),
    ("T(i,k) = B(i,j) * C(j,k); U(i,l) = T(i,k) * T(k,l); A(i,m) = U(i,l) * U(l,m)", lambda: (T @ T) @ (T @ T)),
    ("T(i,k) = B(j,i) * C(j,k); A(i,l) = T(i,k) * D(k,l) * T(i,l)", lambda: (B.T @ C @ D).multiply(B.T @ C)),
    ("T(i,k) = B(i,j) * C(j,k); s = T(i,k) * T(i,k); A(i,k) = T(i,k) / s", lambda: T / (T.data**2).sum()),
]


class StoredIntermediates(unittest.TestCase):
    def test_agree_with_scipy(self):
        for expression, expected in CASES:
            names = [name for name in "BCD" if f"{name}(" in expression]
            operands = {name: globals()[name] for name in names}
            f = schaas.kernel(expression, A="csr")
            for threads in (1, 2):
                with self.subTest(expression=expression, threads=threads):
                    made = f(**operands, threads=threads)
                    np.testing.assert_allclose(made.toarray(), expected().toarray(), rtol=1e-12)

    def test_hold_entries_and_no_array_of_all_elements(self):
        n = 100_000
        b = matrix(5, n, n, 2)
        made = schaas.kernel(CASES[0][0], A="csr")(B=b, C=b)
        expected = (b @ b) @ (b @ b)
        self.assertEqual(abs(sp.csr_matrix(made) - expected).max(), 0)

    def test_are_computed_anew_by_each_run(self):
        b = B.copy()
        step = schaas.kernel(CASES[0][0], A="csr").bind(B=b, C=C)
        for _ in range(3):
            np.testing.assert_allclose(sp.csr_matrix(step()).toarray(), ((b @ C) @ (b @ C)).toarray(), rtol=1e-12)
            b.data *= 2

    def test_are_dense_in_bundles_which_hold_the_program_as_one(self):
        path = daemon.folder / "program.schaas"
        daemon.json("bundle", CASES[0][0], "-f", "B=csr", "-f", "C=csr", "-f", "A=csr", "--isa", "generic", "-o", path)
        np.testing.assert_allclose(sp.csr_matrix(schaas.load(path)(B=B, C=C)).toarray(), (T @ T).toarray(), rtol=1e-12)

    def test_refuse_operands_as_one_program_does(self):
        f = schaas.kernel(CASES[0][0], A="csr")
        for operands, code in ((dict(B=B), "missing-operand"), (dict(B=B, C=C, T=C), "unknown-tensor"), (dict(B=B, C=matrix(2, 7)), "extent-conflict")):
            with self.assertRaises(schaas.Error) as raised:
                f(**operands)
            self.assertIn(code, (raised.exception.code, str(raised.exception)))


if __name__ == "__main__":
    with_server.main()

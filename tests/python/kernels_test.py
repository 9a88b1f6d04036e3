"""Kernels from Python: expressions, results, options, errors."""

import pathlib
import pickle
import unittest
import unittest.mock
from xml.etree import ElementTree

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

SEED = 20261121


def setUpModule():
    print(f"seed {SEED}")


class Results(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)
        self.b = sp.random(30, 20, 0.2, format="csr", random_state=SEED)
        self.c = self.random.random((20, 6))

    def test_a_product_in_brackets_is_scipys(self):
        f = schaas.kernel("A[i,k] = B[i,j]*C[j,k]")
        found = f(B=self.b, C=self.c)
        self.assertIs(type(found), np.ndarray)
        self.assertEqual((found.shape, found.dtype), ((30, 6), np.float64))
        np.testing.assert_allclose(found, self.b @ self.c, rtol=1e-13)
        np.testing.assert_allclose(f(self.b, self.c), found, rtol=1e-13)  # by place: in order of appearance

    def test_gradient_and_loss_of_a_factorisation_are_numpys(self):
        """Multiplied out they sum over an index that the request does not name."""
        x, y = self.random.random((30, 4)), self.random.random((20, 4))
        rest = self.b.toarray() - x @ y.T
        operands = dict(B=self.b, X=x, Y=y)
        for wait in (None, 60):
            loss = schaas.kernel("s = sum(i,j)(pow(B(i,j) - sum(r)(X(i,r)*Y(j,r)), 2))")(**operands, wait=wait)
            np.testing.assert_allclose(loss, (rest**2).sum(), rtol=1e-11)
            gradient = schaas.kernel("G(i,k) = (B(i,j) - sum(r)(X(i,r)*Y(j,r))) * Y(j,k)")(**operands, wait=wait)
            np.testing.assert_allclose(gradient, rest @ y, rtol=1e-11)
        program = schaas.gradient("s = sum(i,j)(pow(B(i,j) - sum(r)(X(i,r)*Y(j,r)), 2))", of="X")
        np.testing.assert_allclose(schaas.kernel(program)(**operands), -2 * rest @ y, rtol=1e-11)
        stated = schaas.kernel("T(i,j) = B(i,j) - X(i,r)*Y(j,r); s = T(i,j)*T(i,j)")(**operands)
        np.testing.assert_allclose(stated, (rest**2).sum(), rtol=1e-11)

    def test_means_over_neighbours_are_numpys_and_nan_where_there_are_none(self):
        """A layer of GraphSAGE. The second node has no neighbours, and 0 / 0 is NaN."""
        b = sp.random(30, 30, 0.2, format="lil", random_state=SEED)
        b[1] = 0
        b = b.tocsr()
        x, v, w = self.random.random((30, 4)), self.random.random((4, 6)), self.random.random((4, 6))
        with np.errstate(invalid="ignore"):
            means = (b @ x) / np.asarray(b.sum(1))
        found = schaas.kernel("Z(i,k) = sum(j)(B(i,j) * X(j,k)) / sum(j)(B(i,j))")(B=b, X=x)
        np.testing.assert_allclose(found, means, rtol=1e-12)
        layer = schaas.kernel("Z(i,k) = sum(l)(X(i,l) * V(l,k)) + sum(j,l)(B(i,j) * X(j,l) * W(l,k)) / sum(j)(B(i,j))")
        for wait in (None, 60):
            np.testing.assert_allclose(layer(B=b, X=x, V=v, W=w, wait=wait), x @ v + means @ w, rtol=1e-12)

    def test_attention_over_neighbours_is_numpys(self):
        """Each score is zero where B stores nothing. A row without entries is divided by nothing."""
        n, columns = 60, 5
        draw = np.random.default_rng(2)
        b = sp.random(n, n, 0.1, format="csr", random_state=3)
        b.data[::7] = 0
        s, t, h = draw.random(n), draw.random(n), draw.random((n, columns))
        dense, stored = b.toarray(), b.toarray() != 0
        pairs = s[:, None] + t[None, :]
        operands = dict(B=b, s=s, t=t, H=h)
        scores = {
            "where(B(i,j) != 0, exp(s(i) + t(j)), 0)": stored * np.exp(pairs),
            "where(B(i,j) > 0.5, exp(max(s(i) + t(j), 0.2 * s(i))), 0)": (dense > 0.5) * np.exp(np.maximum(pairs, 0.2 * s[:, None])),
            "B(i,j) * exp(s(i) + t(j)) / (1 + s(i))": dense * np.exp(pairs) / (1 + s)[:, None],
            "exp(B(i,j)) - 1": np.exp(dense) - 1,
            "relu(B(i,j))": dense,
            "B(i,j) * exp(sum(k)(H(i,k) * H(j,k)))": dense * np.exp(h @ h.T),
            "B(i,k) * B(k,j)": dense @ dense,
        }
        for score, e in scores.items():
            kernel = schaas.kernel(f"E(i,j) = {score}; n(i) = E(i,j); Z(i,l) = E(i,j) * H(j,l) / n(i)")
            with self.subTest(score), np.errstate(invalid="ignore"):
                z = kernel(**{name: value for name, value in operands.items() if f"{name}(" in score or name in "BH"})
                filled = e.sum(1) != 0
                np.testing.assert_allclose(z[filled], (e @ h / e.sum(1)[:, None])[filled], rtol=1e-10)

    def test_a_step_of_conjugate_gradients_is_numpys(self):
        """Its length is a quotient of sums, which is infinite where the matrix is empty."""
        b = sp.random(30, 30, 0.2, format="csr", random_state=SEED)
        x, y = self.random.random(30), self.random.random(30)
        step = schaas.kernel("q(i) = B(i,j) * x(j); a = sum(i)(y(i) * y(i)) / sum(i)(x(i) * q(i)); z(i) = y(i) - a * q(i)")
        np.testing.assert_allclose(step(B=b, x=x, y=y), y - (y @ y) / (x @ (b @ x)) * (b @ x), rtol=1e-11)

    def test_sampled_products_have_entries_where_rows_meet(self):
        """Few and many coordinates a row, in each order of the factors: the support of edges."""
        for density in (0.03, 0.4):
            b = sp.random(60, 60, density, format="csr", random_state=SEED)
            mask = sp.random(60, 60, 0.3, format="csr", random_state=SEED + 1)
            for right, wanted in (("B(i,k) * B(j,k)", mask.multiply(b @ b.T)), ("B(i,k) * B(k,j)", mask.multiply(b @ b)),
                                  ("B(k,j) * B(i,k)", mask.multiply(b @ b))):
                f = schaas.kernel(f"A(i,j) = D(i,j) * {right}", A="csr")
                for wait in (None, 60):
                    found = f(B=b, D=mask, wait=wait)
                    self.assertEqual(found.nnz, wanted.tocsr().nnz, right)
                    np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-12)

    def test_a_list_that_is_much_longer_than_another_is_skipped_through(self):
        size = 20000
        long = np.flatnonzero(self.random.random(size) < 0.7)
        for short in ([], [0], [size - 1], [0, 1, 2, size - 2, size - 1], sorted(self.random.choice(size, 40, False))):
            x = schaas.tensor(np.array([short], np.int64), np.arange(1.0, len(short) + 1), (size,))
            y = schaas.tensor(long[None].astype(np.int64), self.random.random(long.size), (size,))
            dense = np.zeros(size), np.zeros(size)
            dense[0][short], dense[1][long] = np.arange(1.0, len(short) + 1), np.asarray(y.values)
            for text in ("s = x(i) * y(i)", "s = y(i) * x(i)"):
                self.assertAlmostEqual(schaas.kernel(text)(x=x, y=y), dense[0] @ dense[1], 9)

    def test_products_of_sparse_matrices_are_scipys_in_each_type_and_semiring(self):
        """Coordinates of a row's terms repeat. Rows of many terms are computed otherwise than those of few."""
        for each in (3, 12):
            rows, columns = np.repeat(np.arange(60), each), self.random.integers(0, 25, 60 * each)
            values = self.random.integers(1, 5, rows.size)
            b = sp.csr_matrix((values, (rows, columns)), shape=(60, 60))
            c = sp.csr_matrix((values[::-1], (rows, (columns * 7 + rows) % 40)), shape=(60, 60))
            wanted = (b @ c).toarray()
            for dtype in (np.float64, np.float32, np.int64, np.int8, np.complex64, np.complex128):
                factor = 1 - 2j if np.dtype(dtype).kind == "c" else 1
                for schedule in ("auto", "linear"):
                    found = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", A="csr")(
                        B=(b * factor).astype(dtype), C=c.astype(dtype), schedule=schedule)
                    np.testing.assert_allclose(found.toarray(), (wanted * factor).astype(dtype), rtol=1e-5, err_msg=f"{dtype} {schedule}")
            reached = schaas.kernel("or-and: A(i,k) = B(i,j) * C(j,k)", A="csr")
            for dtype in (np.float64, np.float32, bool):
                np.testing.assert_array_equal(reached(B=b.astype(dtype), C=c.astype(dtype)).toarray(), wanted != 0)
            paths = schaas.kernel("min-plus: A(i,k) = B(i,j) * C(j,k)", A="csr")(B=b * 1.0, C=c * 1.0)
            lengths = np.where(b.toarray()[:, :, None] * c.toarray()[None], b.toarray()[:, :, None] + c.toarray()[None], np.inf).min(1)
            np.testing.assert_array_equal(paths.toarray(), np.where(np.isinf(lengths), 0, lengths))

    def test_searches_from_marked_vertices_are_those_of_numpy(self):
        """Rows whose factor is zero are skipped; -0 is zero, nan and infinity are not. Full kernels have the pass, first ones do not."""
        b = sp.random(300, 200, 0.03, format="csr", random_state=SEED)
        b.data[:] = 1
        for share in (0, 0.02, 0.5, 1):
            marked, seen = (self.random.random(300) < share) * 1.0, (self.random.random(200) < share) * 1.0
            marked[:4] = (np.nan, np.inf, -0.0, -1)
            marks, visited = (marked != 0) * 1, (seen != 0) * 1
            reached = b.T.toarray() @ marks
            for text, wanted, given in (
                    ("or-and: y(j) = x(i) * B(i,j) * not(v(j))", (reached > 0) & (visited == 0), dict(x=marked, v=seen)),
                    ("or-and: y(i) = not(x(i)) * B(i,j) * v(j)", (b.toarray() @ visited > 0) & (marks == 0), dict(x=marked, v=seen)),
                    ("y(j) = x(i) * B(i,j)", reached, dict(x=marks)),
                    ("y(j) = x(i) * B(i,j)", reached.astype(np.int8), dict(x=marks.astype(np.int8)))):
                dtype = given["x"].dtype
                for schedule in ("auto", "linear"):
                    found = schaas.kernel(text)(B=b.astype(dtype), schedule=schedule, **given)
                    np.testing.assert_array_equal(found, wanted, err_msg=f"{text} {share} {dtype} {schedule}")

    def test_a_transpose_keeps_values_under_semirings(self):
        for text, dtype in (("", bool), ("or-and: ", bool), ("min-plus: ", float), ("max-min: ", float), ("", np.int8)):
            b = (self.b * 9).astype(dtype)
            found = schaas.kernel(text + "A(j,i) = B(i,j)", A="csr")(B=b)
            np.testing.assert_array_equal(found.toarray(), b.toarray().T)
        truths = schaas.kernel("or-and: A(j,i) = B(i,j)", A="csr")(B=self.b)
        np.testing.assert_array_equal(truths.toarray(), self.b.toarray().T != 0)

    def test_identities_and_diagonals_are_scipys(self):
        b = sp.random(30, 30, 0.1, format="csr", random_state=SEED)
        x = self.random.random(30)
        for fmt in ("csr", "csc", "coo"):
            stored = b.asformat(fmt)
            for one in ("select(i,j)", "select(j,i)"):
                f = schaas.kernel(f"A(i,j) = x(i) * (B(i,j) + {one}) * x(j)", A=fmt)
                np.testing.assert_allclose(f(B=stored, x=x).toarray(), np.outer(x, x) * (b.toarray() + np.eye(30)), rtol=1e-13)
                self.assertNotIn("a copy", f.explain(B=stored, x=x))
            np.testing.assert_array_equal(schaas.kernel("D(i,i) = x(i)", D=fmt)(x=x).toarray(), np.diag(x))

    def test_equations_of_indices_are_diagonals_of_any_shape(self):
        for shape in ((30, 30), (30, 20), (20, 30)):
            b = sp.random(*shape, 0.1, format="csr", random_state=SEED)
            d, one, dense = self.random.random(shape[0]), np.eye(*shape), b.toarray()
            for expression, wanted in {"A(i,j) = d(i) * (i == j) - B(i,j)": d[:, None] * one - dense,
                                       "A(i,j) = where(i == j, d(i) - B(i,j), -(B(i,j)))": d[:, None] * one - dense,
                                       "A(i,j) = where(j == i, 1 / d(i), B(i,j))": np.where(one, (1 / d)[:, None], dense),
                                       "A(i,j) = d(i) * (B(i,j) + (i == j))": d[:, None] * (dense + one)}.items():
                for fmt in ("csr", "csc", "coo"):
                    found = schaas.kernel(expression, A=fmt)(B=b.asformat(fmt), d=d)
                    np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-13, err_msg=expression)
                    self.assertLessEqual(found.nnz, b.nnz + min(shape))
                np.testing.assert_allclose(schaas.kernel(expression)(B=b, d=d), wanted, rtol=1e-13)

    def test_normalised_products_have_kernels_that_nothing_divides(self):
        f = schaas.kernel("t(i) = B(i,j) * x(j); n = sqrt(sum(i)(t(i) * t(i))); y(i) = t(i) / n")
        b, x = sp.random(30, 30, 0.2, format="csr", random_state=SEED), self.random.random(30)
        np.testing.assert_allclose(f(B=b, x=x), b @ x / np.linalg.norm(b @ x), rtol=1e-13)

    def test_rows_of_all_lengths_are_scipys_in_lists_and_in_rows(self):
        """Ends of rows fall on all places of the 64 entries whose ends are found at once, and of the eight that are added at once."""
        lengths = [*range(70), 0, 0, 300, 1, *self.random.integers(0, 12, 500), 64, 0]
        rows = np.repeat(np.arange(len(lengths)), lengths)
        columns = np.concatenate([np.sort(self.random.choice(400, count, replace=False)) for count in lengths])
        x, zeros = self.random.random(400), self.random.random(rows.size) < 0.2
        for values in (np.float64, np.float32):
            data = np.where(zeros, 0, self.random.random(rows.size) - 0.5).astype(values)
            for index in (np.int32, np.int64):
                listed = sp.coo_matrix((data, (rows, columns)), shape=(len(lengths), 400))
                listed.row, listed.col = listed.row.astype(index), listed.col.astype(index)
                by_rows = listed.tocsr()
                for threads in (1, 3):
                    for b in (listed, by_rows):
                        tolerance = 1e-12 if values is np.float64 else 1e-4
                        product = schaas.kernel("y(i) = B(i,j) * x(j)")(B=b, x=x.astype(values), threads=threads, wait=60)
                        np.testing.assert_allclose(product, b @ x.astype(values), rtol=tolerance, atol=tolerance)
                        sums = schaas.kernel("y(i) = B(i,j)")(B=b, threads=threads, wait=60)
                        np.testing.assert_allclose(sums, np.asarray(b.sum(1)).ravel(), rtol=tolerance, atol=tolerance)
                        counts = schaas.kernel("y(i) = B(i,j) != 0")(B=b, threads=threads, wait=60)
                        np.testing.assert_array_equal(counts, np.bincount(rows[data != 0], minlength=len(lengths)))

    def test_values_and_folds_of_rows_of_any_length_are_numpys(self):
        """Registers run past a row's end, into the next rows, but not past the end of the thread's rows or of the operand."""
        lengths = np.concatenate([np.arange(20), np.zeros(4, int), np.arange(20)[::-1], [3, 0, 1]])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        row = np.repeat(np.arange(len(lengths)), lengths)
        columns = np.concatenate([np.sort(self.random.permutation(50)[:n]) for n in lengths])
        filled = np.flatnonzero(lengths)

        def folded(fold, values):
            out = np.zeros(len(lengths))
            out[filled] = fold.reduceat(values, starts[filled])
            return out
        for dtype, rounding in ((np.float64, 1e-13), (np.float32, 1e-5), (np.int64, 0)):
            values = self.random.integers(1, 9, len(row)).astype(dtype)
            d, e = self.random.integers(1, 9, len(lengths)).astype(dtype), self.random.integers(1, 9, 50).astype(dtype)
            b = sp.csr_matrix((values, columns, starts), shape=(len(lengths), 50))
            of_entries = {"d(i) * B(i,j)": d[row] * values, "d(i) * B(i,j) * e(j)": d[row] * values * e[columns],
                          "(B(i,j) - d(i)) * (B(i,j) != 0)": values - d[row]}
            of_rows = {"max(j)(B(i,j))": folded(np.maximum, values), "min(j)(B(i,j) - 20)": np.minimum(folded(np.minimum, values - 20), -20),
                       "max(j)(B(i,j) * e(j))": folded(np.maximum, values * e[columns]),
                       "sum(j)(max(B(i,j), d(i)) * (B(i,j) != 0))": folded(np.add, np.maximum(values, d[row])),
                       "sum(j)(abs(B(i,j) - e(j)) * (B(i,j) != 0))": folded(np.add, np.abs(values - e[columns]))}
            if dtype != np.int64:
                sums = folded(np.add, np.exp(values / 4))
                of_entries["where(B(i,j) != 0, exp(B(i,j) / 4), 0) / sum(k)(where(B(i,k) != 0, exp(B(i,k) / 4), 0))"] = np.exp(values / 4) / sums[row]
                of_rows["sum(j)(where(B(i,j) != 0, exp(B(i,j) / 4), 0))"] = sums
                of_rows["sum(j)(B(i,j) * log(e(j)))"] = folded(np.add, values * np.log(e[columns]))
            operands = dict(B=b, d=d, e=e)
            for term, right in [*of_entries.items(), *of_rows.items()]:
                if dtype == np.int64 and "e(j)" not in term:
                    continue
                of_entry = term in of_entries
                kernel = schaas.kernel(f"A(i,j) = {term}", A="csr") if of_entry else schaas.kernel(f"y(i) = {term}")
                given = {name: operands[name] for name in operands if f"{name}(" in term.replace("where(", "")}
                for threads in (1, 3):
                    with self.subTest(term=term, dtype=dtype.__name__, threads=threads):
                        found = kernel(**given, threads=threads, wait=60)
                        np.testing.assert_allclose(found.data if of_entry else found, right, rtol=rounding, atol=rounding)
                        if of_entry:
                            np.testing.assert_array_equal(found.indptr, starts)
                            np.testing.assert_array_equal(found.indices, columns)

    def test_calls_like_earlier_ones_and_unlike_them(self):
        f = schaas.kernel("A[i,k] = B[i,j]*C[j,k]")
        f(B=self.b, C=self.c)
        for round in range(6):  # the same types, other arrays, other numbers of entries, shapes in turns
            b = sp.random(30, 20, 0.1 + 0.05 * round, format="csr", random_state=round)
            for c in (self.random.random((20, 6)), self.random.random((20, 3 + round % 2)), self.random.random((6, 20)).T):
                np.testing.assert_allclose(f(B=b, C=c), b @ c, rtol=1e-12)
        first = f(B=self.b, C=self.c)
        second = f(B=2 * self.b, C=self.c)
        np.testing.assert_allclose(second, 2 * first, rtol=1e-13)  # no call writes to the result of an earlier one
        narrow = f(B=self.b.astype(np.float32), C=self.c.astype(np.float32))
        self.assertEqual(narrow.dtype, np.float32)
        wide = self.b.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        np.testing.assert_allclose(f(B=wide, C=self.c), first, rtol=1e-13)
        unsorted = self.b.copy()
        for row in range(30):
            part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
            unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1].copy(), unsorted.data[part][::-1].copy()
        np.testing.assert_allclose(f(B=unsorted, C=self.c), first, rtol=1e-13)
        outside = self.b.copy()
        outside.indices[0] = 20
        with self.assertRaises(schaas.Invalid) as raised:
            f(B=outside, C=self.c)
        self.assertEqual(raised.exception.code, "tensor-structure")
        np.testing.assert_allclose(f(B=self.b, C=self.c), first, rtol=1e-13)

    def test_a_sparse_result_is_a_scipy_matrix_of_the_operands_kind(self):
        f = schaas.kernel("A(i,j) = B(i,j) * C(i,k) * D(k,j)", A="csr")
        c, d = self.random.random((30, 4)), self.random.random((4, 20))
        expected = self.b.multiply(c @ d).toarray()
        found = f(B=self.b, C=c, D=d)
        self.assertIs(type(found), sp.csr_matrix)
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13)
        np.testing.assert_array_equal(found.indices, self.b.indices)
        found = f(B=sp.csr_array(self.b), C=c, D=d)
        self.assertIs(type(found), sp.csr_array)
        np.testing.assert_allclose((found @ np.ones(20)), expected.sum(1), rtol=1e-12)

    def test_sparse_intermediates_and_sums_over_rows_are_scipys(self):
        b, c = (sp.random(200, 200, 0.01, format="csr", random_state=SEED + n) for n in range(2))
        for program, expected in (
            ("T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * T(j,k)", (b + c) @ (b + c)),
            ("T(i,j) = B(i,j) + C(i,j); A(i,j) = (T(i,j) + T(j,i)) / 2", (b + c + (b + c).T) / 2),
            ("A(i,j) = B(k,i) * C(k,j)", b.T @ c),
            ("A(i,j) = C(i,j) * B(i,k) * B(j,k)", c.multiply(b @ b.T)),
            ("A(i,k) = B(j,i) * C(j,k) + B(i,k)", b.T @ c + b),
        ):
            found = schaas.kernel(program, A="csr")(B=b, C=c)
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12, err_msg=program)
            self.assertEqual(found.nnz, expected.nnz, program)  # random values: no sum is zero by chance

    def test_out_is_written_where_it_lies(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        out = np.full((30, 6), np.nan)
        self.assertIs(f(B=self.b, C=self.c, out=out), out)
        np.testing.assert_allclose(out, self.b @ self.c, rtol=1e-13)
        for wrong in (np.empty((30, 6), np.float32), np.empty((6, 30)).T, [[1.0]]):
            with self.assertRaises(ValueError) as raised:
                f(B=self.b, C=self.c, out=wrong)
            self.assertEqual(raised.exception.message, "`out` must be a writable, C-contiguous numpy array of float64")
        with self.assertRaises(ValueError) as raised:
            f(B=self.b, C=self.c, out=np.empty((30, 5)))
        self.assertEqual(raised.exception.code, "result-shape")

    def test_an_update_starts_from_what_the_operand_holds(self):
        f = schaas.kernel("y(i) += B(i,j) * x(j)")
        y, x = self.random.random(30), self.random.random(20)
        kept = y.copy()
        np.testing.assert_allclose(f(y=y, B=self.b, x=x), kept + self.b @ x, rtol=1e-13)
        np.testing.assert_array_equal(y, kept)
        f(y=y, B=self.b, x=x, out=y)
        np.testing.assert_allclose(y, kept + self.b @ x, rtol=1e-13)

    def test_bound_kernels_see_new_values(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        c = self.c.copy()
        step = f.bind(B=self.b, C=c)
        first = step().copy()
        c *= 2
        np.testing.assert_allclose(step(), 2 * first, rtol=1e-13)
        self.assertIs(step(), step())
        self.assertEqual(step.describe()["id"], "s1")

    def test_other_schedules_give_the_same(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        for schedule in ("linear", "s1"):
            np.testing.assert_allclose(f(B=self.b, C=self.c, schedule=schedule, threads=2, deterministic=True), self.b @ self.c,
                                       rtol=1e-13)

    def test_extents_that_no_operand_has(self):
        f = schaas.kernel("A(i,j) = x(i)")
        np.testing.assert_array_equal(f(x=np.arange(3.0), extents={"j": 2}), [[0, 0], [1, 1], [2, 2]])
        with self.assertRaises(ValueError) as raised:
            f(x=np.arange(3.0))
        self.assertEqual(str(raised.exception), "invalid [missing-extent]: index `j` has no extent: no operand has it; give the "
                                                "extent of `j`")

    def test_frontier_explain_and_tune(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        f(B=self.b, C=self.c)
        self.assertEqual([entry["tree"] for entry in f.frontier], ["ijk"])
        self.assertEqual(f.frontier["s1"]["memory"], "0")
        self.assertIn("<td>ijk</td>", f.frontier._repr_html_())
        text = f.explain(B=self.b, C=self.c)
        self.assertIn("runs s1: ijk", text)
        self.assertIn("A(i,k) += B(i,j) * C(j,k)", text)
        self.assertEqual(list(f.tune(B=self.b, C=self.c)), ["s1"])

    def test_formats_of_an_operand_are_compared(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        told = f.compare_formats("B", formats=["csc", "csf", "nothing"], seconds=0.05, B=self.b, C=self.c)
        own, csc, csf, nothing = told.formats
        self.assertEqual((own["format"], own["convert_seconds"]), ("csr", 0))
        self.assertGreater(min(csc["run_seconds"], csf["run_seconds"], own["run_seconds"], csc["convert_seconds"]), 0)
        self.assertEqual(nothing["error"]["code"], "unknown-format")
        fastest = min((own, csc, csf), key=lambda one: one["run_seconds"])["format"]
        self.assertEqual((told.best(), told.best(uses=0)), (fastest, "csr"))
        self.assertIn("nothing: unknown format", str(told))
        self.assertIn(fastest, repr(told))
        usual = [one["format"] for one in f.compare_formats("B", self.b, self.c, seconds=0).formats]
        self.assertEqual(usual, ["csr", "csc", "dcsr", "dcsc", "coo", "dense"])
        with self.assertRaisesRegex(schaas.Invalid, r"unknown-tensor.*no operand `E`"):
            f.compare_formats("E", self.b, self.c)

    def test_lists_count_as_long_as_where_entries_reach_them(self):
        f = schaas.kernel("t(i) = B(i,j) * B(j,k) * B(i,k)", B="csr", patience=600)
        band = sp.csr_matrix(sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(2000, 2000)))
        arrow = sp.lil_matrix((2000, 2000))  # as many entries, but each row meets the full first one
        arrow[0, :] = arrow[:, 0] = 1
        arrow.setdiag(1)
        arrow = sp.csr_matrix(arrow)
        self.assertEqual(arrow.nnz, band.nnz)
        trips, chosen = [], []
        for matrix in (band, arrow):
            at = f.frontier_at(B=matrix, threads=1)
            trips.append({entry["tree"]: entry["here"]["time"] for entry in at})
            chosen += [entry["tree"] for entry in at if entry["here"]["chosen"]]
        self.assertGreater(trips[1]["i<jk,k>"], 50 * trips[0]["i<jk,k>"])
        self.assertEqual(chosen, ["i<jk,k>", "ijk"])

    def test_a_frontier_at_sizes_is_a_picture(self):
        f = schaas.kernel("A[i,l] = B[i,j]*C[i,k]*D[j,k]*E[j,l]", B="csr", patience=600)
        operands = dict(B=self.b, C=self.random.random((30, 8)), D=self.random.random((20, 8)), E=self.random.random((20, 5)))
        before = f.frontier  # nothing was called: no sizes are known
        self.assertIsNone(before.here)
        self.assertNotIn("<svg", before._repr_html_())
        self.assertNotIn("here", before[0])
        at = f.frontier_at(**operands, threads=1)
        self.assertGreater(len(at), 1)
        self.assertEqual((at.here["extents"], at.here["nonzeros"], at.here["threads"]), (dict(i=30, j=20, k=8, l=5), dict(B=self.b.nnz), 1))
        self.assertEqual([entry["id"] for entry in at if entry["here"]["chosen"]], [at.here["chosen"]])
        # The chosen one is what a call runs.
        self.assertEqual(f.bind(**operands, threads=1).describe()["id"], at.here["chosen"])
        for entry in at:  # the texts, evaluated: extents, and fibers of B by its rows
            names = at.here["extents"]
            self.assertGreaterEqual(entry["here"]["memory_bytes"], 0)
            self.assertGreater(entry["here"]["time"], 0)
            self.assertIsNone(entry["here"]["measured_seconds"])
            if entry["here"]["tree"] != entry["tree"]:  # a variant runs, with temporaries of its own
                continue
            if entry["memory"].isdigit():
                self.assertEqual(entry["here"]["memory_bytes"], 8 * int(entry["memory"]))
            elif entry["memory"] in names:
                self.assertEqual(entry["here"]["memory_bytes"], 8 * names[entry["memory"]])
        drawing = ElementTree.fromstring(at.picture)
        space = {"svg": "http://www.w3.org/2000/svg"}
        titles = [element.text for element in drawing.findall(".//svg:title", space)]
        for entry in at:
            self.assertTrue(any(title.startswith(f"{entry['id']}  {entry['tree']}\n") and entry["code"].strip() in title for title in titles))
        self.assertEqual(len(drawing.findall(".//svg:circle[@class='chosen']", space)), 1 + 1)  # and the legend's
        page = at._repr_html_()
        self.assertIn(at.picture, page)
        self.assertEqual(page.count("font-weight:bold"), 1)
        self.assertIn("trips here", str(at))
        self.assertIn(f"{at.here['chosen']} runs at these sizes: ", str(at))
        # What was measured is told, and decides.
        measured = f.tune(**operands, threads=1)
        at = f.frontier_at(**operands, threads=1)
        told = {entry["id"] for entry in at if entry["here"]["measured_seconds"] is not None}
        self.assertEqual({name for name in measured if name in {entry["id"] for entry in at}} - told, set())
        self.assertIn("measured at sizes like these", at.here["reason"])
        best = min((entry for entry in at if entry["here"]["measured_seconds"] is not None),
                   key=lambda entry: entry["here"]["measured_seconds"])
        self.assertEqual(at.here["chosen"], best["id"])
        self.assertIn("measured", str(at).splitlines()[1])
        # Without tensors: at the sizes of the last call.
        f(**operands)
        self.assertEqual(f.frontier.here["extents"], dict(i=30, j=20, k=8, l=5))
        f(**(operands | dict(E=self.random.random((20, 7)))))
        self.assertEqual(f.frontier.here["extents"], dict(i=30, j=20, k=8, l=7))
        with self.assertRaises(schaas.Invalid) as raised:
            f.frontier_at(**(operands | dict(E=np.ones((3, 3)))))
        self.assertEqual(raised.exception.code, "extent-conflict")


class StoredResults(unittest.TestCase):
    """Results in formats that kernels write as lists and the client converts, over random operands; the oracle is numpy."""
    FORMATS = {1: ("bitmap", "banded", "hashed"),
               2: ("bitmap", "banded", "hashed", "compressed,hashed", "hashed,compressed", "bitmap,bitmap", "hashed,hashed"),
               3: ("bitmap", "compressed,hashed,banded", "hashed,dense,compressed")}
    BY_COLUMNS = ("bitmap:1,0", "hashed:1,0", "compressed,banded:1,0")

    def setUp(self):
        self.random = np.random.default_rng(SEED + 1)

    def sparse(self, *shape, density=0.2):
        values = self.random.integers(1, 64, shape) / 8 * (self.random.random(shape) < density)
        return schaas.tensor(np.array(np.nonzero(values)), values[np.nonzero(values)], shape), values

    def check(self, expression, formats, operands, oracle):
        """operands: name -> (given, dense); oracle: of the dense ones."""
        wanted = oracle(**{name: dense for name, (_, dense) in operands.items()})
        given = {name: tensor for name, (tensor, _) in operands.items()}
        lists = schaas.kernel(expression, A="csf" if wanted.ndim == 3 else "dcsr" if wanted.ndim == 2 else "compressed")(**given)
        for text in formats:
            with self.subTest(expression=expression, format=text):
                f = schaas.kernel(expression, A=text)
                found = f(**given)
                self.assertIsInstance(found, schaas.Tensor)
                np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
                # To the bit what packing the entries gives.
                packed = lists.convert(text)
                for (kind, *arrays, entries), (other, *others, count) in zip(found.levels, packed.levels):
                    self.assertEqual((kind, entries), (other, count))
                    for one, two in zip(arrays, others):
                        self.assertEqual((one is None), (two is None))
                        if one is not None:
                            np.testing.assert_array_equal(one, two)
                for one, two in zip(found.coords(), packed.coords()):
                    np.testing.assert_array_equal(one, two)

    def test_any_format_of_any_result(self):
        b, c = self.sparse(13, 17), self.sparse(13, 17)
        self.check("A(i,j) = B(i,j) + C(i,j)", self.FORMATS[2], dict(B=b, C=c), lambda B, C: B + C)
        self.check("A(i,j) = B(i,j) * C(i,j)", self.FORMATS[2][:4], dict(B=b, C=c), lambda B, C: B * C)
        d = self.sparse(17, 11)
        self.check("A(i,k) = B(i,j) * C(j,k)", self.FORMATS[2] + self.BY_COLUMNS, dict(B=b, C=d), lambda B, C: B @ C)
        x = self.random.random(17)
        self.check("A(i) = B(i,j) * x(j)", self.FORMATS[1], dict(B=self.sparse(40, 17, density=0.03), x=(x, x)), lambda B, x: B @ x)
        t, u = self.sparse(5, 7, 6), self.sparse(5, 7, 6)
        self.check("A(i,j,k) = B(i,j,k) + C(i,j,k)", self.FORMATS[3], dict(B=t, C=u), lambda B, C: B + C)

    def test_nothing_at_all(self):
        for text in self.FORMATS[2]:
            empty = schaas.tensor(np.zeros((2, 0)), [], (4, 5))
            found = schaas.kernel("A(i,j) = B(i,j) * 2", A=text)(B=empty)
            self.assertEqual((found.coords()[1].size, found.shape), (0, (4, 5)))
            found = schaas.kernel("A(i,j) = B(i,j) * 2", A=text)(B=schaas.tensor(np.zeros((2, 0)), [], (0, 5)))
            self.assertEqual((found.coords()[1].size, found.shape), (0, (0, 5)))

    def test_bound_ones_follow_values(self):
        for text in self.FORMATS[2]:
            b = sp.random(30, 20, 0.2, format="csr", random_state=SEED)
            c = self.random.random((20, 25)) * (self.random.random((20, 25)) < 0.3)
            c = sp.csr_matrix(c)
            step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", A=text).bind(B=b, C=c)
            for round in range(4):  # converts, learns the places, uses them
                found = step()
                np.testing.assert_allclose(np.asarray(found), (b @ c).toarray(), rtol=1e-12)
                b.data[:] = self.random.random(b.nnz)
                c.data[round] = 0  # an entry all the same

    def test_are_operands_of_the_next(self):
        f = schaas.kernel("A(i,j) = B(i,j) + C(i,j)", A="hashed")
        (b, dense), (c, other) = self.sparse(9, 8), self.sparse(9, 8)
        for text in self.FORMATS[2]:
            made = schaas.kernel("A(i,j) = B(i,j) + C(i,j)", A=text)(B=b, C=c)
            x = self.random.random(8)
            np.testing.assert_allclose(schaas.kernel("y(i) = M(i,j) * x(j)")(M=made, x=x), (dense + other) @ x, rtol=1e-12)
            wide = schaas.tensor(np.array(np.nonzero(dense)), dense[np.nonzero(dense)], (9, 8), index_dtype=np.int64)
            np.testing.assert_allclose(schaas.kernel("y(i) = M(i,j) * N(i,j) * x(j)")(M=made, N=wide, x=x), ((dense + other) * dense) @ x,
                                       rtol=1e-12)

    def test_are_those_of_the_list_for_the_server(self):
        a = schaas.kernel("A(i,j) = B(i,j) * 3", A="hashed", B="csr").frontier
        b = schaas.kernel("A(i,j) = B(i,j) * 3", A="csr", B="csr").frontier
        self.assertEqual((a.key, a[0]["trace"]), (b.key, b[0]["trace"]))

    def test_are_not_updated(self):
        with self.assertRaises(schaas.Unsupported) as raised:
            b = self.sparse(3, 4)[0]
            schaas.kernel("A(i,j) += B(i,j)", A="bitmap")(A=b, B=b)
        self.assertEqual(raised.exception.code, "sparse-result")


class Errors(unittest.TestCase):
    def test_a_wrong_expression_shows_the_place(self):
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.kernel("A(i,k) = B(i,j) * C(j,k")
        self.assertEqual(str(raised.exception),
                         "invalid [syntax]: expected `,` or `)` after index `k` of `C`, found the end of the expression\n"
                         "  --> expression:1:24\n"
                         "  | A(i,k) = B(i,j) * C(j,k\n"
                         "  |                        ^")
        self.assertIsInstance(raised.exception, ValueError)
        copy = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((str(copy), copy.code), (str(raised.exception), "syntax"))

    def test_names_that_are_nothing(self):
        for options, text in ((dict(wher="j <= 3"), "`wher` is neither a tensor of `y[i]=B[i,j]*x[j]` nor an option; did you mean `where`?"),
                              (dict(b="csr"), "`b` is neither a tensor of `y[i]=B[i,j]*x[j]` nor an option; did you mean `B`?"),
                              (dict(qqq="csr"), "`qqq` is neither a tensor of `y[i]=B[i,j]*x[j]` nor an option")):
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.kernel("y[i]=B[i,j]*x[j]", **options)
            self.assertEqual(str(raised.exception), "invalid [unknown-tensor]: " + text)

    def test_what_is_no_tensor(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        for wrong, text in ((None, "`x` is None; expected a tensor"),
                            ("x.mtx", "`x` is 'x.mtx'; expected a tensor (`schaas.read` reads one from a file)")):
            with self.assertRaises(schaas.Invalid) as raised:
                f(B=np.ones((2, 3)), x=wrong)
            self.assertEqual(str(raised.exception), "invalid [value-type]: " + text)

    def test_numbers_of_threads(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        b, x = sp.random(30, 20, 0.2, format="csr", random_state=SEED), np.ones(20)
        for round in range(2):  # also where calls like the last one are quick
            np.testing.assert_allclose(f(B=b, x=x, threads=3), b @ x, rtol=1e-13)
            for wrong in (-1, 4097, 1 << 32):
                with self.assertRaises(schaas.Invalid) as raised:
                    f(B=b, x=x, threads=wrong)
                self.assertRegex(str(raised.exception), r"^invalid \[threads\]: -?\d+ threads; expected 1 to 4096, or 0 for all processors$")
                with self.assertRaises(schaas.Invalid):
                    f.bind(B=b, x=x, threads=wrong)
                with self.assertRaises(schaas.Invalid):
                    f.tune(B=b, x=x, threads=wrong)
        np.testing.assert_allclose(f(B=b, x=x, threads=3, deterministic=True), b @ x, rtol=1e-13)
        with unittest.mock.patch("schaas._library.threads_of", int):  # the library looks too
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.kernel("y(i) = B(i,j) * x(j)")(B=b, x=x, threads=4097)
        self.assertEqual(str(raised.exception), "invalid [threads]: 4097 threads; expected 1 to 4096, or 0 for all processors")

    def test_tensors_that_do_not_fit(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", B="csr")
        b = sp.random(30, 20, 0.2, format="csr", random_state=SEED)
        for operands, text in (
                (dict(B=b, C=np.ones((5, 6))),
                 "invalid [extent-conflict]: index `j` has extent 20 by mode 2 of `B(i,j)` but 5 by mode 1 of `C(j,k)`"),
                (dict(B=b, C=np.ones(20)),
                 "invalid [operand-rank]: `C` has shape (20,), the expression has `C(j,k)`"),
                (dict(B=b), "invalid [missing-operand]: no tensor is given for `C` in `A(i,k) = B(i,j) * C(j,k)`"),
                (dict(B=b, C=np.ones((20, 6)), D=b),
                 "invalid [unknown-tensor]: there is no operand `D` in `A(i,k) = B(i,j) * C(j,k)`; expected `B`, `C`"),
                (dict(B=b, C=np.ones((20, 6), "M8[s]")),
                 "invalid [value-type]: `C` has values of type datetime64[s]; expected real numbers")):
            with self.assertRaises(ValueError) as raised:
                f(**operands)
            self.assertEqual(str(raised.exception), text)
        with self.assertRaises(ValueError) as raised:
            f(b, np.ones((20, 6)), b)
        self.assertEqual(str(raised.exception), "invalid [argument-count]: `A(i,k) = B(i,j) * C(j,k)` takes 2 tensors, 3 were given")

    def test_constraints_hold_for_what_is_given(self):
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", B="csr", where="k <= 4")
        with self.assertRaises(ValueError) as raised:
            f(B=sp.random(30, 20, 0.2, format="csr", random_state=SEED), C=np.ones((20, 6)))
        self.assertEqual(raised.exception.code, "bound-violated")

    def test_no_server(self):
        with self.assertRaises(ConnectionError) as raised:
            schaas.Session("unix:/nonexistent/schaas.sock").kernel("A(i) = B(i)")
        self.assertEqual(raised.exception.code, "server-down")

    def test_proofs(self):
        for options, code in [({"token": "x"}, "token-in-clear"), ({"token_file": "/nonexistent"}, "token-file"),
                              ({"ca": "/nonexistent"}, "tls-file"), ({"certificate": "/nonexistent"}, "tls-file")]:
            with self.assertRaises((ConnectionError, ValueError)) as raised:
                schaas.connect("192.0.2.1:1", **options)
            self.assertEqual(raised.exception.code, code)


class Files(unittest.TestCase):
    def test_files_come_back_as_they_were_written(self):
        folder = pathlib.Path(with_server.daemon().folder)
        b = sp.random(30, 20, 0.2, format="csr", random_state=SEED)
        schaas.write(folder / "b.mtx", b)
        back = schaas.read(folder / "b.mtx")
        self.assertEqual((back - b).nnz, 0)
        schaas.write(folder / "c.npy", np.arange(6.0).reshape(2, 3))
        np.testing.assert_array_equal(schaas.read(folder / "c.npy"), [[0, 1, 2], [3, 4, 5]])
        t = schaas.tensor([[0, 1, 1], [2, 0, 3], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 4, 2))
        schaas.write(folder / "t.tns.gz", t)
        back = schaas.read(folder / "t.tns.gz")
        self.assertIsInstance(back, schaas.Tensor)
        np.testing.assert_array_equal(np.asarray(back), np.asarray(t))
        with self.assertRaises(ValueError) as raised:
            schaas.read(folder / "none.mtx")
        self.assertEqual(raised.exception.code, "file-missing")


if __name__ == "__main__":
    with_server.main()

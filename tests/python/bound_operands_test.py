"""A bound computation sees what its operands hold at each run: values changed in place, arrays replaced, copies and conversions too."""

import unittest

import with_server
import numpy as np
import scipy.sparse as sp

try:
    import torch
except ImportError:
    torch = None
    print("SKIP of torch's tensors: torch is not installed")

with_server.daemon()
import schaas

SEED = 1311
PRODUCT = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
FORMATS = ("dense", "dense:1,0", "csr", "csc", "coo", "dcsr", "bitmap", "banded", "hashed")


def setUpModule():
    print(f"seed {SEED}")


def dense_of(given):
    if hasattr(given, "toarray"):
        return given.toarray()
    if hasattr(given, "to_dense"):
        return given.detach().to_dense().double().numpy()
    return np.asarray(given, float)


def shuffled(matrix):
    """As coo in no order, the first entry twice."""
    entries = matrix.tocoo()
    order = np.random.default_rng(SEED).permutation(entries.nnz)
    order = np.append(order, order[0])
    return sp.coo_matrix((entries.data[order], (entries.row[order], entries.col[order])), matrix.shape)


def unsorted_csr(matrix):
    entries = sp.csr_matrix(matrix)
    for begin, end in zip(entries.indptr, entries.indptr[1:]):
        entries.indices[begin:end] = entries.indices[begin:end][::-1].copy()
        entries.data[begin:end] = entries.data[begin:end][::-1].copy()
    entries.has_sorted_indices = entries.has_canonical_format = False
    return entries


class Bound(unittest.TestCase):
    def setUp(self):
        self.b = sp.random(6, 5, 0.5, format="csr", random_state=SEED)
        self.c = np.random.default_rng(SEED).random((5, 3))

    def follows(self, step, change, expected):
        """Right before and after changes of values."""
        for again in range(3):
            np.testing.assert_allclose(dense_of(step()), expected(), rtol=1e-5)
            change()
        np.testing.assert_allclose(dense_of(step()), expected(), rtol=1e-5)

    def test_follows_dense_arrays(self):
        wide = np.zeros((5, 6))
        wide[:, ::2] = self.c
        shifted = np.frombuffer(bytearray(8 * self.c.size + 1), np.float64, self.c.size, 1).reshape(self.c.shape)
        shifted[:] = self.c
        for c in (self.c.copy(), np.asfortranarray(self.c), np.arange(15).reshape(5, 3), self.c.astype("f4"), self.c.astype("f2"),
                  self.c.astype(">f8"), wide[:, ::2], self.c[::-1], np.matrix(self.c), shifted, np.arange(15, dtype=np.uint8).reshape(5, 3)):
            for format in (None, "dense", "dense:1,0", "csr", "bitmap"):
                step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", **({} if format is None else {"C": format}))

                def change():
                    c[...] = c * 2
                    c[0, 0] = 0 if c[0, 0] else 1  # another pattern
                with self.subTest(dtype=c.dtype, flags=c.flags.c_contiguous, format=format):
                    self.follows(step.bind(B=self.b, C=c), change, lambda: self.b @ np.asarray(c, float))

    def test_follows_matrices_of_scipy(self):
        for make in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.bsr_matrix, sp.csr_array, shuffled, unsorted_csr):
            for format in (None, *FORMATS):
                b = make(self.b)
                step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", **({} if format is None else {"B": format})).bind(B=b, C=self.c)

                def replace():
                    b.data = b.data + 1
                with self.subTest(make=make.__name__, format=format):
                    self.follows(step, lambda: np.multiply(b.data, 2, out=b.data), lambda: b @ self.c)
                    self.follows(step, replace, lambda: b @ self.c)

    def test_follows_matrices_that_scipy_edits(self):
        for kind in ("lil", "dok"):
            b = self.b.asformat(kind)
            rows, columns = self.b.nonzero()

            def change():
                b[rows[0], columns[0]] += 1
            self.follows(PRODUCT.bind(B=b, C=self.c), change, lambda: b.tocsr() @ self.c)
            self.follows(PRODUCT.bind(B=b, C=self.c), lambda: b.__setitem__((0, 0), 7.0), lambda: b.tocsr() @ self.c)
        b = sp.diags([np.arange(5.0), np.arange(5.0)], [0, -1], shape=(6, 5)).todia()
        self.follows(PRODUCT.bind(B=b, C=self.c), lambda: np.add(b.data, 1, out=b.data), lambda: b.tocsr() @ self.c)

    def test_follows_new_entries(self):
        b = self.b.copy()
        step = PRODUCT.bind(B=b, C=self.c)
        step()
        other = sp.random(6, 5, 0.8, format="csr", random_state=SEED + 1)
        b.indptr, b.indices, b.data = other.indptr, other.indices, other.data
        np.testing.assert_allclose(step(), other @ self.c)

    def test_follows_number_types_and_booleans(self):
        for dtype in (np.float32, np.int8, np.int64, bool, ">f8"):
            b = self.b.copy()
            b.data = np.ones(b.nnz, dtype)

            def change():
                b.data[:b.nnz // 2] = ~b.data[:b.nnz // 2] if dtype is bool else 2
            for format in ("csr", "dcsr"):
                step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", B=format).bind(B=b, C=self.c)
                self.follows(step, change, lambda: b.toarray().astype(float) @ self.c)

    def test_adds_repeated_entries_up_at_each_run(self):
        for dtype, values in ((np.float64, [1, 2, 4]), (np.int8, [1, 2, 4]), (bool, [1, 1, 0])):
            b = sp.coo_matrix((np.array(values, dtype), ([0, 0, 0], [1, 1, 0])), shape=(6, 5))
            for format in ("coo", "csr"):
                step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", B=format).bind(B=b, C=self.c)
                self.follows(step, lambda: b.data.__setitem__(1, 0), lambda: b.toarray().astype(float) @ self.c)

    def test_follows_lists(self):
        c = self.c.tolist()
        self.follows(PRODUCT.bind(B=self.b, C=c), lambda: c[2].__setitem__(1, 5.0), lambda: self.b @ np.array(c))

    def test_follows_tensors_of_the_library(self):
        b = schaas.tensor(np.array(self.b.nonzero()), self.b.data, self.b.shape)
        for format in FORMATS:
            step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", B=format).bind(B=b, C=self.c)
            self.follows(step, lambda: np.multiply(b.values, 2, out=b.values), lambda: np.asarray(b) @ self.c)

    def test_follows_scalars_in_arrays(self):
        s, x = np.array(2.0), np.arange(3.0)
        for s in (np.array(2.0), np.array(2), np.array(2, ">f4")):
            self.follows(schaas.kernel("y(i) = s * x(i)").bind(s=s, x=x), lambda: s.__setitem__((), 5), lambda: s * x)

    def test_follows_under_a_semiring(self):
        d = np.array([[0.0, 3, np.inf], [np.inf, 0, 1], [2, np.inf, 0]])
        s = sp.csr_matrix((d[np.isfinite(d)], np.nonzero(np.isfinite(d))), shape=(3, 3))
        for format in FORMATS:
            step = schaas.kernel("min-plus: R(i,k) = B(i,j) * C(j,k)", B=format)

            def closer():
                full = np.full((3, 3), np.inf)
                full[np.repeat(range(3), np.diff(s.indptr)), s.indices] = s.data
                return (full[:, :, None] + d[None]).min(1)
            self.follows(step.bind(B=s, C=d), lambda: np.add(s.data, 1, out=s.data), closer)
            e = d.copy()

            def change():
                e[0, 1] += 1
                e[1, 0] = 4
            self.follows(step.bind(B=e, C=d), change, lambda: (e[:, :, None] + d[None]).min(1))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_follows_tensors_of_torch(self):
        full = torch.tensor(self.b.toarray())
        c = torch.tensor(self.c)
        for b in (full, full.t().contiguous().t(), full.float(), full.bfloat16(), full.half(), full.to_sparse(), full.to_sparse_csr(),
                  full.to_sparse_csc(), full.float().to_sparse_csr(), full.to_sparse_bsr((2, 1))):
            values = b if b.layout == torch.strided else b._values() if b.layout == torch.sparse_coo else b.values()
            for format in (None, "dcsr"):
                step = schaas.kernel("A(i,k) = B(i,j) * C(j,k)", **({} if format is None else {"B": format})).bind(B=b, C=c)
                with self.subTest(layout=b.layout, dtype=b.dtype, format=format):
                    self.follows(step, lambda: values.mul_(2), lambda: dense_of(b) @ self.c)
        x = full.clone()
        step = PRODUCT.bind(B=x, C=c)
        x.data = full * 3
        np.testing.assert_allclose(dense_of(step()), 3 * dense_of(full) @ self.c)

    def test_survives_entries_that_are_refused(self):
        b = self.b.copy()
        step, data = PRODUCT.bind(B=b, C=self.c), b.data
        for again in range(2):
            b.data = data.astype("M8[s]")
            with self.assertRaises(schaas.Invalid):
                step()
        b.data = data * 3
        np.testing.assert_allclose(step(), 3 * (self.b @ self.c))

    def test_writes_one_result(self):
        b = self.b.copy()
        step = PRODUCT.bind(B=b, C=self.c)
        first = step()
        b.data = b.data * 2
        self.assertIs(step(), first)
        np.testing.assert_allclose(first, b @ self.c)


if __name__ == "__main__":
    with_server.main()

"""Plain calls again and again: entries in any order, arrays that change in place or are others, results in the memory of operands."""

import concurrent.futures
import itertools
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

SEED = 99


def in_disorder(rows, columns, entries, kind, index, dtype, draw):
    """A matrix whose entries are neither sorted nor distinct, and which says that they are."""
    outer, inner = (rows, columns) if kind == "csr" else (columns, rows)
    counts = np.bincount(draw.integers(0, outer, entries), minlength=outer)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices = draw.integers(0, inner, entries).astype(index)
    values = draw.integers(1, 9, entries).astype(dtype)
    made = getattr(sp, kind + "_matrix")((values, indices, pointers), shape=(rows, columns))
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def dense_of(matrix):
    """Repeated entries added up; boolean ones: or."""
    entries = matrix.tocoo()
    made = np.zeros(matrix.shape, bool if matrix.dtype == bool else np.float64)
    (np.logical_or if matrix.dtype == bool else np.add).at(made, (entries.row, entries.col), entries.data)
    return made.astype(float)


N, M, K = 60, 45, 5
DRAW = np.random.default_rng(SEED)
X, Z, WIDE, W = DRAW.random(M), DRAW.random(N), DRAW.random((M, K)), DRAW.random((K, 3))
# expression, operands beside B, what numpy does with B
CASES = [
    ("y(i) = B(i,j) * x(j)", dict(x=X), lambda B: B @ X),
    ("y(j) = B(i,j) * x(i)", dict(x=Z), lambda B: B.T @ Z),
    ("y(i) = B(i,j)", {}, lambda B: B.sum(1)),
    ("r(i) = b(i) - B(i,j) * x(j)", dict(b=Z, x=X), lambda B: Z - B @ X),
    ("s = x(i) * B(i,j) * y(j)", dict(x=Z, y=X), lambda B: Z @ B @ X),
    ("Y(i,k) = B(i,j) * X(j,k)", dict(X=WIDE), lambda B: B @ WIDE),
    ("Y(k,j) = B(i,j) * X(i,k) / 2", dict(X=np.tile(Z, (K, 1)).T.copy()), lambda B: np.tile(Z, (K, 1)) @ B / 2),
    ("H(i,l) = relu(sum(j,k)(B(i,j) * X(j,k) * W(k,l)))", dict(X=WIDE, W=W), lambda B: np.maximum(B @ WIDE @ W, 0)),
    ("y(i) = B(i,j) * C(i,k) * D(j,k)", dict(C=np.ones((N, K)), D=WIDE), lambda B: B @ WIDE.sum(1)),
    ("y(i) = max(j)(B(i,j))", {}, lambda B: np.maximum(B.max(1), 0)),
    ("y(i) = B(i,j) * B(i,j)", {}, lambda B: (B * B).sum(1)),
    ("y(i) = relu(B(i,j) - 8)", {}, lambda B: np.maximum(B - 8, 0).sum(1)),
    ("A(i,j) = B(i,j) * X(i,j)", dict(X=np.ones((N, M)) * 3), lambda B: 3 * B),
    ("y(i) = B(i,j) * x(j) + c(j) * z(i)", dict(x=X, c=X, z=Z), lambda B: B @ X + X.sum() * Z),
    ("min-plus: y(i) = B(i,j) * x(j)", dict(x=X), lambda B: np.where(B == 0, np.inf, B + X).min(1)),
]


class AnyOrder(unittest.TestCase):
    def test_adds_repeated_entries_up_whatever_the_statement(self):
        draw = np.random.default_rng(SEED)
        for (expression, others, expected), kind in itertools.product(CASES, ("csr", "csc")):
            f = schaas.kernel(expression)
            # Each pair of types is a kernel to compile: doubles, and two drawn ones.
            pairs = list(itertools.product((np.int32, np.int64), (np.float64, np.float32, np.int16, bool)))
            drawn = [pairs[0], *(pairs[1 + n] for n in draw.choice(len(pairs) - 1, 2, replace=False))]
            for (index, dtype), threads in itertools.product(drawn, (1, 2)):
                b = in_disorder(N, M, 400, kind, index, dtype, draw)
                for _ in range(2):
                    with self.subTest(expression=expression, kind=kind, index=index.__name__, dtype=dtype.__name__, threads=threads):
                        found, wanted = f(B=b, **others, threads=threads), expected(dense_of(b))
                        np.testing.assert_allclose(found, wanted != 0 if found.dtype == bool else wanted, rtol=2e-5, atol=1e-5)

    def test_adds_repeated_entries_up_when_better_kernels_have_come(self):
        for expression, others, expected in CASES[:9]:
            f = schaas.kernel(expression, wait=60)
            b = in_disorder(N, M, 400, "csr", np.int32, float, np.random.default_rng(SEED))
            for schedule in (None, "linear"):
                np.testing.assert_allclose(f(B=b, **others, schedule=schedule), expected(dense_of(b)), rtol=1e-12, err_msg=expression)
            for entry in f.frontier:
                np.testing.assert_allclose(f(B=b, **others, schedule=entry["id"]), expected(dense_of(b)), rtol=1e-12,
                                           err_msg=f"{expression}: {entry['tree']}")

    def test_adds_repeated_entries_of_several_matrices_up(self):
        draw = np.random.default_rng(SEED)
        chains = [("y(i) = B(i,j) * C(j,k) * x(k)", dict(x=Z[:40]), lambda b, c: b @ (c @ Z[:40])),
                  ("s = z(i) * B(i,j) * C(j,k) * x(k)", dict(x=Z[:40], z=Z), lambda b, c: Z @ (b @ (c @ Z[:40]))),
                  ("Y(i,l) = B(i,j) * C(j,k) * E(k,l)", dict(E=WIDE[:40]), lambda b, c: b @ (c @ WIDE[:40])),
                  ("y(i) = sum(j)(B(i,j) * v(j)) - sum(k)(C(i,k) * x(k))", dict(v=X, x=Z[:40]), lambda b, c: b @ X - c @ Z[:40])]
        rows, columns = ("csr", "csr"), ("csc", "csc")
        for (expression, others, expected), kinds in [*itertools.product(chains, (rows,)), (chains[0], columns), (chains[1], ("csr", "csc"))]:
            f = schaas.kernel(expression, wait=60)
            height = N if "sum" in expression else M
            for threads in (1, 2):
                b, c = in_disorder(N, M, 400, kinds[0], np.int32, float, draw), in_disorder(height, 40, 300, kinds[1], np.int32, float, draw)
                wanted = expected(dense_of(b), dense_of(c))
                for _ in range(3):
                    np.testing.assert_allclose(f(B=b, C=c, **others, threads=threads), wanted, rtol=1e-12, err_msg=f"{expression} {kinds}")
                for entry in draw.choice(f.frontier, min(3, len(f.frontier)), replace=False) if threads == 1 else ():
                    np.testing.assert_allclose(f(B=b, C=c, **others, schedule=entry["id"], threads=threads), wanted, rtol=1e-12,
                                               err_msg=f"{expression} {kinds}: {entry['tree']}")
                c.indices[17] = 60 if kinds[1] == "csc" else 40
                with self.assertRaises(schaas.Invalid):
                    f(B=b, C=c, **others, threads=threads)

    def test_sparse_results_are_sorted(self):
        b = in_disorder(N, M, 400, "csr", np.int32, float, np.random.default_rng(SEED))
        f = schaas.kernel("A(i,j) = 2 * B(i,j)", A="csr")
        for _ in range(3):
            found = f(B=b)
            self.assertTrue(all((np.diff(found.indices[first:last]) > 0).all() for first, last in zip(found.indptr, found.indptr[1:])))
            np.testing.assert_allclose(found.toarray(), 2 * dense_of(b))


class ChangingArrays(unittest.TestCase):
    def setUp(self):
        self.f = schaas.kernel("y(i) = B(i,j) * x(j)")
        self.b = sp.random(N, M, 0.2, format="csr", random_state=SEED)
        self.x = DRAW.random(M)

    def check(self, b, x, **options):
        np.testing.assert_allclose(self.f(B=b, x=x, **options), dense_of(b) @ x, rtol=1e-12)

    def test_structure_that_changes_in_place_is_seen(self):
        for threads in (0, 1, 2):
            for _ in range(30):
                self.b.indices[:] = DRAW.integers(0, M, self.b.nnz)
                inner = np.sort(DRAW.integers(0, self.b.nnz + 1, N - 1))
                self.b.indptr[1:-1] = inner
                self.b.data[:] = DRAW.random(self.b.nnz)
                self.check(self.b, self.x, threads=threads)

    def test_positions_and_coordinates_that_break_are_refused_and_those_that_heal_taken(self):
        damages = [("indices", 5, M), ("indices", 0, -1), ("indices", -1, 2**31 - 1), ("indptr", 3, -1), ("indptr", 3, 2**31 - 1),
                   ("indptr", 0, 1), ("indptr", -2, self.b.nnz + 1)]
        for name, at, wrong in damages * 3:
            self.check(self.b, self.x)
            array = getattr(self.b, name)
            before, array[at] = array[at], wrong
            with self.assertRaises(ValueError) as raised:
                self.f(B=self.b, x=self.x)
            self.assertEqual(raised.exception.code, "tensor-structure", (name, at, wrong))
            array[at] = before

    def test_other_arrays_of_the_same_sizes(self):
        others = [sp.csr_matrix((DRAW.random(self.b.nnz), DRAW.permutation(self.b.indices), self.b.indptr.copy()), shape=(N, M))
                  for _ in range(6)]
        for round in range(5):
            for b in others:
                self.check(b, DRAW.random(M))
                self.check(b, DRAW.random(M), out=np.empty(N))

    def test_arrays_that_become_others_in_place(self):
        """Calls with an array that came before look at its fields alone."""
        f = schaas.kernel("y(i) = X(i,j) * z(j)")
        whole = np.arange(24.0)
        for _ in range(4):
            np.testing.assert_allclose(f(X=whole.reshape(4, 6), z=np.ones(6)), whole.reshape(4, 6).sum(1))
        x, z = np.arange(24.0).reshape(4, 6), np.arange(6.0)
        for shape in [(4, 6)] * 4 + [(6, 4)] * 4 + [(4, 6)]:
            x.shape = shape
            np.testing.assert_allclose(f(X=x, z=z[:shape[1]]), x @ z[:shape[1]])
        for _ in range(4):
            np.testing.assert_allclose(f(X=x, z=z), x @ z)
        x.dtype = np.int64
        np.testing.assert_allclose(f(X=x, z=z), x.astype(float) @ z)
        x.dtype = float
        z.setflags(write=False)
        for _ in range(3):
            np.testing.assert_allclose(f(X=x, z=z), x @ z)
        y = np.arange(6.0)
        for size in (6, 6, 6, 3000):
            y.resize(size, refcheck=False)
            np.testing.assert_allclose(f(X=np.ones((2, size)), z=y), [y.sum()] * 2)
            np.testing.assert_allclose(f(X=np.ones((2, size)), z=y), [y.sum()] * 2)

    def test_matrices_whose_arrays_become_others(self):
        for _ in range(4):
            self.check(self.b, self.x)
        self.b.data = DRAW.random(self.b.nnz)
        self.check(self.b, self.x)
        self.b.indices = DRAW.integers(0, M, self.b.nnz).astype(np.int32)
        for _ in range(3):
            self.check(self.b, self.x)
        self.b.indptr[-1] -= 2
        self.b.indptr[-2] = min(self.b.indptr[-2], self.b.indptr[-1])
        for _ in range(3):
            np.testing.assert_allclose(self.f(B=self.b, x=self.x), self.b @ self.x, rtol=1e-12)
        self.b.indices.resize(self.b.indptr[-1], refcheck=False)
        np.testing.assert_allclose(self.f(B=self.b, x=self.x), self.b @ self.x, rtol=1e-12)
        self.b.indices.resize(self.b.indptr[-1] - 1, refcheck=False)
        with self.assertRaises(ValueError):
            self.f(B=self.b, x=self.x)
        with self.assertRaises(ValueError):
            self.f(B=self.b, x=self.x)

    def test_many_sizes(self):
        for _ in range(3):
            for n in range(1, 12):
                b = sp.random(n, n + 3, 0.5, format="csr", random_state=n)
                self.check(b, DRAW.random(n + 3), threads=1 + n % 2)

    def test_results_in_the_memory_of_operands(self):
        b = sp.random(M, M, 0.2, format="csr", random_state=SEED)
        for _ in range(3):
            self.check(b, self.x)
            self.check(b, self.x, out=np.empty(M))
            x = self.x.copy()
            expected = b @ x
            np.testing.assert_allclose(self.f(B=b, x=x, out=x), expected, rtol=1e-12)
            values = sp.csr_matrix((DRAW.random(M), np.arange(M), np.arange(M + 1)), shape=(M, M))
            expected = values @ self.x
            np.testing.assert_allclose(self.f(B=values, x=self.x, out=values.data), expected, rtol=1e-12)

    def test_threads_of_python_call_at_once(self):
        def work(seed):
            draw = np.random.default_rng(seed)
            b = sp.random(200, M, 0.2, format="csr", random_state=seed % 2)
            for _ in range(100):
                x = draw.random(M)
                np.testing.assert_allclose(self.f(B=b, x=x, threads=1), b @ x, rtol=1e-12)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))


if __name__ == "__main__":
    with_server.main()

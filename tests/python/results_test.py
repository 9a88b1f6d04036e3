"""Memory of results: used again when nobody holds it, never while somebody does."""

import gc
import threading
import unittest
import weakref

import with_server
from with_server import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas
from schaas import _memory


def address(array):
    return array.__array_interface__["data"][0]


class LargeResults(unittest.TestCase):
    SHAPE = ((_memory._SMALLEST >> 3) + 5,)

    def setUp(self):
        _memory._blocks.clear()

    def test_memory_is_used_again_when_nobody_holds_it(self):
        first = _memory.empty(self.SHAPE, np.dtype(float))
        first[:] = 1
        where = address(first)
        second = _memory.empty(self.SHAPE, np.dtype(float))
        self.assertNotEqual(address(second), where)
        del first
        self.assertEqual(address(_memory.empty(self.SHAPE, np.dtype(float))), where)

    def test_views_of_a_result_hold_its_memory(self):
        for view in (lambda a: a[3:9], lambda a: a.reshape(1, -1).T, memoryview, lambda a: a.view(np.int64), lambda a: np.asarray(a[::2])):
            _memory._blocks.clear()
            result = _memory.empty(self.SHAPE, np.dtype(float))
            where, kept = address(result), view(result)
            del result
            self.assertNotEqual(address(_memory.empty(self.SHAPE, np.dtype(float))), where)
            del kept
            gc.collect()
            self.assertEqual(address(_memory.empty(self.SHAPE, np.dtype(float))), where)

    def test_kept_memory_is_bounded(self):
        held = [_memory.empty(self.SHAPE, np.dtype(float)) for _ in range(_memory._LIMIT // _memory._SMALLEST + 3)]
        self.assertEqual(len({address(array) for array in held}), len(held))
        self.assertLessEqual(sum(block.size for block in _memory._blocks), _memory._LIMIT)
        self.assertLessEqual(len(_memory._blocks), _memory._BLOCKS)

    def test_small_results_and_huge_ones_are_numpys(self):
        self.assertIsNone(_memory.empty((100, 3), np.dtype(float)).base)
        self.assertIsNone(_memory.empty((_memory._LIMIT + 1,), np.dtype(np.uint8)).base)
        self.assertEqual(_memory._blocks, [])

    def test_a_thread_that_is_inside_makes_nobody_wait(self):
        with _memory._lock:
            self.assertIsNone(_memory.empty(self.SHAPE, np.dtype(float)).base)

    def test_results_of_calls_keep_their_values(self):
        f = schaas.kernel("A(i,j) = x(i) * y(j)")
        x, y = np.arange(2100.0), np.ones(2100)
        first = f(x=x, y=y)
        second = f(x=2 * x, y=y)
        self.assertTrue((first == x[:, None]).all() and (second == 2 * x[:, None]).all())
        where = address(second)
        row = second[7]
        del second
        third = f(x=3 * x, y=y)
        self.assertNotEqual(address(third), where)
        self.assertTrue((row == 14).all() and (third == 3 * x[:, None]).all())

    def test_threads_get_memory_of_their_own(self):
        wrong = []

        def work(number):
            for _ in range(20):
                array = _memory.empty(self.SHAPE, np.dtype(float))
                array[::4096] = number
                if not (array[::4096] == number).all():
                    wrong.append(number)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class SparseResults(unittest.TestCase):
    def setUp(self):
        self.f = schaas.kernel("A(i,j) = 2 * B(i,j)", A="csr")

    def matrices(self, kind=sp.csr_matrix):
        return [kind(sp.random(40, 30, density, format="csr", random_state=seed)) for seed, density in enumerate((0.1, 0.3, 0.0, 0.2))]

    def test_each_call_gives_a_matrix_of_its_own(self):
        for kind in filter(None, (sp.csr_matrix, getattr(sp, "csr_array", None))):
            given = self.matrices(kind)
            results = [self.f(B=b) for b in given for _ in range(2)]
            for number, result in enumerate(results):
                b = given[number // 2]
                self.assertIs(type(result), kind)
                self.assertEqual((result.shape, result.dtype, result.nnz), (b.shape, np.float64, b.nnz))
                self.assertTrue(result.has_canonical_format and result.has_sorted_indices)
                self.assertEqual(abs(result - 2 * b).sum(), 0)
                result.check_format()
            self.assertEqual(len({id(vars(result)) for result in results}), len(results))

    def test_matrices_may_be_changed(self):
        b = self.matrices()[0]
        results = [self.f(B=b) for _ in range(4)]
        results[2].data[:] = 5
        results[3].resize(50, 30)
        results[1].has_sorted_indices = False
        self.assertTrue((results[1].data == 2 * b.data).all())
        again = self.f(B=b)
        self.assertEqual((again.shape, again.has_sorted_indices), ((40, 30), True))
        self.assertEqual(abs(again - 2 * b).sum(), 0)

    def test_rows_of_few_and_many_entries_among_many_columns(self):
        """Occupied columns lie scattered, in runs that cross groups and blocks of columns, and at both ends."""
        random = np.random.default_rng(3)
        kernel = schaas.kernel("A(i,j) = B(i,k) * C(k,j)", A="csr")
        for columns in (65_536, 65_537, 300_000, 5_000_003):
            rows = [random.integers(0, columns, 40) for _ in range(50)]
            rows += [np.arange(start, start + 90) for start in (0, 4_030, columns // 2, columns - 90)]
            rows += [np.array([0, 63, 64, 4_095, 4_096, columns - 1])]
            rows = [np.unique(row) for row in rows]
            at = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
            C = sp.csr_matrix((random.random(at[-1]), np.concatenate(rows), at), (len(rows), columns))
            for entries in (1, 6, 30):
                B = sp.random(60, len(rows), entries / len(rows), format="csr", random_state=entries)
                for schedule in ("linear", "gather(storage=hash)", None):
                    found = kernel(B=B, C=C) if schedule is None else kernel(B=B, C=C, schedule=schedule)
                    with self.subTest(columns=columns, entries=entries, schedule=schedule):
                        wanted = B @ C
                        wanted.sort_indices()
                        np.testing.assert_array_equal(found.indptr, wanted.indptr)
                        np.testing.assert_array_equal(found.indices, wanted.indices)
                        np.testing.assert_allclose(found.data, wanted.data, rtol=1e-12)

    def test_operands_with_other_patterns_of_as_many_entries(self):
        def matrix(seed):
            draw = np.random.default_rng(seed)
            at = draw.choice(40 * (10 + 3 * seed), 300, False)  # in fewer rows or in more
            return sp.csr_matrix((draw.random(300) + 0.5, (at // 40, at % 40)), shape=(40, 40))

        def unsorted(matrix):
            made = matrix.copy()
            for begin, end in zip(made.indptr, made.indptr[1:]):
                made.indices[begin:end], made.data[begin:end] = made.indices[begin:end][::-1].copy(), made.data[begin:end][::-1].copy()
            return made

        given = [matrix(seed) for seed in range(10)]
        self.assertEqual({b.nnz for b in given}, {300})
        for text, format, theirs in (("A(i,j) = B(i,j) + C(i,j)", "csr", lambda b, c: b + c),
                                     ("A(i,j) = B(i,j) * C(i,j)", "csr", lambda b, c: b.multiply(c)),
                                     ("A(i,k) = B(i,j) * C(j,k)", "csr", lambda b, c: b @ c),
                                     ("A(i,j) = B(i,j) + 2 * C(j,i)", "csr", lambda b, c: b + 2 * c.T),
                                     ("A(i,j) = B(i,j) - C(i,j)", "coo", lambda b, c: b - c)):
            f = schaas.kernel(text, A=format)
            for threads in (1, 2):
                pairs = list(zip(given, given[1:])) * 2
                results = [f(B=unsorted(b) if number % 4 == 3 else b, C=c, threads=threads) for number, (b, c) in enumerate(pairs)]
                for result, (b, c) in zip(results, pairs):
                    self.assertLess(abs(sp.csr_matrix(result) - theirs(b, c)).max(), 1e-12, (text, threads))

    def test_formats_give_results_of_their_own_by_calls_and_bound(self):
        for format in ("csr", "csc", "coo", "dcsr", "hashed", "dense:1,0"):
            f = schaas.kernel("A(i,j) = 2 * B(i,j)", A=format)
            b = sp.csr_matrix(sp.random(40, 30, 0.1, random_state=3))
            bound = f.bind(B=b)
            results = []
            for factor in (1, 3, 5):
                b.data[:] = factor
                results += [(factor, compute()) for compute in (lambda: f(B=b), bound, bound)]
            self.assertEqual(len({type(result) for _, result in results}), 1, format)
            for factor, result in results:
                dense = result.toarray() if sp.issparse(result) else np.asarray(result)
                self.assertEqual(abs(dense - 2 * factor * (b.toarray() != 0)).max(), 0, format)
                if sp.issparse(result):
                    self.assertEqual((result.format, result.shape), (format, (40, 30)))
                    again = type(result)(result)  # scipy's constructor checks its parts
                    self.assertLessEqual(vars(again).keys(), vars(result).keys())
                    self.assertEqual((again != result).nnz, 0)

    def test_results_outlive_the_kernel_and_are_freed(self):
        b = self.matrices()[0]
        for _ in range(3):
            result = self.f(B=b)
        gone = weakref.ref(self.f(B=b))
        gc.collect()
        self.assertIsNone(gone())
        del self.f
        gc.collect()
        self.assertEqual(abs(result - 2 * b).sum(), 0)


if __name__ == "__main__":
    with_server.main()

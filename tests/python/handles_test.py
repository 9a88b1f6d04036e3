"""Kernels, tensors, sessions and bound kernels as Python objects: copies, pickles, ends of lives, and the coordinates of tensors."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

daemon = with_server.daemon()
import schaas

SEED = 20261125
FORMATS = {1: ("dense", "compressed", "bitmap", "banded", "hashed"),
           2: ("dense", "dense:1,0", "csr", "csc", "coo", "dcsr", "bitmap", "banded", "hashed", "compressed,hashed"),
           3: ("csf", "coo", "compressed,compressed,compressed:2,0,1", "dense,compressed,compressed")}


def some_tensors():
    """In every format, in both types and widths."""
    random = np.random.default_rng(SEED)
    for order, formats in FORMATS.items():
        values = random.integers(1, 64, (6, 5, 4)[:order]) / 8 * (random.random((6, 5, 4)[:order]) < 0.4)
        for format in formats:
            for dtype, index in ((np.float64, np.int32), (np.float32, np.int64)):
                places = np.array(np.nonzero(values))
                yield schaas.tensor(places, values[tuple(places)], values.shape, format, dtype=dtype, index_dtype=index), values
    yield schaas.tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 3), fill=np.inf), np.array([[np.inf, 1, np.inf], [2, np.inf, np.inf]])
    yield schaas.tensor(np.zeros((0, 1)), [2.5], ()), np.array(2.5)
    yield schaas.tensor([[], []], [], (3, 0)), np.zeros((3, 0))


def overwrite():
    """Takes memory that was given back."""
    gc.collect()
    return [schaas.tensor(np.random.randint(0, 50, (2, 500)), np.ones(500), (50, 50)) for _ in range(20)]


class Tensors(unittest.TestCase):
    def same(self, one, other):
        for name in ("shape", "mode_order", "dtype", "format", "fill"):
            self.assertEqual(getattr(one, name), getattr(other, name))
        for (kind, *arrays, entries), (other_kind, *others, other_entries) in zip(one.levels, other.levels):
            self.assertEqual((kind, entries), (other_kind, other_entries))
            for left, right in zip(arrays, others):
                np.testing.assert_array_equal(left, right)
                if left is not None:
                    self.assertEqual(left.dtype, right.dtype)
        np.testing.assert_array_equal(one.values, other.values)

    def test_copies_outlive_the_original(self):
        for tensor, values in some_tensors():
            ways = [copy.copy, copy.deepcopy, lambda one: copy.copy(copy.copy(one))]
            ways += [lambda one, protocol=protocol: pickle.loads(pickle.dumps(one, protocol))
                     for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
            made = [way(tensor) for way in ways]
            with self.subTest(format=tensor.format, dtype=tensor.dtype):
                for one in made:
                    self.same(tensor, one)
                del tensor
                kept = overwrite()
                for one in made:
                    np.testing.assert_array_equal(np.asarray(one), values)
                    self.assertEqual(one.convert("coo" if one.ndim > 1 else "dense").shape, values.shape)
                del kept

    def test_copies_share_nothing(self):
        tensor = schaas.tensor([[0, 1], [1, 0]], [1.0, 2.0], (3, 3))
        for made in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
            made.values[:] = 0
            made.levels[1][2][:] = 0
            np.testing.assert_array_equal(np.asarray(tensor), [[0, 1, 0], [2, 0, 0], [0, 0, 0]])

    def test_copies_are_operands(self):
        f, x = schaas.kernel("y(i) = B(i,j) * x(j)"), np.arange(5.0)
        for tensor, values in some_tensors():
            if tensor.ndim == 2 and tensor.shape[1] == 5:
                made = pickle.loads(pickle.dumps(tensor))
                with self.subTest(format=made.format, dtype=made.dtype):
                    np.testing.assert_allclose(f(B=made, x=x), values @ x, rtol=1e-6)
                    schaas.write(daemon.folder / "copied.mtx", made)
                    np.testing.assert_allclose(dense_of(schaas.read(daemon.folder / "copied.mtx")), values, rtol=1e-6)

    def test_views_keep_their_tensor(self):
        tensor = schaas.tensor([[0, 1], [1, 0]], [1.0, 2.0], (3, 3))
        values, levels = tensor.values, tensor.levels
        del tensor
        kept = overwrite()
        np.testing.assert_array_equal(values, [1, 2])
        np.testing.assert_array_equal(levels[1][2], [1, 0])
        del kept

    def test_results_are_copied_alike(self):
        b = sp.random(6, 5, 0.4, format="csr", random_state=SEED)
        found = schaas.kernel("A(i,j) = B(i,j) * 2", A="dcsr")(B=b)
        other = pickle.loads(pickle.dumps(found))
        del found
        kept = overwrite()
        np.testing.assert_array_equal(np.asarray(other), 2 * b.toarray())
        del kept

    def test_are_not_made_dense_unasked(self):
        large = schaas.tensor([[0, 7], [1, 0]], [1.0, 2.0], (200_000, 200_000))
        d = np.ones((200_000, 1))
        compute = '; compute with `schaas.einsum("ij,jk->ik", b, d)` or `schaas.kernel("C(i,k) = B(i,j) * D(j,k)")(B=b, D=d)`, '
        for work in (lambda: np.asarray(large), lambda: np.trace(large), lambda: d.T.dot(large), lambda: sp.eye(200_000, format="csr") @ large):
            with self.assertRaises(schaas.Unsupported) as caught:
                work()
            self.assertEqual(str(caught.exception), f"unsupported [dense-size]: numpy wants all elements of {large!r} in one array, which takes 298.0 GiB"
                             + compute + "take the entries with `.coords()`, or call `.todense()` to have it all the same")
        for work, name in ((lambda: large @ d, "matmul"), (lambda: d.T @ large, "matmul"), (lambda: d * large, "multiply"),
                           (lambda: np.sqrt(large), "sqrt"), (lambda: np.sum(large), "add")):
            with self.assertRaises(schaas.Unsupported) as caught:
                work()
            self.assertEqual(str(caught.exception), f"unsupported [numpy-function]: `numpy.{name}` does not know sparse tensors such as {large!r}"
                             + compute + "or pass `.todense()`, which takes 298.0 GiB")
        self.assertEqual(schaas.einsum("ij,jk->ik", large, d)[7, 0], 2)
        small = schaas.tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
        np.testing.assert_array_equal(small, [[0, 1], [2, 0]])
        np.testing.assert_array_equal(small.todense(), np.asarray(small))
        self.assertEqual(np.asarray(small, np.float32).dtype, np.float32)

    def test_explain_themselves(self):
        tensor = schaas.tensor([[0, 1], [1, 0], [0, 1]], [1.0, 2.0], (3, 3, 2))
        self.assertEqual(repr(tensor), "<schaas.Tensor csf of shape (3, 3, 2), 2 stored values of float64, 72 B>")
        self.assertEqual(tensor.describe(), {"format": "csf", "shape": (3, 3, 2), "dtype": "float64", "stored": 2, "bytes": 72, "index": "int32",
                                             "fill": 0.0})
        self.assertEqual(tensor.explain().splitlines()[1:], ["  mode 1: compressed, extent 3, 2 positions, 16 B",
                                                            "  mode 2: compressed, extent 3, 2 positions, 20 B",
                                                            "  mode 3: compressed, extent 2, 2 positions, 20 B",
                                                            "  values: float64, 16 B"])


def dense_of(given):
    return given.toarray() if sp.issparse(given) else np.asarray(given)


class Handles(unittest.TestCase):
    def setUp(self):
        self.b, self.x = sp.random(6, 5, 0.4, format="csr", random_state=SEED), np.arange(5.0)
        self.expected = self.b @ self.x

    def test_kernels_are_shared_or_made_again(self):
        f = schaas.kernel("y[i] = B[i,j] * x[j]", B="csr", where="j <= 9", dtype="f64", patience=2)
        ways = [copy.copy, copy.deepcopy] + [lambda one, protocol=protocol: pickle.loads(pickle.dumps(one, protocol)) for protocol in
                                             range(pickle.HIGHEST_PROTOCOL + 1)]
        f(B=self.b, x=self.x)
        made = [way(f) for way in ways]
        shown = f.describe()
        del f
        gc.collect()
        for one in made:
            self.assertEqual(one.describe(), shown)
            self.assertEqual((one._patience, one._where), (2.0, ["j <= 9"]))
            np.testing.assert_allclose(one(B=self.b, x=self.x), self.expected, rtol=1e-13)

    def test_kernels_go_to_other_processes(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        tensor = schaas.tensor(self.b.nonzero(), self.b.data, self.b.shape)
        program = ("import pickle, sys; f, given = pickle.load(sys.stdin.buffer); "
                   "pickle.dump([f(**one) for one in given], sys.stdout.buffer)")
        given = pickle.dumps((f, [dict(B=self.b, x=self.x), dict(B=tensor, x=self.x)]))
        done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for found in pickle.loads(done.stdout):
            np.testing.assert_allclose(found, self.expected, rtol=1e-13)

    def test_kernels_of_a_bundle_are_loaded_again(self):
        path = daemon.folder / "handles.schaas"
        daemon.json("bundle", "y(i) = B(i,j) * x(j)", "-f", "B=csr", "--isa", "generic", "-o", path)
        f = schaas.load(path)
        made = [copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))]
        self.assertEqual(made[2].bundle, f.bundle)
        del f
        gc.collect()
        for one in made:
            np.testing.assert_allclose(one(B=self.b, x=self.x), self.expected, rtol=1e-13)

    def test_bound_kernels_are_bound_again(self):
        bound = schaas.kernel("y(i) = B(i,j) * x(j)").bind(B=self.b, x=self.x)
        for way, code in ((copy.copy, "copy"), (copy.deepcopy, "copy"), (pickle.dumps, "pickle"), (lambda one: pickle.dumps([one], 0), "pickle")):
            with self.assertRaises(schaas.Unsupported) as raised:
                way(bound)
            self.assertEqual(raised.exception.code, code)
            self.assertIn("bind again, `kernel.bind(B=..., x=...)`", raised.exception.message)
        np.testing.assert_allclose(bound(), self.expected, rtol=1e-13)

    def test_sessions_are_shared(self):
        session = schaas.Session()
        made, deep = copy.copy(session), copy.deepcopy({"session": session})["session"]
        with self.assertRaises(schaas.Unsupported) as raised:
            pickle.dumps(session)
        self.assertEqual(raised.exception.code, "pickle")
        del session
        gc.collect()
        for one in (made, deep):
            np.testing.assert_allclose(one.kernel("y(i) = B(i,j) * x(j)")(B=self.b, x=self.x), self.expected, rtol=1e-13)

    def test_frontiers_are_plain_data(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        at = f.frontier_at(B=self.b, x=self.x)
        for made in (copy.copy(at), copy.deepcopy(at), pickle.loads(pickle.dumps(at))):
            self.assertEqual((str(made), made.picture, made["s1"]), (str(at), at.picture, at["s1"]))

    def test_explain_themselves(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)", B="csr")
        self.assertEqual(repr(f), "<schaas.Kernel 'y(i) = B(i,j) * x(j)', B='csr'>")
        self.assertEqual(f.describe(), {"expression": "y(i) = B(i,j) * x(j)", "formats": {"B": "csr"}, "dtype": None, "where": []})
        f(B=self.b, x=self.x)
        bound = f.bind(B=self.b, x=self.x, threads=1)
        self.assertRegex(repr(bound), r"^<schaas.Bound 'y\(i\) = B\(i,j\) \* x\(j\)': s1 ij, (baseline|final) kernel, 1 thread>$")
        told = bound.describe()
        self.assertEqual((told["id"], told["threads"], type(told["baseline"])), ("s1", 1, bool))
        bytes = self.b.data.nbytes + self.b.indices.nbytes + self.b.indptr.nbytes
        self.assertEqual(told["operands"], {
            "B": {"format": "csr", "shape": (6, 5), "dtype": "float64", "stored": self.b.nnz, "bytes": bytes, "index": "int32"},
            "x": {"format": "dense", "shape": (5,), "dtype": "float64", "stored": 5, "bytes": 40, "index": None}})
        self.assertEqual(f.describe(B=self.b, x=self.x)["operands"], told["operands"])
        for text in (bound.explain(), f.explain(B=self.b, x=self.x)):
            self.assertRegex(text, r"(?s)runs s1: ij, the (baseline|final) kernel.*threads \d+.*B: csr \(6, 5\) of float64, ")


class Ends(unittest.TestCase):
    """At the end of the interpreter, exit handlers and other threads may still compute."""

    def check(self, program):
        done = subprocess.run([sys.executable, "-c", program], env=os.environ, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_exit_handlers_may_compute(self):
        self.assertEqual(self.check("""
import atexit, numpy as np
held = []
atexit.register(lambda: print(held[0](B=np.eye(2), x=np.ones(2)), held[1](), np.asarray(held[2]), held[3].address != ""))
import schaas
f = schaas.kernel("y(i) = B(i,j) * x(j)")
held += [f, f.bind(B=np.eye(2), x=np.ones(2)), schaas.tensor([[1]], [2.0], (3,)), schaas.Session()]
"""), "[1. 1.] [1. 1.] [0. 2. 0.] True\n")

    def test_other_threads_may_compute(self):
        self.check("""
import threading, time, numpy as np, schaas
f = schaas.kernel("y(i) = B(i,j) * x(j)")
b, x = np.ones((500, 500)), np.ones(500)
f(B=b, x=x)
def loop():
    while True: f(B=b, x=x)
threading.Thread(target=loop, daemon=True).start()
time.sleep(0.05)
""")


class Coordinates(unittest.TestCase):
    def refused(self, code, part, *arguments, **options):
        with self.subTest(arguments=arguments), self.assertRaises(schaas.Invalid) as raised:
            schaas.tensor(*arguments, **options)
        self.assertEqual(raised.exception.code, code)
        self.assertIn(part, raised.exception.message)

    def test_are_checked_before_they_are_reshaped_or_cast(self):
        c, v, shape = np.array([[0, 2, 2, 1], [1, 0, 3, 3], [4, 2, 2, 0]]), [1.0, 2.0, 3.0, 4.0], (5, 5, 5)
        self.refused("coordinates", "the coordinates have shape (4, 3); expected (3, nnz), one row for each of the 3 extents; pass their "
                                    "transpose, `coords.T`", c.T, v, shape)
        self.refused("coordinates", "the coordinates have shape (12,); expected (3, nnz)", c.ravel(), v, shape)
        self.refused("coordinates", "the coordinates have shape (2, 6); expected (3, nnz)", c.reshape(2, 6), v, shape)
        self.refused("coordinates", "the coordinates have shape (3, 4, 1); expected (3, nnz)", c[..., None], v, shape)
        self.refused("coordinates", "the coordinates are no array: ", [[1, 2], [3]], v, (5, 5))
        self.refused("entry-count", "4 coordinates by mode, but 3 values", c, v[:3], shape)
        self.refused("entry-count", "the values have shape (2, 2); expected (nnz,)", c, [v[:2], v[2:]], shape)
        self.refused("entry-count", "the values have shape (); expected (nnz,)", c, 1.0, shape)
        self.refused("coordinates", "the coordinates are not all whole numbers", [[0.9, 1.9]], [1.0, 2.0], (3,))
        self.refused("coordinates", "the coordinates are not all whole numbers", [[0.0, np.nan]], [1.0, 2.0], (3,))
        self.refused("coordinates", "the coordinates are not all whole numbers", [[0.0, np.inf]], [1.0, 2.0], (3,))
        self.refused("coordinates", "the coordinates are booleans; `np.nonzero(mask)` gives those of a mask", [[True, False]], [1.0, 2.0], (3,))
        self.refused("coordinates", "the coordinates are of type complex128", [[0j, 1j]], [1.0, 2.0], (3,))
        self.refused("coordinates", "the coordinates are of type <U1", [["0", "1"]], [1.0, 2.0], (3,))
        self.refused("coordinates", "coordinate 3 of mode 1 is outside of its extent 3", [[0, 3]], [1.0, 2.0], (3,))
        self.refused("coordinates", "coordinate -1 of mode 2 is outside of its extent 3", [[0, 1], [0, -1]], [1.0, 2.0], (3, 3))
        self.refused("coordinates", "coordinate 9223372036854775809 is beyond 2^63 - 1", np.array([[2**63 + 1]], np.uint64), [1.0], (3,))
        self.refused("coordinates", "the coordinates are not all between 0 and 2^63 - 1", [[2**65]], [1.0], (3,))

    def test_go_with_extents_and_values_that_are_possible(self):
        self.refused("shape", "mode 1 has extent 18446744073709551616; expected 0 to 2^63 - 1", [[1]], [1.0], (2**64,))
        self.refused("shape", "mode 2 has extent -1", [[1], [1]], [1.0], (2, -1))
        self.refused("shape", "shape=(2.5,): expected whole numbers", [[1]], [1.0], (2.5,))
        self.refused("shape", "shape=None: expected whole numbers", [[1]], [1.0], None)
        self.refused("value-type", "the values are of type complex128; expected real numbers for dtype='f64'", [[1]], [1j], (2,), dtype="f64")
        self.refused("value-type", "the values are of type <U1", [[1]], ["a"], (2,))
        self.refused("value-type", "dtype='flot32': expected f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, bool, c64 or c128; did you mean `float32`?", [[1]], [1.0], (2,), dtype="flot32")
        self.refused("value-type", f"dtype={np.clongdouble}: expected f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, bool, c64 or c128", [[1]], [1.0], (2,), dtype=np.clongdouble)
        self.refused("index-type", "index_dtype='i2': expected np.int32 or np.int64", [[1]], [1.0], (2,), index_dtype="i2")

    def test_may_be_given_in_every_unmistakable_form(self):
        for coords in ([[0, 2]], [0, 2], np.array([0.0, 2.0]), (np.array([0, 2], np.uint8),), np.array([[0, 2]], np.uint64)):
            found = schaas.tensor(coords, [1.0, np.nan], (3,))
            np.testing.assert_array_equal(np.asarray(found), [1, 0, np.nan])
        np.testing.assert_array_equal(np.asarray(schaas.tensor(np.nonzero(np.eye(2)), [1, 2], (2, 2))), [[1, 0], [0, 2]])
        for coords in ([], [[], []], np.zeros((2, 0), np.int32)):
            self.assertEqual(schaas.tensor(coords, [], (4, 5)).nnz, 0)
        self.assertEqual(np.asarray(schaas.tensor([], [1.0, 2.0], ())), 3)
        self.assertEqual(schaas.tensor([1], [True], 4).shape, (4,))
        self.assertEqual(schaas.tensor([[1]], np.array([1], np.float16), (4,), dtype="f32").dtype, np.float32)


if __name__ == "__main__":
    with_server.main()

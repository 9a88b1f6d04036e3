"""Files from and for numpy and scipy: every kind, type, layout and compression comes back as it was written."""

import bz2
import gzip
import itertools
import lzma
import os
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import with_server
import numpy as np
import scipy.io
import scipy.sparse as sp

import schaas

SEED = 20261125
PROGRAM = with_server.PROGRAMS / "schaas"


def dense(given):
    return given.toarray() if sp.issparse(given) else np.asarray(given)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.b = sp.random(6, 5, 0.4, format="csr", random_state=SEED)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check(self, path, wanted):
        found = dense(schaas.read(path))
        self.assertEqual(found.shape, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


class Read(Files):
    def test_matrices_that_scipy_writes(self):
        values = self.b.toarray()
        whole = np.arange(12).reshape(3, 4) % 5
        cases = {"real": values, "integer": whole, "unsigned": whole.astype(np.uint8), "wide": whole.astype(np.uint64), "single": values.astype("f4")}
        for (name, given), form in itertools.product(cases.items(), (np.asarray, sp.coo_matrix, sp.csr_matrix)):
            with self.subTest(name=name, form=form.__name__):
                scipy.io.mmwrite(self.path("a.mtx"), form(given), precision=17)
                self.check(self.path("a.mtx"), np.asarray(given, float))
        square = values[:5] + values[:5].T
        for symmetry, given in (("symmetric", square), ("skew-symmetric", np.triu(square, 1) - np.triu(square, 1).T), ("general", square)):
            for form in (np.asarray, sp.coo_matrix):
                scipy.io.mmwrite(self.path("s.mtx"), form(given), symmetry=symmetry, precision=17)
                self.check(self.path("s.mtx"), given)
        scipy.io.mmwrite(self.path("p.mtx"), sp.coo_matrix(values != 0), field="pattern")
        self.check(self.path("p.mtx"), (values != 0).astype(float))
        for form in (np.asarray, sp.coo_matrix):
            scipy.io.mmwrite(self.path("c.mtx"), form(values * 1j))
            np.testing.assert_allclose(dense(schaas.read(self.path("c.mtx"))), values * 1j)

    def test_arrays_of_every_real_type_and_layout(self):
        for code, order, shape in itertools.product("?bhilqBHILQefd", "<>", ((), (3,), (2, 3), (2, 0), (2, 3, 2))):
            given = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3).astype(np.dtype(code).newbyteorder(order))
            for layout in (np.asarray, np.asfortranarray):
                np.save(self.path("a.npy"), layout(given))
                with self.subTest(dtype=given.dtype, shape=shape):
                    found = schaas.read(self.path("a.npy"))
                    self.assertEqual(found.dtype, np.float32 if code in "ef" else np.float64)
                    np.testing.assert_array_equal(found, given.astype(float))
        halves = np.array([1.5, -0.0, 6e-8, 65504, np.inf, -np.inf, np.nan, 3e-5], np.float16)
        np.save(self.path("h.npy"), halves)
        np.testing.assert_array_equal(schaas.read(self.path("h.npy")), halves.astype(np.float32))
        for given, code in ((np.array([1], np.clongdouble), "npy-type"), (np.array([1], np.longdouble), "npy-type"), (np.array(["a"]), "npy-type"),
                            (np.array([2**53 + 1]), "file-number"), (np.array([2**64 - 1], np.uint64), "file-number"),
                            (np.array([-2**53 - 1]), "file-number")):
            np.save(self.path("w.npy"), given)
            with self.subTest(given=given), self.assertRaises(schaas.Error) as raised:
                schaas.read(self.path("w.npy"))
            self.assertEqual(raised.exception.code, code)
        np.save(self.path("e.npy"), np.array([2**60, -2**62]))
        np.testing.assert_array_equal(schaas.read(self.path("e.npy")), [2.0**60, -2.0**62])

    def test_archives_that_scipy_writes(self):
        for form, compressed, dtype in itertools.product(("csr", "csc", "coo", "bsr", "dia"), (True, False), (float, np.float32, np.int16, bool)):
            given = sp.csr_matrix(np.round(4 * self.b.toarray()).astype(dtype)).asformat(form)
            if form == "bsr":
                given = given.tobsr((2, 5))
            with self.subTest(form=form, compressed=compressed, dtype=dtype):
                sp.save_npz(self.path("a.npz"), given, compressed=compressed)
                found = schaas.read(self.path("a.npz"))
                self.assertEqual(found.dtype, np.float32 if dtype == np.float32 else np.float64)
                np.testing.assert_array_equal(dense(found), given.toarray().astype(float))
        sp.save_npz(self.path("n.npz"), sp.csr_matrix((3, 4)))
        self.check(self.path("n.npz"), np.zeros((3, 4)))
        np.savez(self.path("d.npz"), np.arange(6).reshape(2, 3))
        self.check(self.path("d.npz"), np.arange(6.0).reshape(2, 3))
        np.savez(self.path("two.npz"), a=[1], b=[2])
        sp.save_npz(self.path("j.npz"), self.b * 1j)
        np.testing.assert_array_equal(dense(schaas.read(self.path("j.npz"))), (self.b * 1j).toarray())
        bad = dict(np.load(self.path("n.npz")))
        np.savez(self.path("bad.npz"), **(bad | dict(indices=np.array([9]), data=np.array([1.0]), indptr=np.array([0, 0, 1, 1]))))
        none = np.zeros((0, 2), dtype=np.int64)
        np.savez(self.path("scalar.npz"), format=np.array(b"coo"), shape=np.array([], dtype=np.int64), coords=none, data=np.array([1.0, 2.0]))
        with open(self.path("a.npz"), "rb") as file:
            whole = file.read()
        with open(self.path("cut.npz"), "wb") as file:
            file.write(whole[:-40])
        flipped = bytearray(whole)
        flipped[120] ^= 1
        with open(self.path("flipped.npz"), "wb") as file:
            file.write(flipped)
        for name, code in (("two", "npz-structure"), ("bad", "coordinate-range"), ("scalar", "npz-structure"), ("cut", "npz-damaged"), ("flipped", None)):
            with self.subTest(name=name), self.assertRaises(schaas.Error) as raised:
                schaas.read(self.path(name + ".npz"))
            self.assertIn(raised.exception.code, (code,) if code else ("npz-damaged", "npy-header", "gzip-damaged", "npz-structure"))

    def test_compressed_content(self):
        text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.5\n"
        for pack in (gzip.compress, bz2.compress, lzma.compress):
            for content in (pack(text), pack(text[:20]) + pack(text[20:])):
                with open(self.path("a.mtx"), "wb") as file:
                    file.write(content)
                self.check(self.path("a.mtx"), np.array([[0, 1.5], [0, 0]]))
            with open(self.path("a.mtx"), "wb") as file:
                file.write(pack(text)[:-6])
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.read(self.path("a.mtx"))
            self.assertIn("-damaged", raised.exception.code)

    def test_pipes(self):
        os.mkfifo(self.path("pipe"))
        for name in ("a.mtx", "a.npy", "a.npz", "a.tns", "a.mtx.gz", "a.tns.xz"):
            schaas.write(self.path(name), self.b)
            with open(self.path(name), "rb") as file:
                content = file.read()

            def feed():
                with open(self.path("pipe"), "wb") as pipe:
                    pipe.write(content)
            writer = threading.Thread(target=feed)
            writer.start()
            with self.subTest(name=name):
                self.check(self.path("pipe"), self.b.toarray())
            writer.join()
            for given in ("-", "/dev/stdin"):
                for source in (dict(input=content), dict(stdin=open(self.path(name), "rb"))):
                    done = subprocess.run([sys.executable, "-c", "import schaas, sys; a = schaas.read(sys.argv[1]); "
                                           "print(repr((a.toarray() if hasattr(a, 'toarray') else __import__('numpy').asarray(a)).sum()))",
                                           given], capture_output=True, **source)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertAlmostEqual(float(done.stdout), self.b.sum(), 12)
                    if "stdin" in source:
                        source["stdin"].close()


class Written(Files):
    def test_comes_back(self):
        last = sp.csr_matrix(([1.0], ([0], [0])), shape=(3, 4))  # empty last row and column
        unsorted = sp.coo_matrix(([1.0, 2, 3], ([2, 0, 2], [1, 1, 1])), shape=(3, 5))
        for given in (self.b, last, unsorted, sp.csr_matrix((3, 4)), self.b.tocsc(), sp.csr_matrix((0, 3)), self.b.toarray()):
            for kind, packing in itertools.product((".mtx", ".tns", ".npy", ".npz"), ("", ".gz", ".bz2", ".xz")):
                if kind == ".tns" and isinstance(given, np.ndarray) and not given.any():
                    continue
                with self.subTest(given=repr(given), kind=kind + packing):
                    schaas.write(self.path("a" + kind + packing), given)
                    self.check(self.path("a" + kind + packing), dense(given).astype(float))
        t = schaas.tensor([[0, 1], [2, 0], [1, 1]], [1.0, 2.0], (3, 4, 5))
        schaas.write(self.path("t.tns"), t)
        self.check(self.path("t.tns"), np.asarray(t))
        schaas.write(self.path("e.tns"), schaas.tensor([[], [], []], [], (3, 4, 5)))
        self.assertEqual(schaas.read(self.path("e.tns")).shape, (3, 4, 5))

    def test_keeps_its_type(self):
        for kind, given in itertools.product((".npy", ".npz"), (self.b, self.b.tocoo(), self.b.toarray())):
            schaas.write(self.path("a" + kind), given.astype(np.float32))
            self.assertEqual(schaas.read(self.path("a" + kind)).dtype, np.float32)

    def test_is_what_scipy_reads(self):
        schaas.write(self.path("a.npz"), self.b)
        found = sp.load_npz(self.path("a.npz"))
        self.assertEqual((found.format, found.has_sorted_indices), ("csr", True))
        np.testing.assert_array_equal(found.toarray(), self.b.toarray())
        schaas.write(self.path("a.mtx.bz2"), self.b)
        np.testing.assert_array_equal(scipy.io.mmread(self.path("a.mtx.bz2")).toarray(), self.b.toarray())
        with lzma.open(self.path("b.npy.xz"), "wb") as file:
            np.save(file, self.b.toarray())
        self.check(self.path("b.npy.xz"), self.b.toarray())
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.write(self.path("v.npz"), np.ones(3))
        self.assertEqual(raised.exception.code, "file-order")

    def test_true_zeros_are_entries(self):
        given = schaas.tensor([[0, 1], [1, 0]], [0.0, 2.0], (2, 3), fill=np.inf)
        for kind in (".mtx", ".tns"):
            schaas.write(self.path("z" + kind), given)
            found = schaas.read(self.path("z" + kind), fill=np.inf)
            np.testing.assert_array_equal(np.asarray(found), [[np.inf, 0, np.inf], [2, np.inf, np.inf]])

    def test_keeps_modes_and_links(self):
        schaas.write(self.path("a.npy"), np.ones(2))
        os.chmod(self.path("a.npy"), 0o640)
        os.symlink("a.npy", self.path("link.npy"))
        schaas.write(self.path("link.npy"), np.ones(3))
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a.npy")).st_mode), 0o640)
        self.check(self.path("a.npy"), np.ones(3))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.npy", "link.npy"])


class Program(Files):
    def run_program(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=120, **options)

    def test_converts_from_and_to_standard_streams(self):
        schaas.write(self.path("a.npz"), self.b)
        with open(self.path("a.npz"), "rb") as file:
            done = self.run_program("convert", "-", "-o", "-", stdin=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"written to -", done.stderr)
        with open(self.path("back.mtx"), "wb") as file:
            file.write(done.stdout)
        self.check(self.path("back.mtx"), self.b.toarray())
        done = self.run_program("convert", "/dev/stdin", "-o", "/dev/stdout", input=done.stdout)
        self.check(self.path("back.mtx"), self.b.toarray())
        self.assertTrue(done.stdout.startswith(b"%%MatrixMarket matrix coordinate"))

    def test_runs_with_standard_streams(self):
        environment = {**os.environ, "SCHAAS_SERVER": with_server.daemon().address}
        schaas.write(self.path("b.mtx"), self.b)
        np.save(self.path("x.npy"), np.arange(5.0))
        with open(self.path("b.mtx"), "rb") as file:
            done = self.run_program("run", "y(i) = B(i,j) * x(j)", "-t", "B=-", "-t", "x=" + self.path("x.npy"), "-o", "-", stdin=file,
                                    env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("y.mtx"), "wb") as file:
            file.write(done.stdout)
        np.testing.assert_allclose(schaas.read(self.path("y.mtx")).ravel(), self.b @ np.arange(5.0), rtol=1e-12)
        done = self.run_program("run", "y(i) = B(i,j) * x(j)", "-t", "B=-", "-t", "x=-", env=environment, input=b"1 1 1\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"[standard-input]", done.stderr)


if __name__ == "__main__":
    with_server.main()

"""Fill values: elements that are not stored keep the zero of the semiring in every format, file and result."""

import pathlib
import subprocess
import tempfile
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

INF = np.inf
FORMATS = ("dense,dense", "dense:1,0", "csr", "csc", "dcsr", "dcsc", "coo", "coo:1,0", "csf", "bitmap", "banded", "hashed")
FILES = ("t.npy", "t.tns", "t.tns.gz", "t.mtx")


def matrix(fill, seed=4711):
    """A matrix whose elements are the fill value, true zeros and other numbers."""
    random = np.random.default_rng(seed)
    values = random.choice([fill, fill, 0.0, 1.0, -2.0, 3.0], (7, 5))
    values[2] = fill  # a row without an entry
    return values


def stored(values, fill, format="csr"):
    places = np.nonzero(values != fill)
    return schaas.tensor(places, values[places], values.shape, format, fill=fill)


class Tensors(unittest.TestCase):
    def test_every_format_keeps_the_fill_value_and_true_zeros(self):
        for fill in (0.0, INF, -INF, 1.0):
            values = matrix(fill)
            for first in FORMATS:
                made = stored(values, fill, first)
                self.assertEqual(made.fill, fill)
                np.testing.assert_array_equal(np.asarray(made), values, first)
                for second in FORMATS:
                    other = made.convert(second)
                    self.assertEqual(other.fill, fill)
                    np.testing.assert_array_equal(np.asarray(other), values, f"{first} as {second}")
                    if second in ("csr", "coo", "dcsr"):
                        self.assertEqual(other.nnz, np.count_nonzero(values != fill), f"{first} as {second}")

    def test_other_orders(self):
        for order, formats in ((1, ("dense", "compressed", "bitmap", "hashed")), (3, ("csf", "coo", "dense,dense,compressed"))):
            values = np.where(np.arange(2 ** order).reshape((2,) * order) % 3 == 1, INF, 0.0)
            for format in formats:
                np.testing.assert_array_equal(np.asarray(stored(values, INF, format)), values, format)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for fill in (0.0, INF, -INF):
                values = matrix(fill)
                for format in FORMATS:
                    for name in FILES:
                        path = pathlib.Path(folder) / name
                        schaas.write(path, stored(values, fill, format))
                        back = schaas.read(path, fill=fill)
                        np.testing.assert_array_equal(back.toarray() if sp.issparse(back) else np.asarray(back), values,
                                                      f"{format} in {name}")
                for name in FILES:  # an array of numpy
                    path = pathlib.Path(folder) / name
                    schaas.write(path, values, fill=fill)
                    back = schaas.read(path, fill=fill)
                    np.testing.assert_array_equal(back.toarray() if sp.issparse(back) else np.asarray(back), values, name)


class Results(unittest.TestCase):
    def test_a_result_holds_the_zero_of_its_semiring_where_nothing_is_stored(self):
        for semiring, fill in (("min-plus", INF), ("max-plus", -INF), ("min-max", INF), ("max-min", -INF)):
            values = matrix(fill)
            places = np.nonzero(values != fill)
            b = sp.csr_matrix((values[places], places), shape=values.shape)
            expected = values + 1.0 if semiring.endswith("plus") else getattr(np, semiring[4:] + "imum")(values, 1.0)
            expected[values == fill] = fill
            for format in ("dcsr", "csf", "bitmap", "banded", "hashed", "dense:1,0"):
                scaled = schaas.kernel(f"{semiring}: R(i,j) = B(i,j) * s", B="csr", R=format)
                made = scaled(B=b, s=1.0)
                self.assertEqual(made.fill, fill)
                np.testing.assert_array_equal(np.asarray(made), expected, f"{semiring} {format}")
                bound = scaled.bind(B=b, s=1.0)
                for _ in range(2):  # the second run knows where each value goes
                    made = bound()
                    self.assertEqual(made.fill, fill)
                    np.testing.assert_array_equal(np.asarray(made), expected, f"{semiring} {format}")


class CommandLine(unittest.TestCase):
    def test_run_and_convert(self):
        values, other = matrix(INF), matrix(INF, 5).T.copy()
        expected = (values[:, :, None] + other[None]).min(1)
        program = with_server.PROGRAMS / "schaas"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            schaas.write(folder / "B.tns", stored(values, INF))
            schaas.write(folder / "B.mtx", stored(values, INF))
            np.save(folder / "B.npy", values)
            np.save(folder / "C.npy", other)
            for given, format, written in (("B.mtx", "dense", "R.npy"), ("B.tns", "csr", "R.tns"), ("B.npy", "csr", "R.tns"),
                                           ("B.npy", "bcsr(4,4)", "R.mtx"), ("B.mtx", "banded", "R.npy"),
                                           ("B.tns", "bitmap", "R.mtx"), ("B.npy", "dense:1,0", "R.tns")):
                subprocess.run([program, "run", "min-plus: R(i,k) = B(i,j) * C(j,k)", "-t", f"B={folder / given}", "-t",
                                f"C={folder / 'C.npy'}", "-f", f"B={format}", "-o", folder / written], check=True,
                               capture_output=True, timeout=240)
                np.testing.assert_array_equal(np.asarray(schaas.read(folder / written, fill=INF)), expected,
                                              f"{given} {format} {written}")
            for given in ("B.mtx", "B.tns", "B.npy"):
                for format in FORMATS + ("bcsr(2,2)",):
                    for written in FILES:
                        subprocess.run([program, "convert", folder / given, "--fill", "inf", "-f", format, "-o", folder / written],
                                       check=True, capture_output=True, timeout=60)
                        np.testing.assert_array_equal(np.asarray(schaas.read(folder / written, fill=INF)), values,
                                                      f"{given} {format} {written}")


if __name__ == "__main__":
    with_server.main()

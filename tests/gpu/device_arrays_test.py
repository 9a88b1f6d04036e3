#!/usr/bin/env python3
"""Arrays on a GPU from Python: CuPy's and DLPack's are stood in for, by memory of the driver that gpu_path_test puts in the place of
libcuda.so.1 (fake_driver.c): a read of them by code of the host would end this program. SCHAAS_SERVER emulates kernels.

    device_arrays_test.py
"""

import ctypes
import sys
import types
import unittest

import numpy as np
import scipy.sparse as sp

import schaas

driver = ctypes.CDLL("libcuda.so.1")
SEED = 20261122


def cuda(name, *arguments):
    """A call of the driver with its context current."""
    context = ctypes.c_void_p()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxPushCurrent_v2(context)
    status = getattr(driver, name)(*arguments)
    driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    if status:
        raise OSError(f"{name}: {status}")


def counted(name):
    return ctypes.c_int64.in_dll(driver, name).value


class Memory:
    """Device memory with what numpy gives to it."""

    def __init__(self, array):
        array = np.ascontiguousarray(array)
        self.allocate(array.shape, array.dtype)
        self.write(array)

    def allocate(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.bytes = int(np.prod(shape)) * self.dtype.itemsize
        self.address = ctypes.c_uint64()
        cuda("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(self.bytes, 16)))
        return self

    def write(self, array, stream=None):
        array = np.ascontiguousarray(array)
        cuda("cuMemcpyAsync", self.address, ctypes.c_uint64(array.ctypes.data), ctypes.c_size_t(self.bytes), ctypes.c_void_p(stream))

    def get(self):
        out = np.empty(self.shape, self.dtype)
        cuda("cuMemcpyAsync", ctypes.c_uint64(out.ctypes.data), self.address, ctypes.c_size_t(self.bytes), None)
        return out

    def __del__(self):
        cuda("cuMemFree_v2", self.address)


class Array(Memory):
    """What the package asks of a cupy.ndarray."""
    stream, strides = None, None

    @property
    def __cuda_array_interface__(self):
        told = {"data": (self.address.value, False), "shape": self.shape, "typestr": self.dtype.str, "version": 3}
        if self.stream is not None:
            told["stream"] = self.stream
        if self.strides is not None:
            told["strides"] = self.strides
        return told


class Matrix:
    """Of a cupyx.scipy.sparse.csr_matrix."""
    format, has_canonical_format = "csr", True

    def __init__(self, matrix):
        self.shape = matrix.shape
        self.indptr, self.indices, self.data = Array(matrix.indptr), Array(matrix.indices), Array(matrix.data)

    def tocsr(self):
        raise AssertionError("converted")

    def get(self):
        return sp.csr_matrix((self.data.get(), self.indices.get(), self.indptr.get()), self.shape)


Array.__module__, Matrix.__module__ = "cupy", "cupyx.scipy.sparse._csr"
cupy, sparse = types.ModuleType("cupy"), types.ModuleType("cupyx.scipy.sparse")
cupy.empty = lambda shape, dtype: Array.__new__(Array).allocate(shape, dtype)
cupy.asarray, sparse.csr_matrix = Array, Matrix
for name, module in {"cupy": cupy, "cupyx": types.ModuleType("cupyx"), "cupyx.scipy": types.ModuleType("cupyx.scipy"),
                     "cupyx.scipy.sparse": sparse}.items():
    sys.modules[name] = module
sys.modules["cupyx"].scipy, sys.modules["cupyx.scipy"].sparse = sys.modules["cupyx.scipy"], sparse


class DeviceArrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.product = schaas.kernel("C(i,k) = A(i,j) * B(j,k)", patience=300)

    def setUp(self):
        self.a = sp.random(40, 30, 0.2, format="csr", random_state=SEED)
        self.b = np.random.default_rng(SEED).random((30, 5))
        self.there, self.dense = Matrix(self.a), Array(self.b)

    def test_are_read_where_they_lie(self):
        first = self.product(A=self.there, B=self.dense)  # measures the rows of A
        launches, moved = counted("fake_launches"), counted("fake_to_device") + counted("fake_to_host")
        made = self.product(A=self.there, B=self.dense)
        self.assertEqual(counted("fake_to_device") + counted("fake_to_host"), moved, "something was copied")
        self.assertGreater(counted("fake_launches"), launches)
        for result in (first, made):
            self.assertIs(type(result), Array)
            np.testing.assert_allclose(result.get(), self.a @ self.b)
        bound = self.product.bind(A=self.there, B=self.dense)
        told = bound.describe()
        self.assertEqual((told["isa"], told["device"]), ("cuda", "Fake GPU"))
        self.assertNotIn("brought", told["reason"])
        self.dense.write(2 * self.b)
        np.testing.assert_allclose(bound().get(), 2 * (self.a @ self.b))

    def test_a_call_of_equal_sizes_is_kept(self):
        self.product(A=self.there, B=self.dense)
        other, wide = sp.random(40, 30, 0.2, format="csr", random_state=SEED + 1), 2 * self.b
        there, dense, out = Matrix(other), Array(wide), Array(np.zeros((40, 5)))
        moved = counted("fake_to_device") + counted("fake_to_host")
        made = self.product(A=there, B=dense)
        self.assertIs(self.product(A=self.there, B=dense, out=out), out)
        self.assertEqual(counted("fake_to_device") + counted("fake_to_host"), moved, "the rows of the other matrix were measured")
        np.testing.assert_allclose(made.get(), other @ wide)
        np.testing.assert_allclose(out.get(), self.a @ wide)
        del there, dense, made  # what was kept must not read them again
        np.testing.assert_allclose(self.product(A=self.there, B=self.dense).get(), self.a @ self.b)

    def test_parts_are_read(self):
        # Rows of a dense array are read where they lie; positions of csr are not counted anew on the device.
        of_rows = schaas.kernel("C(i,k) = A(i,j) * B(j(3:),k)", patience=300)
        few = sp.random(40, 27, 0.2, format="csr", random_state=SEED)
        for _ in range(2):
            np.testing.assert_allclose(of_rows(A=Matrix(few), B=self.dense).get(), few @ self.b[3:])
        of_csr = schaas.kernel("C(i,k) = A(i(5:9),j) * B(j,k)", patience=300)
        for _ in range(2):
            np.testing.assert_allclose(of_csr(A=self.there, B=self.dense).get(), self.a[5:9] @ self.b)

    def test_what_lies_in_memory_is_brought(self):
        made = self.product(A=self.a, B=self.dense)
        self.assertIs(type(made), Array)
        np.testing.assert_allclose(made.get(), self.a @ self.b)
        # Of a larger matrix, so that bringing it to the processor would take longer than bringing `B` there.
        large = sp.random(400, 300, 0.2, format="csr", random_state=SEED)
        told = self.product.bind(A=Matrix(large), B=np.ones((300, 5))).describe()
        self.assertIn("; `B` is brought to Fake GPU", told["reason"])

    def test_out(self):
        out = Array(np.zeros((40, 5)))
        self.assertIs(self.product(A=self.there, B=self.dense, out=out), out)
        np.testing.assert_allclose(out.get(), self.a @ self.b)
        here = np.zeros((40, 5))
        self.product(A=self.there, B=self.dense, out=here)
        np.testing.assert_allclose(here, self.a @ self.b)
        with self.assertRaises(schaas.Invalid) as raised:
            self.product(A=self.there, B=self.dense, out=Array(np.zeros((40, 5), np.float32)))
        self.assertEqual(raised.exception.message, "`out` holds float32; expected float64")

    def test_streams(self):
        stream = ctypes.c_void_p()
        driver.cuStreamCreate(ctypes.byref(stream), 0)
        self.product(A=self.there, B=self.dense)  # known from here on
        self.dense.write(3 * self.b, stream.value)
        made = self.product(A=self.there, B=self.dense, stream=stream.value)
        self.assertGreater(counted("fake_pending"), 0, "the call waited")
        cuda("cuStreamSynchronize", stream)
        self.assertEqual(counted("fake_pending"), 0)
        np.testing.assert_allclose(made.get(), 3 * (self.a @ self.b))
        self.dense.stream = stream.value  # said by the array itself
        again = self.product(A=self.there, B=self.dense)
        self.assertGreater(counted("fake_pending"), 0)
        cuda("cuStreamSynchronize", stream)
        np.testing.assert_allclose(again.get(), made.get())
        self.there.data.stream = 1
        with self.assertRaises(schaas.Invalid) as raised:
            self.product(A=self.there, B=self.dense)
        self.assertEqual(raised.exception.code, "streams")
        self.product(A=self.there, B=self.dense, stream=stream.value)
        cuda("cuStreamSynchronize", stream)

    def test_dlpack(self):
        given = self.dense

        class Managed(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("ordinal", ctypes.c_int32), ("order", ctypes.c_int32),
                        ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]

        class Exported:  # as jax.Array
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self, stream=None):
                self.asked = stream
                self.shape = (ctypes.c_int64 * 2)(*given.shape)
                self.managed = Managed(given.address.value, 2, 0, 2, 2, 64, 1, self.shape, None, 0)
                new = ctypes.pythonapi.PyCapsule_New
                new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
                return new(ctypes.addressof(self.managed), b"dltensor", None)

        exported = Exported()
        moved = counted("fake_to_device")
        made = self.product(A=self.there, B=exported)
        self.assertEqual(exported.asked, 1)
        self.assertEqual(counted("fake_to_device"), moved)
        np.testing.assert_allclose(made.get(), self.a @ self.b)

    def test_what_kernels_do_not_read_goes_by_way_of_memory(self):
        turned = Array(np.ascontiguousarray(self.b.T))
        turned.shape, turned.strides = (30, 5), (8, 240)
        turned.get = lambda: self.b.copy()
        made = self.product(A=self.there, B=turned)
        self.assertIs(type(made), Array)
        np.testing.assert_allclose(made.get(), self.a @ self.b)
        whole = Array(np.arange(150).reshape(30, 5))  # integers
        np.testing.assert_allclose(self.product(A=self.there, B=whole).get(), self.a @ np.arange(150).reshape(30, 5))

    def test_a_sampled_product(self):
        sddmm = schaas.kernel("Y(i,j) = A(i,j) * P(i,k) * Q(j,k)", Y="csr", patience=300)
        p = np.random.default_rng(1).random((40, 4))
        q = np.random.default_rng(2).random((30, 4))
        made = sddmm(A=self.there, P=Array(p), Q=Array(q))
        self.assertIs(type(made), Matrix)
        np.testing.assert_allclose(made.get().toarray(), self.a.multiply(p @ q.T).toarray())

    def test_addresses_of_memory_are_refused(self):
        class Liar(Array):
            @property
            def __cuda_array_interface__(self):
                return {**super().__cuda_array_interface__, "data": (here.ctypes.data, False)}

        here = self.b.copy()
        with self.assertRaises(schaas.Invalid) as raised:
            self.product(A=self.there, B=Liar(self.b))
        self.assertEqual(raised.exception.message, "`B` is said to lie on Fake GPU, but its values lie in the host's memory")

    def test_the_frontier_for_arrays_there(self):
        here = self.product.frontier_at(A=self.there, B=self.dense)
        self.assertEqual((here.here["nonzeros"]["A"], here.here["extents"]["k"]), (self.a.nnz, 5))
        turned = Array(self.b)
        turned.strides = (8, 240)
        for look in (self.product.frontier_at, self.product.tune, self.product.bind):
            with self.assertRaises(schaas.Unsupported) as raised:
                look(A=self.there, B=turned)
            self.assertEqual(raised.exception.code, "device")

    def test_tuning_measures_on_the_device(self):
        measured = self.product.tune(A=self.there, B=self.dense)
        self.assertGreater(len(measured), 1)
        self.assertTrue(all(name.startswith("g") for name in measured), measured)
        np.testing.assert_allclose(self.product(A=self.there, B=self.dense).get(), self.a @ self.b)


if __name__ == "__main__":
    unittest.main()

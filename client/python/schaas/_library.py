"""libschaas through ctypes: the structs of schaas/schaas.h and proto/kernel_abi.h, and its functions."""

import ctypes
import operator
import os
import pathlib
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from ._errors import Unreachable, error_of, invalid

API_VERSION = 7

F64, F32, I64, I32, BF16, F16, INT8, INT16, U8, U16, U32, U64, BOOL = range(13)
# How far operands are checked, schaas.h.
CHECK_ALL, CHECK_NOTHING, CHECK_AS_NEEDED = range(3)
# Level formats of kernel_abi.h.
DENSE, COMPRESSED, COMPRESSED_NONUNIQUE, SINGLETON, SINGLETON_NONUNIQUE, BITMAP, BANDED, HASHED, COMPRESSED_UNORDERED = range(9)
LEVEL_NAMES = ("dense", "compressed", "compressed(nonunique)", "singleton", "singleton(nonunique)", "bitmap", "banded", "hashed",
               "compressed(unordered)")


class Level(ctypes.Structure):
    _fields_ = [("format", c_int32), ("index_bits", c_int32), ("pos", c_void_p), ("crd", c_void_p), ("entries", c_int64)]


class Tensor(ctypes.Structure):
    _fields_ = [("order", c_int32), ("value_type", c_int32), ("extents", POINTER(c_int64)), ("mode_order", POINTER(c_int32)),
                ("levels", POINTER(Level)), ("values", c_void_p)]


class ConnectOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t)] + [(name, c_char_p) for name in
                                               ("server", "server_key", "tls_ca", "tls_cert", "tls_key", "token", "token_file")] + [
                                                   ("progress", c_void_p), ("progress_context", c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("expression", c_char_p), ("formats", POINTER(c_char_p)), ("format_count", c_int32),
                ("constraint_count", c_int32), ("constraints", POINTER(c_char_p)), ("value_type", c_int32),
                ("position_bits", c_int32), ("space", c_char_p), ("patience_seconds", c_double), ("budget_seconds", c_double),
                ("max_temporary_bytes", c_uint64), ("memory_depth", c_int32), ("progress", c_void_p),
                ("progress_context", c_void_p)]


class GradientOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("of", c_char_p), ("seed", c_char_p), ("name", c_char_p), ("formats", POINTER(c_char_p)),
                ("format_count", c_int32)]


class Options(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("threads", c_int32), ("deterministic", c_int32), ("trusted", c_int32),
                ("extent_count", c_int32), ("extent_names", POINTER(c_char_p)), ("extents", POINTER(c_int64)),
                ("schedule", c_char_p), ("result", c_void_p), ("gpu", c_void_p), ("wait_seconds", c_double),
                ("progress", c_void_p), ("progress_context", c_void_p)]


class Progress(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("stage", c_char_p), ("seconds", c_double), ("done", c_uint64), ("of", c_uint64),
                ("kernels", c_int32), ("kernels_of", c_int32)]


PROGRESS = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(Progress))


def address_of(function):
    """Of a C function, as a number."""
    return ctypes.cast(function, c_void_p).value


class StorageOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("fill_value", c_double), ("position_bits", c_int32), ("unused", c_int32)]


class Gpu(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("device", c_int32), ("alone", c_int32), ("stream", c_void_p),
                ("on_device", POINTER(c_char_p)), ("on_device_count", c_int32)]


def _places():
    """Where the library may be: as told, in the wheel, in an installation, in a build of the source tree, where the loader looks."""
    told = os.environ.get("SCHAAS_LIBRARY")
    if told:
        yield told
        return
    here = pathlib.Path(__file__).resolve().parent
    for path in (here / "_lib" / "libschaas.so.0", here / "../../../libschaas.so.0", here / "../../../build/release/lib/libschaas.so.0"):
        if path.exists():
            yield str(path)
    yield "libschaas.so.0"


def _load():
    failures = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failures.append(f"{place}: {error}")
    raise ImportError("the library of schaas cannot be loaded (set SCHAAS_LIBRARY to libschaas.so.0): " + "; ".join(failures))


# name -> argument types; all return a status but those in _OTHER.
_ERROR = POINTER(c_void_p)
_STATUS = {
    "session_connect": [POINTER(ConnectOptions), POINTER(c_void_p), _ERROR],
    "bundle_open": [c_char_p, c_char_p, POINTER(c_void_p), _ERROR],
    "session_describe": [c_void_p, POINTER(c_void_p), _ERROR],
    "kernels_open": [c_void_p, POINTER(Problem), POINTER(c_void_p), _ERROR],
    "parse": [c_char_p, POINTER(c_void_p), _ERROR],
    "gradient": [c_char_p, POINTER(GradientOptions), POINTER(c_void_p), _ERROR],
    "bind": [c_void_p, c_void_p, c_int32, c_void_p, POINTER(c_void_p), _ERROR],
    "run": [c_void_p, _ERROR],
    "computation_describe": [c_void_p, POINTER(c_void_p), _ERROR],
    "frontier_at": [c_void_p, c_void_p, c_int32, c_void_p, POINTER(c_void_p), _ERROR],
    "tune": [c_void_p, c_void_p, c_int32, c_void_p, POINTER(c_void_p), _ERROR],
    "compare_formats": [c_void_p, c_void_p, c_int32, c_void_p, c_char_p, c_void_p, c_int32, c_double, POINTER(c_void_p), _ERROR],
    "compute": [c_void_p, c_void_p, c_int32, c_void_p, POINTER(c_void_p), _ERROR],
    "pack_with": [c_char_p, c_int32, c_void_p, c_void_p, c_void_p, c_int64, c_char_p, c_int32, c_int32, POINTER(StorageOptions),
                  POINTER(c_void_p), _ERROR],
    "convert_with": [c_char_p, c_void_p, c_char_p, POINTER(StorageOptions), POINTER(c_void_p), _ERROR],
    "read_with": [c_char_p, POINTER(StorageOptions), POINTER(c_void_p), _ERROR],
    "write_with": [c_char_p, c_void_p, POINTER(StorageOptions), _ERROR],
}
_OTHER = {
    "api_version": ([], c_int32), "version": ([], c_char_p), "error_status": ([c_void_p], c_int32),
    "error_code": ([c_void_p], c_char_p), "error_message": ([c_void_p], c_char_p), "error_text": ([c_void_p], c_char_p),
    "error_free": ([c_void_p], None), "text_free": ([c_void_p], None), "session_close": ([c_void_p], None),
    "session_address": ([c_void_p], c_char_p), "kernels_close": ([c_void_p], None), "computation_close": ([c_void_p], None),
    "result": ([c_void_p], POINTER(Tensor)), "storage_free": ([c_void_p], None), "storage_view": ([c_void_p], POINTER(Tensor)),
    "storage_fill": ([c_void_p], c_double), "result_fill": ([c_void_p], c_double),
}

_lib = _load()
for _name, _arguments in _STATUS.items():
    _function = getattr(_lib, "schaas_" + _name)
    _function.argtypes, _function.restype = _arguments, c_int32
for _name, (_arguments, _result) in _OTHER.items():
    _function = getattr(_lib, "schaas_" + _name)
    _function.argtypes, _function.restype = _arguments, _result

if _lib.schaas_api_version() < API_VERSION:
    raise ImportError(f"libschaas has interface {_lib.schaas_api_version()}, this package needs {API_VERSION}: install both of "
                      "one version")

api = _lib
storage_address = ctypes.CFUNCTYPE(c_void_p, c_void_p)(("schaas_storage_view", _lib))  # schaas_storage_view as a number
never_wait = address_of(_lib.schaas_never_wait)  # a callback that ends a call which would wait
version = _lib.schaas_version().decode()


def raise_error(error):
    """The error as an exception; frees it."""
    try:
        if not error.value:
            raise Unreachable("out-of-memory", "there is not enough memory", "there is not enough memory")
        raise error_of(_lib.schaas_error_status(error), _lib.schaas_error_code(error).decode(),
                       _lib.schaas_error_message(error).decode(errors="replace"),
                       _lib.schaas_error_text(error).decode(errors="replace"))
    finally:
        _lib.schaas_error_free(error)


def call(function, *arguments):
    """Calls a function of the library that returns a status."""
    error = c_void_p()
    if function(*arguments, ctypes.byref(error)):
        raise_error(error)


def text_from(function, *arguments):
    """The text that a function returns through its last argument."""
    text = c_void_p()
    call(function, *arguments, ctypes.byref(text))
    try:
        return ctypes.string_at(text.value).decode(errors="replace")
    finally:
        _lib.schaas_text_free(text)


def handle_from(function, *arguments):
    handle = c_void_p()
    call(function, *arguments, ctypes.byref(handle))
    return handle.value


def storage_options(fill, position_bits=0):
    """What a tensor holds where it stores nothing; `position_bits`: of a conversion, 0 for those of the tensor."""
    return ctypes.byref(StorageOptions(ctypes.sizeof(StorageOptions), fill, position_bits, 0))


def close_with(owner, close, handle):
    """Calls `close(handle)` when nobody holds `owner` any more. A forked child leaves the parent's handles alone. At the end of the
    interpreter nothing is closed: other threads and exit handlers may still compute, and memory goes with the process. Returns
    what closes it at once."""
    end = weakref.finalize(owner, _close, close, c_void_p(handle), os.getpid())
    end.atexit = False
    return end


def _close(close, handle, process):
    if os.getpid() == process:
        close(handle)


def threads_of(threads):
    """A number of threads, 0 for all processors."""
    try:
        threads = operator.index(threads)
    except TypeError:
        raise invalid("threads", f"threads={threads!r}; expected a whole number, 0 for all processors") from None
    if not 0 <= threads <= 4096:
        raise invalid("threads", f"{threads} threads; expected 1 to 4096, or 0 for all processors")
    return threads


def text_option(name, given):
    """The bytes of an option that is a text."""
    if not isinstance(given, str):
        raise invalid("option", f"{name}={given!r}: expected a text")
    return text(given)


def text(given):
    """The bytes of a text for C, where a character NUL would end it."""
    if "\0" in given:
        raise invalid("option", f"{given!r} has a character NUL")
    return given.encode()


def seconds_option(name, given):
    """Seconds, 0 or more."""
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = -1.0
    if isinstance(given, str) or not seconds >= 0:
        raise invalid("option", f"{name}={given!r}: expected a number of seconds")
    return seconds


def extents_option(given):
    """Index -> extent, as given to a call."""
    try:
        return {str(index): operator.index(extent) for index, extent in (given or {}).items()}
    except (AttributeError, TypeError):
        raise invalid("option", f"extents={given!r}: expected a dict of whole numbers, such as {{'j': 3}}") from None


def texts(values):
    """An array of C strings."""
    return (c_char_p * max(len(values), 1))(*[text(value) for value in values])

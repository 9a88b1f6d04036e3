"""Arrays on a GPU (CuPy, torch, numba): copied to where kernels run, and dense and scipy results copied back to where they came from."""

import sys

from ._operands import is_torch


def is_on_gpu(given):
    if is_torch(given):
        return str(given.device) != "cpu"
    return hasattr(given, "__cuda_array_interface__") or type(given).__module__.split(".")[0] in ("cupy", "cupyx")


def on_host(given):
    """A copy in memory; what is there already, and what nobody knows how to copy, as it is."""
    if not is_on_gpu(given):
        return given
    for copy in ("cpu", "get", "copy_to_host"):  # torch; CuPy, its sparse matrices too; numba
        if hasattr(given, copy):
            return getattr(given, copy)()
    return given


def back(result, operands):
    """The result as its owner would hold it who holds `operands`: the first one on a GPU decides."""
    like = next(filter(is_on_gpu, operands))
    if is_torch(like):
        return result.to(like.device) if is_torch(result) else result
    if type(like).__module__.split(".")[0] not in ("cupy", "cupyx"):
        return result
    if hasattr(result, "tocsr"):
        import cupyx.scipy.sparse
        return getattr(cupyx.scipy.sparse, result.format + "_matrix")(result)
    return sys.modules["cupy"].asarray(result) if hasattr(result, "__array_interface__") else result

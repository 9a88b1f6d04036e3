"""Sparse tensor algebra, scheduled: write an expression, call it with arrays.

    import schaas
    f = schaas.kernel("A[i,l] = B[i,j]*C[i,k]*D[j,k]*E[j,l]", where="8 <= k <= 256")
    A = f(B=scipy_csr, C=..., D=..., E=...)

A server searches the schedules, compiles the ones that can be the best and remembers them; by default it is a private one that
starts by itself. docs/python.md is the manual.
"""

from ._bundle import load
from ._einsum import einsum
from ._errors import Error, Exhausted, Internal, Invalid, Unreachable, Unsupported
from ._files import read, write
from ._formats import FormatComparison
from ._frontier import Frontier
from ._gradient import gradient
from ._kernel import Bound, Kernel, kernel
from ._library import version as __version__
from ._session import OfflineWarning, Session, connect
from ._tensors import Tensor, bfloat16, tensor

__all__ = ["Bound", "Error", "Exhausted", "FormatComparison", "Frontier", "Internal", "Invalid", "Kernel", "OfflineWarning", "Session", "Tensor", "Unreachable", "bfloat16",
           "Unsupported", "connect", "einsum", "gradient", "kernel", "load", "read", "tensor", "write"]

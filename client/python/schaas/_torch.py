"""Results as torch tensors, and torch tensors that take a result. Imported where an operand or `out` is torch's."""

import numpy as np
import torch

from . import _library as library
from ._errors import invalid
from ._tensors import Tensor


def as_torch(result):
    """A numpy number or array, a scipy csr, csc or coo matrix, or a Tensor that torch has a layout for, as a torch tensor in the same
    memory; of coo only the values stay where they are. Anything else (a Tensor in csf, a torch tensor) is returned as it is."""
    if isinstance(result, (np.ndarray, np.generic)):
        return torch.from_numpy(np.asarray(result))
    layout = getattr(result, "format", None)
    if layout in ("csr", "csc"):
        make = torch.sparse_csr_tensor if layout == "csr" else torch.sparse_csc_tensor
        return make(*map(torch.from_numpy, (result.indptr, result.indices, result.data)), result.shape)
    if layout == "coo":
        return _coordinates((result.row, result.col), result.data, result.shape)
    coordinates = _coordinates_of(result) if isinstance(result, Tensor) else None
    return result if coordinates is None else _coordinates(coordinates, result.values, result.shape)


def _coordinates_of(tensor):
    """The coordinates of the stored entries, one array per mode, of coo and of sparse vectors; else None."""
    levels = tensor.levels
    kinds = [level[0] for level in levels]
    listed = kinds == [library.COMPRESSED] or (
        kinds[:1] == [library.COMPRESSED_NONUNIQUE] and kinds[1:] == [library.SINGLETON_NONUNIQUE] * (len(kinds) - 2) + [library.SINGLETON])
    return [level[2] for level in levels] if listed and tensor.mode_order == tuple(range(len(levels))) else None


def _coordinates(coordinates, values, shape):
    made = torch.sparse_coo_tensor(torch.from_numpy(np.stack(coordinates).astype(np.int64, copy=False)), torch.from_numpy(values), shape)
    return made._coalesced_(True)  # kernels store sorted entries, each once


def array_of(out):
    """The numpy array in the memory of a tensor of the processor that a result is written to. Tells torch's graph of the change."""
    if out.layout != torch.strided or out.requires_grad or not out.is_contiguous() or out.device.type != "cpu":
        raise invalid("out", f"`out` is a torch tensor of layout {out.layout} on {out.device}"
                             + (" that requires a gradient" if out.requires_grad else "")
                             + ("" if out.layout != torch.strided or out.is_contiguous() else ", not contiguous")
                             + "; expected a contiguous, strided one that requires none, where the operands are")
    out.view(-1)[:0].zero_()  # counts as a change in place: torch refuses to use what it saved of the old values
    return out.numpy()


def bound(kernel, operands, out, **options):
    """The Bound of a kernel with operands or an `out` of torch, whose result is torch's: `out` itself where that is a tensor."""
    given = out if isinstance(out, torch.Tensor) and out.device.type == "cpu" else None
    made = kernel._bind(operands, out if given is None else array_of(given), **options)
    made._convert = as_torch if given is None else lambda result: given
    return made

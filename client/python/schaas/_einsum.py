"""einsum, as numpy's."""

import functools
import operator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ._errors import Invalid, invalid
from ._kernel import Kernel
from ._library import DENSE
from ._recognise import is_pydata, is_torch, recognise
from ._tensors import Tensor, value_type

_ORDERS = ("C", "F", "A", "K")
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


class _Form(NamedTuple):
    """Subscripts as numpy takes them. A label is a letter, or a number in the interleaved form; Ellipsis stands for itself."""
    text: str  # for messages
    inputs: tuple  # of labels, by operand
    output: tuple  # of labels; None: implicit


class _Taken(NamedTuple):
    """One operand of the statement. `selection` indexes the given array; None: the whole."""
    labels: tuple
    selection: tuple


class _Plan(NamedTuple):
    kernel: Kernel
    selections: tuple  # by operand


# --- subscripts ---------------------------------------------------------------------------------------------------------------

def _labels(text, part, whose):
    """The labels of one operand, or of the result."""
    before, dots, after = part.partition("...")
    if "." in before + after:
        raise invalid("einsum-subscripts", f"`{text}`: {whose} has a `.` that is not part of one ellipsis `...`")
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise invalid("einsum-subscripts", f"`{text}`: `{letter}` is no index; indices are letters")
    return (*before, *((Ellipsis,) if dots else ()), *after)


@functools.lru_cache(maxsize=512)
def _form_of_text(subscripts):
    text = "".join(subscripts.split())
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if "->" in output:
        raise invalid("einsum-subscripts", f"`{text}`: there is more than one `->`")
    return _Form(text, tuple(_labels(text, part, f"operand {number}") for number, part in enumerate(parts, 1)),
                 _labels(text, output, "the result") if arrow else None)


def _form_of_lists(arguments):
    """The interleaved form: operand, labels, operand, labels, ..., labels of the result."""
    def labels(given):
        try:
            found = tuple(one if one is Ellipsis else operator.index(one) for one in given)
        except TypeError:
            raise invalid("einsum-subscripts", f"{given!r}: expected a list of whole numbers and Ellipsis after each operand, or "
                                               "subscripts as one text before them") from None
        wrong = [one for one in found if one is not Ellipsis and not 0 <= one < 52]
        if wrong or found.count(Ellipsis) > 1:
            raise invalid("einsum-subscripts", f"{list(given)!r}: " + (f"{wrong[0]} is no index; indices are 0 to 51" if wrong else
                                                                       "only one Ellipsis is possible"))
        return found

    def text(found):
        return "".join("..." if one is Ellipsis else f"[{one}]" for one in found)

    operands = arguments[:len(arguments) // 2 * 2:2]
    inputs = tuple(labels(given) for given in arguments[1::2])
    output = labels(arguments[-1]) if len(arguments) % 2 else None
    shown = ",".join(map(text, inputs)) + ("" if output is None else "->" + text(output))
    return _Form(shown, inputs, output), operands


def _check_output(form, output, known):
    for label in output:
        if output.count(label) > 1:
            raise invalid("einsum-subscripts", f"`{form.text}`: the result has {_shown(label)} more than once")
        if label not in known:
            raise invalid("einsum-subscripts", f"`{form.text}`: {_shown(label)} of the result is in no operand")


@functools.lru_cache(maxsize=512)
def _expanded(form, orders):
    """Labels by operand and of the result, with (Ellipsis, n) for the n-th of an ellipsis' modes, counted from the last."""
    inputs, broadcast = [], 0
    for number, (labels, order) in enumerate(zip(form.inputs, orders), 1):
        free = order - sum(label is not Ellipsis for label in labels)
        if free < 0 or (free > 0 and Ellipsis not in labels):
            raise invalid("operand-rank", f"`{form.text}`: operand {number} has {order - free} subscripts, but order {order}"
                                          + ("; an ellipsis `...` stands for the other modes" if free > 0 else ""))
        broadcast = max(broadcast, free)
        inputs.append(_filled(labels, free))
    if form.output is None:
        letters = [label for labels in form.inputs for label in labels if label is not Ellipsis]
        return inputs, _filled((Ellipsis,), broadcast) + tuple(sorted(one for one in set(letters) if letters.count(one) == 1))
    if broadcast and Ellipsis not in form.output:
        raise invalid("einsum-subscripts", f"`{form.text}`: the result has no ellipsis `...` for the {broadcast} modes of that of the "
                                           "operands")
    output = _filled(form.output, broadcast)
    _check_output(form, output, {label for labels in inputs for label in labels})
    return inputs, output


def _filled(labels, count):
    if Ellipsis not in labels:
        return tuple(labels)
    at = labels.index(Ellipsis)
    return (*labels[:at], *((Ellipsis, number) for number in range(count, 0, -1)), *labels[at + 1:])


def _shown(label):
    return f"mode -{label[1]} of the ellipsis" if isinstance(label, tuple) else f"index `{label}`"


def _index_name(label):
    """In the statement."""
    return f"ellipsis{label[1]}" if isinstance(label, tuple) else label if isinstance(label, str) else f"i{label}"


# --- operands -----------------------------------------------------------------------------------------------------------------

def _is_stored_sparsely(operand):
    """Tells a type that leaves out zeros."""
    if isinstance(operand, np.ndarray):
        return False
    if isinstance(operand, Tensor):
        return operand.fill == 0 and any(level[0] != DENSE for level in operand.levels)
    if is_torch(operand):
        return str(operand.layout) != "torch.strided"
    return sp.issparse(operand) or (is_pydata(operand) and operand.fill_value == 0)


def _storage_of(operand):
    """The format that a result with this operand's pattern has: mode order of a sparse operand; None: dense."""
    if not _is_stored_sparsely(operand):
        return None
    if isinstance(operand, Tensor):
        return operand.mode_order
    return (1, 0) if getattr(operand, "format", "") == "csc" else tuple(range(len(operand.shape)))


def _is_selectable(operand):
    """Whether `operand[0, :]` is a view with one mode less."""
    return type(operand) in (np.ndarray, np.memmap) or (is_torch(operand) and not _is_stored_sparsely(operand))


def _given(number, operand):
    """The operand with a shape: lists and the like become arrays."""
    return operand if hasattr(operand, "shape") else recognise(f"operand{number}", operand).values


def _check_extents(form, inputs, shapes):
    """An extent of 1 goes with any other."""
    known = {}
    for number, (labels, shape) in enumerate(zip(inputs, shapes), 1):
        for label, extent in zip(labels, shape):
            if (same := shape[labels.index(label)]) != extent:
                raise invalid("extent-conflict", f"`{form.text}`: {_shown(label)} has extents {same} and {extent} in operand {number} of "
                                                 f"shape {shape}")
            if extent == 1:
                continue
            first, other = known.setdefault(label, (number, extent))
            if other != extent:
                raise invalid("extent-conflict", f"`{form.text}`: {_shown(label)} has extent {other} in operand {first}, but {extent} in "
                                                 f"operand {number}")


def _broadcast(inputs, ones, selectable):
    """The operands without the modes of extent 1 that are broadcast: dense ones are indexed, others get an index of their own there,
    which is summed over its one element. `ones`: by operand and mode, whether the extent is 1."""
    wide = {label for labels, narrow in zip(inputs, ones) for label, one in zip(labels, narrow) if not one}
    taken = []
    for number, (labels, narrow, select) in enumerate(zip(inputs, ones, selectable), 1):
        dropped = [one and label in wide for label, one in zip(labels, narrow)]
        if not any(dropped):
            taken.append(_Taken(labels, None))
        elif select:
            taken.append(_Taken(tuple(label for label, gone in zip(labels, dropped) if not gone),
                                tuple(0 if gone else slice(None) for gone in dropped)))
        else:
            taken.append(_Taken(tuple(f"one{number}_{mode}" if gone else label
                                      for mode, (label, gone) in enumerate(zip(labels, dropped), 1)), None))
    return taken


# --- the statement ------------------------------------------------------------------------------------------------------------

def _access(name, labels):
    return f"{name}({','.join(map(_index_name, labels))})" if labels else name


def _result_format(inputs, output, storages):
    """None: dense. A result with two indices or more is sparse where all operands with indices are, or where one sparse operand has
    all of its indices; it is stored in the order of that one's modes. A vector is sparse where a sparse vector has its index."""
    pattern = next(((labels, modes) for labels, modes in zip(inputs, storages)
                    if modes is not None and set(output) <= set(labels) and output and (len(output) > 1 or len(labels) == 1)), None)
    if pattern is None:
        sparse = len(output) > 1 and all(modes is not None for labels, modes in zip(inputs, storages) if labels)
        return {2: "csr"}.get(len(output), "csf") if sparse else None
    labels, modes = pattern
    stored = list(dict.fromkeys(labels[mode] for mode in modes if labels[mode] in output))
    order = tuple(output.index(label) for label in stored)
    if len(output) == 1:
        return "compressed"
    if len(output) == 2:
        return "csr" if order == (0, 1) else "csc"
    return ",".join(["compressed"] * len(output)) + ":" + ",".join(map(str, order))


@functools.lru_cache(maxsize=512)
def _plan(form, ones, storages, selectable, dtype, dense):
    """The kernel for operands with these extents of 1 and these formats. `dense`: whatever the operands are, the result is dense."""
    inputs, output = _expanded(form, tuple(map(len, ones)))
    taken = _broadcast(inputs, ones, selectable)
    factors = " * ".join(_access(f"operand{number}", one.labels) for number, one in enumerate(taken, 1))
    format = None if dense else _result_format([one.labels for one in taken], output, storages)
    kernel = Kernel(f"{_access('result', output)} = {factors}", dtype=dtype, **({} if format is None else {"result": format}))
    return _Plan(kernel, tuple(one.selection for one in taken))


def _statement(subscripts, operands):
    """Form and operands of either way to call."""
    if isinstance(subscripts, str):
        form = _form_of_text(subscripts)
    else:
        form, operands = _form_of_lists((subscripts, *operands))
    if len(operands) != len(form.inputs):
        raise invalid("argument-count", f"`{form.text}` takes {len(form.inputs)} tensors, {len(operands)} were given")
    return form, [_given(number, operand) for number, operand in enumerate(operands, 1)]


def _check_options(operands, dtype, order, casting):
    for name, given, known in (("order", order, _ORDERS), ("casting", casting, _CASTINGS)):
        if given not in known:
            raise invalid("option", f"{name}={given!r}: expected " + ", ".join(map(repr, known)))
    if dtype is None:
        return
    for number, operand in enumerate(operands, 1):
        if isinstance(operand, np.ndarray) and not np.can_cast(operand.dtype, value_type(dtype), casting):
            raise invalid("value-type", f"operand {number} holds {operand.dtype}, which dtype={dtype!r} does not take with "
                                        f"casting={casting!r}; casting='same_kind' or 'unsafe' does")


def _in_order(result, order, operands):
    """A numpy result as `order` asks for it: F is a copy."""
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray) and operand.ndim > 1]
    by_columns = order == "F" or (order == "A" and arrays and all(array.flags.f_contiguous for array in arrays))
    return np.asfortranarray(result) if by_columns and isinstance(result, np.ndarray) and result.ndim > 1 else result


def _into(out, kernel, operands, casting, threads):
    """The result in an array of any layout and type that `casting` allows."""
    try:
        return kernel(*operands, out=out, threads=threads)
    except Invalid as error:
        if error.code != "out" or not isinstance(out, np.ndarray) or not out.flags.writeable:
            raise
    result = np.asarray(kernel(*operands, threads=threads))
    if result.shape != out.shape:
        raise invalid("result-shape", f"`out` has shape {out.shape}, the result {result.shape}")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise invalid("out", f"`out` holds {out.dtype}, which does not take a result of {result.dtype} with casting={casting!r}; "
                             "casting='unsafe' does")
    out[...] = result
    return out


def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=True, threads=0):
    """numpy.einsum, with sparse operands wherever they are: `schaas.einsum("ij,ik,jk,jl->il", B, C, D, E)`, or
    `schaas.einsum(B, [0, 1], C, [1, 2], [0, 2])`; ellipses and extents of 1 broadcast. All of the product is scheduled as one, so
    `optimize` is taken and changes nothing.

    Values are computed as f64, or as f32 where all operands are, or as `dtype` says; `casting` says which arrays may be converted for
    that, and to `out`. `order`: "F" gives a copy by columns.

    A result with two indices or more is sparse (csr, csc, or a schaas.Tensor) where all operands with indices are, or where one sparse
    operand has all of its indices; a vector is sparse where a sparse vector has its index. Every other result is dense, and so is
    `out`."""
    form, operands = _statement(subscripts, operands)
    _check_options(operands, dtype, order, casting)
    shapes = [tuple(operand.shape) for operand in operands]
    _check_extents(form, _expanded(form, tuple(map(len, shapes)))[0], shapes)
    plan = _plan(form, tuple(tuple(extent == 1 for extent in shape) for shape in shapes), tuple(map(_storage_of, operands)),
                 tuple(map(_is_selectable, operands)), dtype, out is not None)
    operands = [given if selection is None else given[selection] for given, selection in zip(operands, plan.selections)]
    if out is None:
        return _in_order(plan.kernel(*operands, threads=threads), order, operands)
    return _into(out, plan.kernel, operands, casting, threads)

"""The type in which a kernel computes: numpy's promotion of the operands' types, and which operands are read in narrower ones."""

import numpy as np

from ._operands import View
from ._tensors import BF16, BOOL, C8, C16, F2, F4, F8, NUMBERS, TYPES, narrower

_ROUNDED = (BF16, F2)  # operands alone have these types: the arithmetic is that of f32


def without_types(formats):
    """Formats without the type of values that stands behind `@`, and these types; None: not given."""
    plain, types = [], []
    for format in formats:
        text, _, name = (format or "").partition("@")
        plain.append(text.strip() or ("dense" if name else None))
        types.append(TYPES.get(name.strip().lower()) if name else None)
    return plain, types


def _promoted(types):
    """numpy's common type, of bf16 as of f32; None: what is no number."""
    types = [F4 if dtype == BF16 else dtype for dtype in types]
    if any(dtype.kind not in "fiubc" for dtype in types):
        return None
    found = np.result_type(*types)
    return found if found in NUMBERS else C16 if found.kind == "c" else F8


def computed_type(given, dtype, is_closed):
    """The type of the arithmetic. `dtype`: as the user wants it, or None; `is_closed`: tells whether the program's values are of a type.
    Numbers without a shape take the type of the arrays, as Python's own do in numpy, but for a real one among integers
    and a complex one among real numbers."""
    if dtype is not None:
        return dtype
    arrays = [one.values.dtype for one in given if len(one.shape)]
    numbers = [one.values.dtype for one in given if not len(one.shape)]
    if not arrays and not numbers:
        return F8
    found = _promoted(arrays or numbers)
    if found is None:
        return F8  # refused by name when the operand is looked at
    if arrays and found.kind != "c" and any(one.kind == "c" for one in numbers):
        found = C8 if found in (F4, F2) else C16
    if arrays and found.kind in "iub" and any(one.kind == "f" for one in numbers):
        found = F8
    if arrays and found == BOOL and any(one.kind in "iu" for one in numbers):
        found = TYPES["i64"]
    if found == F2:
        return F4  # operands stay as they are
    if found.kind in "fc" or is_closed(found):
        return found
    return TYPES["i64"] if found == BOOL and is_closed(TYPES["i64"]) else F8


def told_types(given, stored, computed, widens, zero):
    """In which type each operand is read; the operands learn it. `stored`: as its format says, or None;
    `widens`: kernels may be had that read narrower types; `zero`: what is not stored, which may be no integer."""
    types = []
    for one, named in zip(given, stored):
        own = one.values.dtype
        in_place = widens and len(one.shape) and not (np.isinf(zero) and own.kind in "iub") and computed not in _ROUNDED and narrower(own, computed)
        wanted = named or (own if in_place else computed)
        if not isinstance(one, View):
            one.computed, one.narrow = computed, wanted != computed
        types.append(None if named is None and wanted in (F4, F8) and own.kind in "fiub" else wanted)
    return types

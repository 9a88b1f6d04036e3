"""From an operand to what a kernel reads: recognise (_recognise.py), check, view in place or copy, convert to another format."""

import functools

import numpy as np
import scipy.sparse as sp

from . import _library as library
from ._errors import Invalid, invalid
from ._frames import Frame
from ._recognise import Given, recognise
from ._tensors import BF16, F2, F4, F8, TYPE_NAMES, bfloat16, converted, whole

I4, I8 = np.dtype(np.int32), np.dtype(np.int64)
IN_PLACE = 0x101  # flags of a C-contiguous, aligned array
EXACT = 2**53  # integers up to here are floating-point numbers
_COUNTING = 4  # a list is sorted by counting when its coordinates are at most so many times its length


class View:
    """A tensor in numpy arrays, as a kernel reads it. `levels`: (kind, positions, coordinates, entries)."""

    __slots__ = ("format", "shape", "mode_order", "levels", "values", "index", "given", "merge", "before")

    def __init__(self, format, shape, mode_order, levels, values, index=None, given=None, merge=None, before=None):
        self.format = format  # text for the server; None: dense
        self.shape = shape
        self.mode_order = mode_order
        self.levels = levels
        self.values = values
        self.index = index  # dtype of positions and coordinates
        self.given = given  # the operand as it was recognised
        self.merge = merge  # a Merge of its entries, or None
        self.before = before  # the view that it was converted from, or None

    @property
    def narrow(self):
        """Kernels compute with the values in another type."""
        return self.given is not None and self.given.narrow

    @property
    def asked(self):
        """The format for the server, with the type of the values where kernels compute in another; None: dense."""
        if not self.narrow:
            return self.format
        return f"{self.format or 'dense'}@{TYPE_NAMES[self.values.dtype]}"

    def cast(self, name, values, index):
        """Copies what has other types than these."""
        if self.values.dtype != values:
            self.values = plain(name, self.values, values)
        if self.index is not None and self.index != index:
            self.levels = [(kind, None if pos is None else pos.astype(index),
                            crd if crd is None or kind == library.BITMAP else crd.astype(index), entries)
                           for kind, pos, crd, entries in self.levels]
            self.index = index


# ---- check ----

def _complex_parts(kind):
    """The way out for complex numbers."""
    return ": pass `.real`, or dtype=\"c128\"" if kind == "c" else ""


def plain(name, array, wanted=None):
    """The values as native f64 or f32, or as `wanted`, row major: the array itself where it is so already. Integers that the type cannot
    hold are refused."""
    if wanted is not None and array.dtype == wanted:
        return array if array.flags.num & IN_PLACE == IN_PLACE else np.array(array, wanted, order="C")
    if wanted == BF16:
        return bfloat16(plain(name, array))
    if wanted is not None and wanted.kind == "f":
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(plain(name, array), wanted)
    if wanted is not None and wanted.kind == "c":
        return np.ascontiguousarray(array if array.dtype.kind == "c" else plain(name, array), wanted)
    if wanted is not None:
        return whole(name, array, wanted)
    dtype, kind = array.dtype, array.dtype.kind
    if kind not in "fiub":
        raise invalid("value-type", f"`{name}` has values of type {dtype}; expected real numbers" + _complex_parts(kind))
    wanted = F4 if kind == "f" and dtype.itemsize <= 4 else F8
    if dtype == wanted and array.flags.num & IN_PLACE == IN_PLACE:
        return array
    with np.errstate(over="ignore"):
        made = np.array(array, wanted, order="C")
    if kind in "iu" and dtype.itemsize == 8 and array.size and (array.max() >= EXACT or array.min() <= -EXACT):
        fits = made < (2.0**63 if kind == "i" else 2.0**64)
        wrong = ~fits | (np.where(fits, made, 0).astype(dtype) != array)
        if wrong.any():
            raise invalid("value-type", f"`{name}` holds {array[wrong].flat[0]}, an integer that f64 cannot hold exactly; pass "
                                        "`.astype(float)` to have it rounded")
    return made


def _indices(name, array):
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise invalid("tensor-structure", f"`{name}` has indices of type {array.dtype} and shape {array.shape}; expected a list of integers")
    if (array.dtype == I4 or array.dtype == I8) and array.flags.num & IN_PLACE == IN_PLACE:
        return array
    return np.array(array, I4 if array.dtype == I4 else I8, order="C")


def _lists(name, given):
    """Its index arrays, of one type, and its values, all checked for their shapes."""
    values = plain(name, given.values, given.wanted)
    if values.ndim != 1:
        raise invalid("tensor-structure", f"`{name}` has values of shape {values.shape}; expected a list")
    structure = [_indices(name, array) for array in given.structure]
    if len({array.dtype for array in structure}) > 1:
        structure = [array.astype(I8) for array in structure]
    return structure, values


# ---- view ----

def _dense(name, given, mode_order=None):
    values = given.values
    if mode_order is not None:
        values = values.transpose(mode_order)
    if values.dtype is not (given.wanted or F8) or values.flags.num & IN_PLACE != IN_PLACE:
        values = plain(name, values, given.wanted)
    parents, levels = 1, []
    for extent in values.shape:
        parents *= extent
        levels.append((library.DENSE, None, None, parents))
    return View(None, given.shape, range(len(levels)) if mode_order is None else mode_order, levels, values, given=given)


def _compressed(name, given):
    rows = given.shape[given.kind == "csc"]
    (pointers, indices), values = _lists(name, given)
    if pointers.shape != (rows + 1,):
        raise invalid("tensor-structure", f"`{name}` has {pointers.size} row pointers, but {rows} rows or columns")
    stored = int(pointers[-1])
    if not 0 <= stored <= min(indices.size, values.size):
        raise invalid("tensor-structure", f"`{name}` has {indices.size} indices and {values.size} values, but its row pointers end "
                                          f"at {stored}")
    return View(given.kind, tuple(given.shape), (0, 1) if given.kind == "csr" else (1, 0),
                [(library.DENSE, None, None, rows), (library.COMPRESSED, pointers, indices, stored)], values, indices.dtype, given)


def _coordinates(name, given):
    coordinates, values = _lists(name, given)
    order, stored = len(given.shape), values.size
    sizes = [array.size for array in coordinates]
    if len(sizes) != order or set(sizes) - {stored}:
        raise invalid("tensor-structure", f"`{name}` has {' and '.join(map(str, sizes))} coordinates in its {order} modes, but {stored} "
                                          "values")
    index = coordinates[0].dtype
    positions = np.array([0, stored], index)
    kinds = [library.COMPRESSED] if order == 1 else [library.COMPRESSED_NONUNIQUE, *[library.SINGLETON_NONUNIQUE] * (order - 2),
                                                     library.SINGLETON]
    levels = [(kind, None if mode else positions, row, stored) for mode, (kind, row) in enumerate(zip(kinds, coordinates))]
    return View("coo" if order > 1 else "compressed", tuple(given.shape), tuple(range(order)), levels, values, index, given)


def _stored(name, given):
    levels, mode_order = given.owner.levels, given.owner.mode_order
    index = [array.dtype for kind, *both, _ in levels for array in both if array is not None and kind != library.BITMAP]
    return View(level_text(levels, mode_order), given.shape, mode_order, levels, given.values, index[0] if index else None, given)


_IN_ARRAYS = {"dense": _dense, "csr": _compressed, "csc": _compressed, "coo": _coordinates, "entries": _coordinates, "stored": _stored}


# ---- formats ----

def level_text(levels, mode_order):
    """The format of levels, as the server reads it; None: dense."""
    if all(level[0] == library.DENSE for level in levels) and list(mode_order) == sorted(mode_order):
        return None
    return ",".join(library.LEVEL_NAMES[level[0]] for level in levels) + ":" + ",".join(map(str, mode_order))


@functools.lru_cache(maxsize=256)
def _spelt_out(format, order):
    """A format by its levels and modes, for comparison; what is not known here stays as it is."""
    name, _, modes = format.replace(" ", "").partition(":")
    turned = name in ("csc", "dcsc")
    named = {"dense": ["dense"] * order, "csr": ["dense", "compressed"], "csc": ["dense", "compressed"],
             "dcsr": ["compressed"] * 2, "dcsc": ["compressed"] * 2, "csf": ["compressed"] * order,
             "coo": ["compressed(nonunique)", *["singleton(nonunique)"] * (order - 2), "singleton"]}
    levels = ",".join(named[name]) if name in named else name
    return levels + ":" + (modes or ("1,0" if turned else ",".join(map(str, range(order)))))


def is_dense(format, order):
    """Tells a format that stores every element, row major."""
    return order == 0 or _spelt_out(format, order) == _spelt_out("dense", order)


def _dense_order(format, order):
    """The modes of a format that stores every element, by level; None: it does not."""
    levels, _, modes = _spelt_out(format, order).partition(":")
    return tuple(map(int, modes.split(","))) if levels == ",".join(["dense"] * order) else None


# ---- convert ----

def in_format(name, view, format, zero):
    """A copy in another format. What the view does not store is `zero`."""
    frame = Frame([name], [view])
    made = converted(name, frame.tensor_address(0), format, zero)
    index = [array.dtype for kind, *both, _ in made.levels for array in both if array is not None and kind != library.BITMAP]
    text = None if is_dense(format, len(view.shape)) else format
    return View(text, view.shape, made.mode_order, made.levels, made.values, index[0] if index else None, view.given, view.merge, view)


def view_of(name, owner, format=None, zero=0.0, wanted=None):
    """An operand as a kernel reads it. `format`: as the user wants it stored, or None for what it is; `zero`: what elements are that it
    does not store; `wanted`: the type in which the values are read, None: f32 for real ones of 32 bits and less, f64 for others. A View is taken as it is."""
    if isinstance(owner, View):
        return owner
    given = owner if isinstance(owner, Given) else recognise(name, owner, zero)
    given.wanted = wanted
    return viewed(name, given, format, zero)


def viewed(name, given, format, zero):
    order = len(given.shape)
    if given.kind == "dense":
        if format is None or is_dense(format, order):
            return _dense(name, given)
        modes = _dense_order(format, order)
        if modes is not None and sorted(modes) == list(range(order)):
            view = _dense(name, given, modes)
            view.format = format
            return view
    view = _IN_ARRAYS[given.kind](name, given)
    if format is None and given.kind == "entries":
        format = {1: "compressed", 2: "csr"}.get(order, "csf")
    if format is None or _spelt_out(format, order) == _spelt_out(view.format or "dense", order):
        view.format = format or view.format
        return view
    try:
        return in_format(name, view, format, zero)
    except Invalid as error:
        sorted_view = repaired(name, view, None, zero) if error.code == "tensor-structure" else None
        if sorted_view is None:
            raise
        return in_format(name, sorted_view, format, zero)


# ---- repair ----

def _stable_order(keys, extent):
    """The order that sorts keys, equal ones as they are."""
    if extent > _COUNTING * max(keys.size, 1024):
        return np.argsort(keys, kind="stable")
    entries = sp.csr_matrix((np.empty(keys.size, np.int8), keys, np.arange(keys.size + 1)), shape=(keys.size, extent))
    return entries.tocsc().indices  # a counting sort


class Merge:
    """Sorts the values of a list by the coordinates of its entries and adds repeated ones up (boolean ones: or)."""

    def __init__(self, name, order, starts, wanted):
        self._name, self.order, self.starts, self._wanted = name, order, starts, wanted
        self.count = order.size  # of entries before

    def __call__(self, values):
        values = values[self.order]
        if self.starts is not None:
            values = np.logical_or.reduceat(values, self.starts) if values.dtype == bool else np.add.reduceat(
                plain(self._name, values, None if self._wanted in (BF16, F2) else self._wanted), self.starts)
        return plain(self._name, values, self._wanted)


def _as_coordinates(view):
    """Coordinates by level, outer ones first, or None when some lie outside."""
    kind = view.given.kind
    if kind in ("coo", "entries"):
        coordinates, modes = [level[2] for level in view.levels], view.mode_order
    else:
        pointers, indices, stored = view.levels[1][1:]
        counts = np.diff(pointers)
        if pointers[0] != 0 or (counts < 0).any():
            return None
        coordinates, modes = [np.repeat(np.arange(counts.size, dtype=indices.dtype), counts), indices[:stored]], view.mode_order
    for mode, row in zip(modes, coordinates):
        if row.size and (row.min() < 0 or row.max() >= view.shape[mode]):
            return None
    return coordinates


def repaired(name, view, format, zero):
    """A view of a copy with sorted entries, each once, of what only lacks these; else None."""
    source = view.before or view
    if source.merge is not None or source.given is None or source.given.kind not in ("csr", "csc", "coo", "entries"):
        return None
    coordinates = _as_coordinates(source)
    if coordinates is None:
        return None
    order = np.arange(coordinates[0].size)
    for mode, row in reversed(list(zip(source.mode_order, coordinates))):
        order = order[_stable_order(row[order], source.shape[mode])]
    coordinates = [row[order] for row in coordinates]
    first = np.ones(order.size, bool)
    if order.size:
        first[1:] = np.any([row[1:] != row[:-1] for row in coordinates], axis=0)
    starts = None if first.all() else np.flatnonzero(first)
    if starts is not None:
        coordinates = [row[starts] for row in coordinates]
    merge = Merge(name, order, starts, source.given.wanted)
    given, stored = source.given, coordinates[0].size
    values = merge(given.values[:order.size])
    index = coordinates[0].dtype
    if given.kind in ("coo", "entries"):
        positions = np.array([0, stored], index)
        levels = [(level[0], None if number else positions, row, stored)
                  for number, (level, row) in enumerate(zip(source.levels, coordinates))]
    else:
        rows = source.levels[0][3]
        pointers = np.zeros(rows + 1, index)
        np.cumsum(np.bincount(coordinates[0], minlength=rows), out=pointers[1:])
        levels = [source.levels[0], (library.COMPRESSED, pointers, coordinates[1], stored)]
    made = View(source.format, source.shape, source.mode_order, levels, values, index, given, merge)
    if format is None or _spelt_out(format, len(made.shape)) == _spelt_out(made.format, len(made.shape)):
        return made
    return in_format(name, made, format, zero)


def in_order(work, names, views, formats, zero):
    """Returns work(views). Where entries turn out to be repeated or not sorted it is done once more, with sorted copies."""
    try:
        return work(views)
    except Invalid as error:
        if error.code != "tensor-structure":
            raise
        fixed = [repaired(*one, zero) for one in zip(names, views, formats)]
        if not any(fixed):
            raise
    return work([new or old for old, new in zip(views, fixed)])

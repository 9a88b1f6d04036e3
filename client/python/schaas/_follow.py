"""Operands of a bound computation: what changes in place in the owner's arrays is there at the next run, in hidden copies too."""

import numpy as np

from ._frames import address_of
from ._operands import View, in_format, plain
from ._recognise import recognise

_CONSTANTS = (bool, int, float, np.generic)


def _same_array(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.strides == other.strides and \
        address_of(one) == address_of(other)


class _InPlace:
    """An operand whose own arrays are read. They may have been replaced by others."""

    def __init__(self, name, view, zero):
        self._name, self._given, self._zero = name, view.given, zero
        self._arrays = None if self._given.arrays is None else self._given.arrays()

    def update(self):
        """False: the operand must be bound anew."""
        given = self._given
        if self._arrays is not None:
            now = given.arrays()
            return len(now) == len(self._arrays) and all(one is other for one, other in zip(now, self._arrays))
        now = recognise(self._name, given.owner, self._zero)
        return now.kind == given.kind and now.shape == given.shape and _same_array(now.values, given.values) \
            and all(map(_same_array, now.structure, given.structure))


class _Copy:
    """An operand of which a copy is read, and the way from its values to those of the copy."""

    def __init__(self, name, view, zero):
        self._name, self._view, self._zero = name, view, zero
        given = view.given
        self._structure = [np.array(array) for array in given.structure]
        self._source = view.before or view
        self._count = view.merge.count if view.merge is not None else self._source.levels[-1][3] if self._source.levels else 1
        self._by_pattern = view.before is not None and given.kind in ("dense", "stored")
        self._pattern = self._source.values != zero if self._by_pattern else None
        self._at = None if view.before is None else self._find_entries()

    def _find_entries(self):
        """For the values of the converted copy: which of them are entries, and of which number. None: nobody can tell."""
        source, view = self._source, self._view
        numbers = np.arange(1.0, source.values.size + 1).reshape(source.values.shape)
        if self._by_pattern:
            numbers[~self._pattern] = 0
        levels = View(source.format, source.shape, source.mode_order, source.levels, numbers, source.index)
        found = in_format(self._name, levels, view.format or "dense", 0.0).values
        if found.size != view.values.size:
            return None
        slots = np.flatnonzero(found)
        return slots, found[slots].astype(np.int64) - 1

    def update(self):
        """False: the operand must be bound anew."""
        view, before = self._view, self._view.given
        now = recognise(self._name, before.owner, self._zero)
        if now.kind != before.kind or now.shape != before.shape or now.values.dtype != before.values.dtype \
                or now.values.shape != before.values.shape or not all(map(np.array_equal, now.structure, self._structure)):
            return False
        values = now.values
        if view.before is None and before.kind == "dense":
            values = plain(self._name, values, before.wanted) if values.dtype.kind in "iu" or before.wanted is not None else values
            np.copyto(view.values, values.transpose(view.mode_order), casting="unsafe")
            return True
        if before.kind != "dense":
            values = values[:self._count]  # there may be room behind them
        values = plain(self._name, values, before.wanted) if view.merge is None else view.merge(values)
        if view.before is None:
            np.copyto(view.values[:values.size], values, casting="unsafe")
            return True
        if self._at is None or self._by_pattern and not np.array_equal(values != self._zero, self._pattern):
            return False
        slots, numbers = self._at
        view.values.reshape(-1)[slots] = values.reshape(-1)[numbers]
        return True


def followed(name, view, zero):
    """Returns an object whose update() brings an operand up to date before a run; None where a run sees every change anyway."""
    given = view.given
    if given is None or isinstance(given.owner, _CONSTANTS):
        return None
    in_place = given.borrowed and np.may_share_memory(view.values, given.values)
    if not in_place:
        return _Copy(name, view, zero)
    return None if given.kind == "stored" or type(given.owner) is np.ndarray else _InPlace(name, view, zero)

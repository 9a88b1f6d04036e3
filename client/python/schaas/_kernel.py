"""Kernels: an expression that is called with arrays."""

import ctypes
import functools
import json
import re

import numpy as np

from . import _library as library
from . import _waiting as waiting
from ._device import DeviceArray, Gpu, NotInPlace, back, dense_view, device_array, empty_there, is_on_gpu, is_there, on_host, view_anywhere
from ._errors import Error, Exhausted, Invalid, Unsupported, did_you_mean, invalid, unsupported
from ._follow import followed
from ._forking import Lock
from ._formats import FormatComparison
from ._frames import Frame, layout_of
from ._frontier import Frontier, size_text
from ._operands import F4, F8, I4, I8, View, in_order, view_of
from ._memory import empty
from ._prepared import Prepared
from ._recognise import is_scipy_array, is_torch, recognise, wants_gradient
from ._results import maker_like, natural
from ._session import Session, current
from ._promotion import computed_type, told_types, without_types
from ._tensors import BF16, F2, NUMBERS, Tensor, description_of, value_type

_SHAPES = 4  # calls of so many different shapes are prepared
_CALL_OPTIONS = ("out", "threads", "extents", "schedule", "deterministic", "stream", "wait")
_OPTIONS = ("where", "dtype", "space", "wait", "budget", "session")


def _wait_seconds(wait):
    """A wait limit as the C interface has it: 0 is none, and what is at hand a negative one."""
    return 0.0 if wait is None else library.seconds_option("wait", wait) or -1.0


def _constraints(where):
    """The options `where` as a list."""
    found = [where] if isinstance(where, str) else list(where) if isinstance(where, (list, tuple)) else [where]
    for one in found:
        library.text_option("where", one)
    return found


def _session_of(given):
    if given is not None and not isinstance(given, Session):
        raise invalid("option", f"session={given!r}: expected a schaas.Session")
    return given


class _Set:
    """The kernels for one combination of formats and types."""

    def __init__(self, owner, formats, values, index):
        problem = library.Problem()
        problem.struct_bytes = ctypes.sizeof(problem)
        problem.expression = library.text(owner._text)
        pairs = [text for pair in formats.items() for text in pair]
        problem.formats, problem.format_count = library.texts(pairs), len(formats)
        problem.constraints, problem.constraint_count = library.texts(owner._where), len(owner._where)
        problem.value_type = NUMBERS[values]
        problem.position_bits = 8 * index.itemsize
        problem.space = owner._space
        problem.patience_seconds, problem.budget_seconds = owner._patience, owner._budget
        self.session = owner._session or current()

        def open_set(progress):
            problem.progress = progress
            return library.handle_from(library.api.schaas_kernels_open, self.session._handle, ctypes.byref(problem))

        self.handle = waiting.run(open_set, owner.expression, library.api.schaas_kernels_close)
        library.close_with(self, library.api.schaas_kernels_close, self.handle)
        self.session.warn()
        self._frames = {}  # layout -> frames of calls without options, not in use

    def frames_like(self, views, out, on_gpu=False):
        """Frames of this layout that are not in use; those of calls with arrays on a GPU apart."""
        return self._frames.setdefault((layout_of(views, out), on_gpu), [])


class Kernel:
    """A statement in index notation, `y(i) = B(i,j) * x(j)` (brackets will do). Called with arrays it computes; schedules are
    searched and compiled at the first call with each combination of formats and types, and selected for the sizes of each call.

    Formats (`B="csr"`) are those of the operands as they come unless given; `where` is a constraint or a list of them. Thread-safe.
    """

    def __new__(cls, expression, **options):
        made = super().__new__(cls)
        made._options = {name: value for name, value in options.items() if name != "session"}
        made._made_by = None  # function and arguments that make it again; None: the expression and the options
        return made

    def __init__(self, expression, *, where=(), dtype=None, space="none", wait=None, patience=0.0, budget=0.0, session=None, _bits=(),
                 **formats):
        self.expression = expression
        self._text = library.text_option("expression", expression).decode().replace("[", "(").replace("]", ")")
        self._where = _constraints(where)
        self._dtype = value_type(dtype)
        self._space = library.text_option("space", space)
        self._wait, self._budget = _wait_seconds(wait), library.seconds_option("budget", budget)
        self._patience = library.seconds_option("patience", patience)
        self._session = _session_of(session)
        self._formats = {name: str(text) for name, text in formats.items()}
        self._index = I8 if set(_bits) == {"64"} else I4  # the least width
        self._sets = {}
        self._gradients = {}  # plans, for torch
        self._prepared = []  # for calls like the last ones, not in use
        self._lock = Lock()
        self._check()
        told = json.loads(library.text_from(library.api.schaas_parse, library.text(self._text)))
        self.operands = [operand["name"] for operand in told["operands"]]
        self._indices = {operand["name"]: operand["indices"] for operand in told["operands"]}
        self.result = told["result"]["name"]
        self._has_ranges = told["ranges"]
        self._zero = float(told.get("zero", 0))  # what elements are that are not stored
        self._result_indices = told["result"]["indices"]
        self._given, self._stored = without_types([self._formats.get(name) for name in self.operands])
        self._widens = True  # kernels that read narrower types may be had
        self._closed = {}  # value type -> whether the program's values are of it
        result_format = self._formats.get(self.result, "dense").replace(" ", "").lower()
        self._dense_result = set(result_format.split(":")[0].split(",")) == {"dense"} and ":" not in result_format
        self._where_extents = self._find_extents(told["range_extents"])
        self._last = None

    def _seconds(self, wait):
        """The wait limit of a call, its own or the kernel's."""
        return self._wait if wait is None else _wait_seconds(wait)

    def _check(self):
        """A wrong text is told at once, by the server, whose messages are the better ones."""
        for name in self._formats:
            if not re.search(rf"\b{re.escape(name)}\b", self.expression):  # perhaps a misspelt option
                names = [word for word in dict.fromkeys(re.findall(r"[A-Za-z_]\w*(?=\s*[\[(])", self.expression))] + list(_OPTIONS)
                raise invalid("unknown-tensor", f"`{name}` is neither a tensor of `{self.expression}` nor an option"
                                                + did_you_mean(name, names))
        try:
            _Set(self, self._formats, self._dtype or F8, self._index)
        except Error as error:
            if error.code != "contradiction":  # formats that operands decide are not known yet
                raise

    def _find_extents(self, ranges):
        """For each index of the result: the operands' modes, or parts of modes, that it runs through. None: its extent is known to the library
        alone."""
        whole, parts = {}, {}
        for number, name in enumerate(self.operands):
            for mode, index in enumerate(self._indices[name]):
                whole.setdefault(index, [(number, mode, None)])
        for one in ranges:
            if one["tensor"] in self.operands and one["step"] != 0:
                part = slice(one["begin"], one["end"], one["step"])
                parts.setdefault(one["index"], []).append((self.operands.index(one["tensor"]), one["mode"], part))
        found = [whole.get(index) or parts.get(index) for index in self._result_indices]
        return None if None in found else found

    def _result_shape(self, views):
        """None: parts contradict each other, which the library tells better."""
        shape = []
        for modes in self._where_extents:
            found = None
            for number, mode, part in modes:
                extents = views[number].shape
                extent = extents[mode] if mode < len(extents) else 0
                if part is not None:
                    extent = len(range(*part.indices(extent)))
                if found is not None and found != extent:
                    return None
                found = extent
            shape.append(found)
        return tuple(shape)

    def _collect(self, positional, named):
        if not positional and len(named) == len(self.operands):
            try:
                return [named[name] for name in self.operands]
            except KeyError:
                pass
        if len(positional) > len(self.operands):
            raise invalid("argument-count", f"`{self.expression}` takes {len(self.operands)} tensors, {len(positional)} were given")
        given = dict(zip(self.operands, positional))
        for name, value in named.items():
            if name in given:
                raise invalid("given-twice", f"`{name}` is given twice")
            if name not in self.operands:
                raise invalid("unknown-tensor", f"there is no operand `{name}` in `{self.expression}`; expected "
                                                + ", ".join(f"`{known}`" for known in self.operands)
                                                + did_you_mean(name, [*self.operands, *_CALL_OPTIONS]))
            given[name] = value
        for name in self.operands:
            if name not in given:
                raise invalid("missing-operand", f"no tensor is given for `{name}` in `{self.expression}`")
        return [given[name] for name in self.operands]

    def _is_closed(self, values):
        """Tells whether the program's numbers and functions are of the type."""
        if values not in self._closed:
            formats = {name: format for name, format in zip(self.operands, self._given) if format is not None}
            try:
                _Set(self, formats | {self.result: self._formats[self.result]} if self.result in self._formats else formats, values, self._index)
                self._closed[values] = True
            except Error as error:
                if error.code not in ("value-type", "number-range", "semiring-operator"):
                    raise
                self._closed[values] = False
        return self._closed[values]

    def _views(self, operands):
        """Operands on the host as kernels read them, in place where their type is that of the arithmetic or narrower."""
        given = [one if isinstance(one, View) else recognise(name, one, self._zero) for name, one in zip(self.operands, operands)]
        computed = computed_type(given, self._dtype, self._is_closed)
        return self._of_ranks([view_of(name, one, format, self._zero, wanted)
                               for name, one, format, wanted in zip(self.operands, given, self._given,
                                                                    told_types(given, self._stored, computed, self._widens, self._zero))])

    def _views_there(self, operands):
        """Operands of which some are on a GPU."""
        wanted = self._dtype if self._dtype is not None and self._dtype not in (F4, F8) else None
        return self._of_ranks([view_anywhere(name, given, format, self._zero, wanted)
                               for name, given, format in zip(self.operands, operands, self._given)])

    def _of_ranks(self, views):
        for name, view in zip(self.operands, views):
            if len(view.shape) != len(self._indices[name]):
                raise invalid("operand-rank", f"`{name}` has shape {tuple(view.shape)}, the expression has `{self._access(name)}`")
        return views

    def _of_one_type(self, views):
        told = next((view.given.computed for view in views if view.given is not None), None)
        values, index = self._dtype if told is None else told, self._index
        known = values is not None
        for view in views:
            if values is None or (not known and values == F4 and view.values.dtype == F8 and view.shape):
                values = view.values.dtype if view.shape else values
            if view.index is I8 or (view.index is not None and view.index == I8):
                index = I8
        values = values or F8
        for name, view in zip(self.operands, views):
            stored = view.values.dtype if view.narrow else values
            if view.values.dtype is not stored or (view.index is not None and view.index is not index):
                view.cast(name, stored, index)
        return views, values, index

    def _in_order(self, work, operands):
        """Returns work(views, values, index) for operands on the host, whose entries need not be sorted."""
        return in_order(lambda views: work(*self._of_one_type(views)), self.operands, self._views(operands), self._given, self._zero)

    def _access(self, name):
        """A tensor as the expression has it."""
        indices = self._indices[name]
        return f"{name}({','.join(indices)})" if indices else name

    def _set(self, views, values, index):
        key = (tuple([view.asked for view in views]), values, index)
        found = self._sets.get(key)
        if found is None:
            formats = {name: view.asked for name, view in zip(self.operands, views) if view.asked is not None}
            if self.result in self._formats:
                formats[self.result] = self._formats[self.result]
            for name in self._formats:
                if name not in self.operands and name != self.result:
                    formats[name] = self._formats[name]
            made = _Set(self, formats, values, index)  # asks the server
            with self._lock:
                found = self._sets.setdefault(key, made)
        return found

    def _result_view(self, views, values, extents, out, make=empty):
        """Where the result goes, when it is dense and its extents are known."""
        values = F4 if values in (BF16, F2) else values  # results of narrow operands
        if not self._dense_result:
            if out is not None:
                raise invalid("out", f"`{self.result}` is stored as {self._formats[self.result]}: only a dense result can be written "
                                     "to `out`")
            return None
        if out is None:
            if self._where_extents is not None:
                shape = self._result_shape(views)
                if shape is None:
                    return None
            elif extents and all(index in extents for index in self._result_indices if not self._known(index)):
                shape = tuple(self._extent(index, views, extents) for index in self._result_indices)
            else:
                return None
            out = make(shape, values)
        else:
            self._check_out(out, values)
        if not isinstance(out, np.ndarray):
            return dense_view(device_array(out))
        levels, parents = [], 1
        for extent in out.shape:
            parents *= extent
            levels.append((0, None, None, parents))
        return View(None, out.shape, range(out.ndim), levels, out)

    def _known(self, index):
        return any(index in indices for indices in self._indices.values())

    def _extent(self, index, views, extents):
        for view, name in zip(views, self.operands):
            if index in self._indices[name]:
                return view.shape[self._indices[name].index(index)]
        return extents[index]

    def _check_out(self, out, values):
        if not isinstance(out, np.ndarray) and is_on_gpu(out):
            array = device_array(out)
            if array.dtype != values:
                raise invalid("out", f"`out` holds {array.dtype}; expected {values}")
            return
        if not isinstance(out, np.ndarray) or out.dtype != values or not out.flags.c_contiguous or not out.flags.writeable:
            raise invalid("out", f"`out` must be a writable, C-contiguous numpy array of {values}")

    def __call__(self, *positional, out=None, threads=0, extents=None, schedule=None, deterministic=False, stream=None, wait=None,
                 **named):
        """Computes. `out`: a numpy array, or one on a GPU, for a dense result; `threads`: 0 for all processors; `extents`: of indices
        that no operand has; `schedule`: "linear", an id of the frontier or a trace instead of the best; `stream`: of CUDA, in whose
        order operands on a GPU are worked on (docs/gpu.md); `wait`: the wait limit, as of kernel()."""
        operands = self._collect(positional, named)
        if self._prepared and schedule is None and not extents and not deterministic and wait is None:
            result = self._compute_prepared(operands, threads, out)
            if result is not None:
                return result
        if any(map(wants_gradient, operands)):
            if self._has_ranges:
                raise unsupported("gradient", f"`{self.expression}` has ranges, of which torch has no gradient: `schaas.gradient` gives "
                                              "its program")
            from ._autograd import differentiable
            return differentiable(self, operands, {"out": out, "threads": threads, "extents": extents, "schedule": schedule,
                                                   "deterministic": deterministic, "stream": stream, "wait": wait})
        return self._call(operands, out, threads, extents, schedule, deterministic, stream, wait)

    def _compute_prepared(self, operands, threads, out):
        """None: they are not like those of some earlier call, or something is wrong with them."""
        prepared = self._prepared
        try:
            last = prepared.pop()  # nobody else uses it meanwhile
        except IndexError:
            return None
        looked_at = None
        try:
            result = last(operands, threads, out)
            if result is not None:
                return result
            looked_at = [last]
            while len(looked_at) < _SHAPES:
                looked_at.append(prepared.pop())
                result = looked_at[-1](operands, threads, out)
                if result is not None:
                    return result
            looked_at.pop()  # the one that was not used for longest
        except IndexError:
            pass
        except (Invalid, Exhausted) as error:
            if error.code not in ("tensor-structure", "cancelled"):  # cancelled: no kernel is at hand
                raise
        finally:
            if looked_at is None:
                prepared.append(last)
            else:
                prepared.extend(looked_at)
        return None

    def _call(self, operands, out=None, threads=0, extents=None, schedule=None, deterministic=False, stream=None, wait=None):
        if is_torch(out) and not is_on_gpu(out):
            from ._torch import array_of
            self._call(operands, array_of(out), threads, extents, schedule, deterministic, stream, wait)
            return out
        if not any(map(is_on_gpu, operands)):
            return self._call_here(operands, out, threads, extents, schedule, deterministic, wait)
        try:
            return self._call_there(operands, out, threads, extents, schedule, deterministic, stream, wait)
        except NotInPlace:
            pass  # by way of memory
        except Unsupported as error:
            if error.code != "no-gpu":
                raise
        if out is not None and not isinstance(out, np.ndarray):
            raise invalid("out", "`out` is on a GPU, but the operands there are not such as kernels read where they lie (docs/gpu.md)")
        here = list(map(on_host, operands))
        return back(self._call_here(here, out, threads, extents, schedule, deterministic, wait), operands)

    def _there(self, operands, extents, out, stream):
        """What a call with operands on a GPU is about. Raises NotInPlace."""
        views, values, index = self._of_one_type(self._views_there(operands))
        like = next(filter(is_on_gpu, operands))

        def make(shape, dtype):
            made = empty_there(like, shape, dtype)
            return np.empty(shape, dtype) if made is None else made

        place = self._result_view(views, values, extents, out, make)
        return views, values, index, place, Gpu(self.operands, views, self.result, place, stream)

    def _anywhere(self, operands, extents, out, stream):
        """The same where an operand is on a GPU, for those who read it in place; None: nothing is."""
        if not any(map(is_on_gpu, operands)):
            return None
        try:
            return self._there(operands, extents, out, stream)
        except NotInPlace as which:
            name = which.args[0] if which.args else next(name for name, given in zip(self.operands, operands) if is_on_gpu(given))
            raise unsupported("device", f"`{name}` is on a GPU, but not such that it is read where it lies (docs/gpu.md): copy it with "
                                        "`.get()`, `.cpu()` or `cupy.asnumpy`") from None

    def _call_there(self, operands, out, threads, extents, schedule, deterministic, stream, wait):
        """Arrays on a GPU as they lie there."""
        views, values, index, place, gpu = self._there(operands, extents, out, stream)
        kernels = self._set(views, values, index)
        frames = kernels.frames_like(views, place, on_gpu=True) if schedule is None and not extents and wait is None else []
        try:
            frame, is_new = frames.pop(), False
            frame.set_gpu(gpu)
        except IndexError:
            frame, is_new = Frame(self.operands, views, place, schedule, extents, gpu, self._seconds(wait)), True
        frame.fill(views, place, threads, deterministic)
        made = ctypes.c_void_p()
        frame.call(library.api.schaas_compute, kernels, made, self.expression)
        if is_new:
            kernels.session.warn()
        if len(frames) < _SHAPES:
            frames.append(frame)
        if place is not None and is_there(place):
            return place.values.owner if out is None else out
        return back(natural(Tensor(made.value), False) if place is None else place.values, operands)

    def _call_here(self, operands, out, threads, extents, schedule, deterministic, wait):
        def compute(views, values, index):
            return self._compute(operands, views, values, index, out, threads, extents, schedule, deterministic, wait)
        result = self._in_order(compute, operands)
        if any(map(is_torch, operands)):
            from ._torch import as_torch
            return as_torch(result)
        return result

    def _compute(self, operands, views, values, index, out, threads, extents, schedule, deterministic, wait):
        kernels = self._set(views, values, index)
        place = self._result_view(views, values, extents, out)
        plain = schedule is None and not extents and wait is None
        frames = kernels.frames_like(views, place) if plain else []
        try:
            frame, is_new = frames.pop(), False  # nobody else uses it meanwhile
        except IndexError:
            frame, is_new = Frame(self.operands, views, place, schedule, extents, wait=self._seconds(wait)), True
        frame.fill(views, place, threads, deterministic)
        made = ctypes.c_void_p()
        frame.call(library.api.schaas_compute, kernels, made, self.expression)
        if is_new:
            kernels.session.warn()
        if plain and not deterministic and len(self._prepared) < _SHAPES \
                and (prepared := Prepared.of(kernels, frame, operands, views, place)):
            self._prepared.append(prepared)  # and the frame with it
        elif len(frames) < _SHAPES:
            frames.append(frame)
        if out is not None:
            return out
        if place is None:
            return natural(Tensor(made.value), any(map(is_scipy_array, operands)))
        return place.values if place.shape else place.values[()]

    def bind(self, *positional, out=None, threads=0, extents=None, schedule=None, deterministic=False, stream=None, wait=None,
             **named):
        """Fixes the operands: the returned Bound computes from what the arrays hold at each call, without checking them again. For
        loops."""
        operands = self._collect(positional, named)
        if any(map(is_torch, (*operands, out))):
            from ._torch import bound
            return bound(self, operands, out, threads=threads, extents=extents, schedule=schedule, deterministic=deterministic,
                         stream=stream, wait=wait)
        return self._bind(operands, out, threads, extents, schedule, deterministic, stream, wait)

    def _bind(self, operands, out, threads, extents, schedule, deterministic, stream, wait):
        return Bound(self, operands, out, (threads, extents, schedule, deterministic, wait), stream)

    def tune(self, *positional, threads=0, extents=None, **named):
        """Measures every compiled schedule on these tensors; later calls of the same sizes take the fastest. Returns {id: seconds},
        the fastest first."""
        told = json.loads(self._told(library.api.schaas_tune, self._collect(positional, named), threads, extents))
        return {one["id"]: one["seconds"] for one in sorted(told["measured"], key=lambda one: one["seconds"])}

    def compare_formats(self, operand, *positional, formats=None, seconds=2, threads=0, extents=None, **named):
        """Measures this computation with one operand stored in each of several formats: a FormatComparison, whose best(uses) is the
        format for so many runs, conversion included. `formats`: a list of texts (docs/formats.md), None for the usual ones;
        `seconds`: how long is measured, after the kernels were compiled, which takes some seconds a format."""
        operands = self._collect(positional, named)
        candidates = [] if formats is None else list(formats)
        told = self._told(library.api.schaas_compare_formats, operands, threads, extents, library.text_option("operand", operand),
                          library.texts(candidates), len(candidates), library.seconds_option("seconds", seconds))
        return FormatComparison(operand, json.loads(told)["formats"])

    def _told(self, function, operands, threads, extents, *more):
        """The text of a function of the library about these operands."""
        def ask(views, values, index, place=None, gpu=None):
            kernels = self._set(views, values, index)
            frame = Frame(self.operands, views, place, None, extents, gpu)
            frame.fill(views, place, threads)

            def tell(progress):
                frame.set_progress(progress)
                return library.text_from(function, kernels.handle, frame.operands, frame.count, frame.options, *more)

            return waiting.run(tell, self.expression)
        there = self._anywhere(operands, extents, None, None)
        return ask(*there) if there else self._in_order(ask, operands)

    def _latest(self):
        """Of the formats that came last, else those that were given."""
        if self._sets:
            return next(reversed(self._sets.values()))
        return _Set(self, self._formats, self._dtype or F8, self._index)

    @property
    def frontier(self):
        """Every schedule that can be the best for some sizes, of the formats of the last call (before the first: those given), with
        what each costs at the sizes of that call. Waits for the search."""
        kernels = self._latest()  # lives until the call returns
        options = library.Options(ctypes.sizeof(library.Options))

        def ask(progress):
            options.progress = progress
            return library.text_from(library.api.schaas_frontier_at, kernels.handle, None, 0, ctypes.byref(options))

        return Frontier(json.loads(waiting.run(ask, self.expression)))

    def frontier_at(self, *positional, threads=0, extents=None, **named):
        """The frontier with what each schedule costs for these tensors: times, memory, what was measured, which one runs. Nothing is
        compiled or computed; in a notebook it is a picture."""
        return Frontier(json.loads(self._told(library.api.schaas_frontier_at, self._collect(positional, named), threads, extents)))

    def explain(self, *positional, **named):
        """What is computed and how, as text; with tensors also which schedule runs for them, and why."""
        lines = [self.expression]
        if positional or named:
            bound = self.bind(*positional, **named)
            told = bound.describe()
            lines = [bound.explain()]
            entry = next((entry for entry in self.frontier if entry["id"] == told["id"]), None)
            if entry is not None and entry["tree"] == told["tree"]:
                lines += ["", *("  " + line for line in entry["code"].rstrip().splitlines())]
        lines += ["", str(self.frontier)]
        return "\n".join(lines)

    def describe(self, *positional, **named):
        """A dict: expression, formats, dtype and where, as given; with tensors also what Bound.describe says of them."""
        told = {"expression": self.expression, "formats": dict(self._formats), "dtype": None if self._dtype is None else self._dtype.name,
                "where": list(self._where)}
        if positional or named:
            told |= self.bind(*positional, **named).describe()
        return told

    def __repr__(self):
        options = "".join(f", {name}={value!r}" for name, value in self._options.items() if not name.startswith("_"))
        return f"<schaas.Kernel {self.expression!r}{options}>"

    def _sibling(self, expression, **options):
        """A kernel with the session, the space, and the limits of this one."""
        same = {name: value for name, value in self._options.items() if name in ("space", "wait", "patience", "budget")}
        return Kernel(expression, session=self._session, **same, **options)

    def __copy__(self):
        return self  # nothing in it changes but what it remembers

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        """The expression and the options, or the file of a bundle; the session is that of the process that loads it."""
        return self._made_by or (_made_again, (self.expression, self._options))


def _made_again(expression, options):
    return Kernel(expression, **options)


class Bound:
    """A kernel with its operands: what changes in place in them is there at the next run; what is copied is copied again by each run.
    One call at a time; each returns the same array for a dense result, written anew."""

    def __init__(self, kernel, operands, out, options, stream):
        self._kernel, self._operands, self._given_out, self._options, self._stream = kernel, operands, out, options, stream
        self._arrays = any(map(is_scipy_array, operands))
        self._convert = None  # makes torch's of the result
        self._like = None  # makes sparse results like the last one
        self._out = self._end = None
        self._bind()

    def _bind(self):
        """Fixes the operands as they are now. What was bound before stays until that has worked."""
        kernel, out = self._kernel, self._given_out if self._out is None else self._out
        threads, extents, schedule, deterministic, wait = self._options

        def bind(views, values, index, place=None, gpu=None):
            kernels = kernel._set(views, values, index)
            if gpu is None:
                place = kernel._result_view(views, values, extents, out)
            frame = Frame(kernel.operands, views, place, schedule, extents, gpu, kernel._seconds(wait))
            frame.fill(views, place, threads, deterministic)
            made = ctypes.c_void_p()
            frame.call(library.api.schaas_bind, kernels, made, kernel.expression)
            return made.value, kernels, views, place

        there = kernel._anywhere(self._operands, extents, out, self._stream)
        handle, kernels, views, place = bind(*there) if there else kernel._in_order(bind, self._operands)
        close_before, self._end = self._end, library.close_with(self, library.api.schaas_computation_close, handle)
        self._handle = handle
        if close_before is not None:
            close_before()
        self._keep = (kernels, views, place)
        self._like = None
        self._followed = [] if there else [one for one in map(followed, kernel.operands, views, [kernel._zero] * len(views)) if one]
        if self._out is None and place is not None:
            self._out = out if out is not None else place.values.owner if isinstance(place.values, DeviceArray) else place.values

    def __call__(self):
        result = self._run()
        return result if self._convert is None else self._convert(result)

    def _run(self):
        for one in self._followed:
            if not one.update():
                self._bind()
                break
        library.call(library.api.schaas_run, self._handle)
        if self._out is not None:
            return self._out if self._out.shape else self._out[()]
        view = library.api.schaas_result(self._handle).contents
        if self._like is None:
            made = natural(_Running(self, view), self._arrays)
            self._like = maker_like(made)
            if self._like is None:
                return made.copy()
        return self._like.copy_of(view)

    def describe(self):
        """What runs, and why: a dict with the schedule's id, tree, trace, time and memory, baseline (whether it is the first, quickly
        compiled kernel of its schedule), isa, reason, threads, device, copies of operands (format, bytes) and operands (name: format,
        shape, dtype, bytes)."""
        told = json.loads(library.text_from(library.api.schaas_computation_describe, self._handle))
        told["operands"] = {name: description_of(view.format or "dense", view.shape, view.values, view.levels)
                            for name, view in zip(self._kernel.operands, self._keep[1])}
        return told

    def explain(self):
        """The same as text."""
        told = self.describe()
        lines = [self._kernel.expression, "", f"runs {told['id']}: {told['tree']}, the {_grade(told)} kernel", f"  {told['reason']}",
                 f"  time    {told['time']}", f"  memory  {told['memory']}",
                 f"  threads {told['threads']}, {told['device'] or told['isa']}", f"  trace   {told['trace']}"]
        lines += [f"  reads a copy, {copy['format']}, of {size_text(copy['bytes'])}" for copy in told["copies"]]
        lines += [f"  {name}: {one['format']} {one['shape']} of {one['dtype']}, {size_text(one['bytes'])}"
                  for name, one in told["operands"].items()]
        return "\n".join(lines)

    def __repr__(self):
        told = self.describe()
        threads = f"{told['threads']} thread" + ("s" if told["threads"] != 1 else "")
        return f"<schaas.Bound {self._kernel.expression!r}: {told['id']} {told['tree']}, {_grade(told)} kernel, {threads}>"

    def __copy__(self):
        raise unsupported("copy", f"a bound kernel is not copied, for it computes into memory of its own: bind again, {self._again()}")

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        raise unsupported("pickle", "a bound kernel is not pickled, for it is bound to memory of this process: pickle the kernel and bind "
                                    f"again, {self._again()}")

    def _again(self):
        return f"`kernel.bind({', '.join(f'{name}=...' for name in self._kernel.operands)})`"


def _grade(told):
    return "baseline" if told["baseline"] else "final"


class _Running(Tensor):
    """The result of a computation, which the next run overwrites."""

    def __init__(self, bound, view):
        self._bound, self._view = bound, view
        self._fill = library.api.schaas_result_fill(bound._handle)


def kernel(expression, **options):
    """A Kernel: `schaas.kernel("A[i,l] = B[i,j]*C[j,k]*D[k,l]", B="csr", where="8 <= k <= 256")`.

    Options: `where` (a constraint that holds for all sizes, or a list), `dtype` (the type of the arithmetic and the result, "f64", "f32", "i64", ... of docs/language.md; default: numpy's
    promotion of the operands' types), a format for any tensor by its name, `space` (what is searched beyond the plain space), `wait` (the wait limit of its calls: seconds within
    which the best kernel is waited for; 0: the best at hand runs; None: the first one that can run is waited for, better ones are taken
    by later calls), `patience` (its former self: for so long a better kernel than the first is waited for, too),
    `budget` (seconds of the search, 0: the server's), `session`."""
    return Kernel(expression, **options)


def _kernel_of(session, expression, **options):
    """A Kernel of this session: schaas.kernel() with `session`."""
    return Kernel(expression, session=session, **options)


Session.kernel = _kernel_of  # a kernel knows its session, so the method is added where kernels are known

"""Gradients for torch: a call whose operands require one becomes nodes of torch's graph, one for each step that the program is taken
apart into (_derivation.py). A node's backward pass runs the kernels of the step's derivatives, as nodes again where torch asks for
gradients of gradients. Sparse tensors are vectors of values beside a Pattern meanwhile, so torch adds and scales them as they are.

The kernels of the backward pass are asked for together, in threads beside the first forward pass.
"""

import re
import threading

import numpy as np
import torch

from . import _library as library
from ._derivation import Diagonal, Fold, Layout, derivative_steps, flattened, replace, statement_of, steps_of, text_of
from ._errors import invalid, unsupported
from ._expressions import Access, free, printed
from ._device import on_host
from ._forking import Lock
from ._operands import F4, View, _spelt_out, in_order, level_text, view_of
from ._recognise import is_torch
from ._results import natural
from ._torch import as_torch

_THREADS = 8  # kernels that are asked for at the same time


class Pattern:
    """The entries of a sparse operand: levels as a View has them, without values."""

    def __init__(self, view):
        self.shape, self.mode_order, self.levels, self.index = view.shape, tuple(view.mode_order), view.levels, view.index
        self.count = view.levels[-1][3]

    def _placed(self, modes, shape):
        """Levels and mode order of a tensor that has the entries in `modes`, and its other modes dense behind them."""
        levels, order, entries = list(self.levels), [modes[mode] for mode in self.mode_order], self.count
        for mode, extent in enumerate(shape):
            if mode not in modes:
                entries *= extent
                levels.append((library.DENSE, None, None, entries))
                order.append(mode)
        return levels, order

    def format(self, modes, order):
        return level_text(*self._placed(modes, (1,) * order))

    def view(self, values, modes, shape):
        levels, order = self._placed(modes, shape)
        return View(level_text(levels, order), shape, order, levels, values.reshape(-1), self.index)

    def coordinates(self):
        """(order, entries), sorted as stored."""
        return _coordinates(self.levels, self.mode_order)

    def positions(self, other):
        """Where the entries of another pattern, which are among these, lie."""
        own, others = (np.ravel_multi_index(one.coordinates()[list(self.mode_order)], [self.shape[mode] for mode in self.mode_order])
                       for one in (self, other))
        return torch.from_numpy(np.searchsorted(own, others))


def _coordinates(levels, mode_order):
    found, parents = {}, 1
    for (kind, positions, coordinates, entries), mode in zip(levels, mode_order):
        if kind == library.DENSE:
            extent = entries // max(parents, 1)
            found = {known: np.repeat(one, extent) for known, one in found.items()}
            found[mode] = np.tile(np.arange(extent), parents)
        else:
            if positions is not None:
                counts = np.diff(positions)
                found = {known: np.repeat(one, counts) for known, one in found.items()}
            found[mode] = np.asarray(coordinates, np.int64)
        parents = entries
    return np.array([found[mode] for mode in range(len(levels))])


# ---- sparse torch tensors as vectors of values ----

def _entries(given):
    """The values in the order of a View's."""
    return given.detach().coalesce().values() if given.layout == torch.sparse_coo else given.values().detach()


def _like(given, values):
    """A tensor with the entries of another one."""
    if given.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(given.detach().coalesce().indices(), values, given.shape)._coalesced_(True)
    if given.layout == torch.sparse_csr:
        return torch.sparse_csr_tensor(given.crow_indices(), given.col_indices(), values, given.shape)
    return torch.sparse_csc_tensor(given.ccol_indices(), given.row_indices(), values, given.shape)


class _Values(torch.autograd.Function):
    """The values of a sparse tensor; their gradient has its layout."""

    @staticmethod
    def forward(context, given):
        context.like = given.detach()
        return _entries(given).clone()

    @staticmethod
    def backward(context, gradient):
        return _Tensor.apply(gradient, context.like)


class _Tensor(torch.autograd.Function):
    """A sparse tensor of values, with the entries of another one."""

    @staticmethod
    def forward(context, values, like):
        context.like = like
        return _like(like, values.detach().contiguous())

    @staticmethod
    def backward(context, gradient):
        like = context.like
        if gradient.layout == like.layout and _entries(gradient).shape == _entries(like).shape:
            return _Values.apply(gradient), None
        places = (like if like.layout == torch.sparse_coo else like.to_sparse()).coalesce().indices()
        return gradient.to_dense()[tuple(places)], None


# ---- steps as kernels ----

class _Run:
    """What all steps of one call have in common."""

    def __init__(self, plan, patterns, extents, options):
        self.plan, self.patterns, self.extents = plan, patterns, extents
        self.threads, self.deterministic, self.wait = options["threads"], options["deterministic"], options["wait"]

    def shape(self, indices):
        return tuple(self.extents[index] for index in indices)

    def values_shape(self, step, access):
        """The shape of the torch tensor that holds what is read or computed."""
        layout = step.layouts.get(access.name)
        if layout is None:
            return self.shape(access.indices)
        rest = [index for mode, index in enumerate(access.indices) if mode not in layout.modes]
        return (self.patterns[layout.base].count, *self.shape(rest))

    def constant(self, access, step, dtype):
        """Ones at the entries of an operand."""
        return torch.ones(self.values_shape(step, access), dtype=dtype)


class _Node:
    """A step, with its kernel and the steps of its derivatives."""

    def __init__(self, plan, step, kernel=None):
        self.plan, self.step = plan, step
        self._kernel, self._recipes, self._lock = kernel, {}, Lock()
        self.accesses = {access.name: access for access in step.reads()}
        self.result = Access(step.name, step.indices)
        if isinstance(step, Diagonal):
            self.names, self.scale = [step.source.name], 1.0
            return
        indices, self.scale = step.indices, 1.0
        if isinstance(step, Fold):
            text = statement_of(step)
        else:
            first = step.terms[0].factor
            if kernel is None and first != 1 and (len(step.terms) == 1 or first < 0):
                self.scale = first if len(step.terms) == 1 else -1.0  # torch multiplies, and the kernel is a product of tensors
                step.terms = [replace(term, factor=term.factor / self.scale) for term in step.terms]
            terms = step.terms
            if step.flat is not None:
                indices, terms = flattened(step, plan.names.fresh("p"))
            text = text_of(Access(step.name, indices), terms)
        self._alone = [index for index in indices if not any(index in free(tree) for tree in (
            [step.argument] if isinstance(step, Fold) else [term.tree() for term in terms]))]
        self._indices, self.text = indices, text
        self.names = None if kernel is None else kernel.operands

    def kernel(self, run):
        with self._lock:
            if self._kernel is None:
                layout = self.step.layout()
                formats = {}
                if layout is not None and self.step.flat is None:
                    formats[self.step.name] = run.patterns[layout.base].format(layout.modes, len(self.step.indices))
                self._kernel = self.plan.kernel(self.text, formats)
                self.names = self._kernel.operands
            return self._kernel

    def _extents(self, run):
        """Of indices that the result alone has."""
        shape = run.shape(self._indices) if self.step.flat is None else run.values_shape(self.step, self.result)
        return {index: extent for index, extent in zip(self._indices, shape) if index in self._alone} or None

    def _operand(self, run, name, values):
        layout = self.step.layouts.get(name) if self.step.flat is None else None
        array = values.detach().resolve_neg().contiguous().numpy()
        if layout is None:
            return array
        return run.patterns[layout.base].view(array, layout.modes, run.shape(self.accesses[name].indices))

    def compute(self, run, values):
        step = self.step
        kernel = self.kernel(run)
        operands = [self._operand(run, name, one) for name, one in zip(kernel.operands, values)]
        result = kernel._call(operands, None, run.threads, self._extents(run), None, run.deterministic, None, run.wait)
        shape = run.values_shape(step, self.result)
        layout = step.layout()
        if layout is None or step.flat is not None:
            return torch.from_numpy(np.asarray(result)).reshape(shape)
        view, pattern = view_of(step.name, result, None), run.patterns[layout.base]
        values = torch.from_numpy(view.values)
        order = len(layout.modes)
        if view.levels[order - 1][3] == pattern.count:
            return values.reshape(shape)
        stored = Pattern(view)
        stored.levels, stored.mode_order = view.levels[:order], pattern.mode_order
        made = torch.zeros(shape, dtype=values.dtype)
        made[pattern.positions(stored)] = values.reshape(-1, *shape[1:])
        return made

    def __call__(self, run, known):
        """The value; `known`: of what may be read, by name."""
        if isinstance(self.step, Diagonal):
            return self._diagonal(run, known[self.step.source.name])
        self.kernel(run)
        values = [known[name] if name in known else run.constant(self.accesses[name], self.step, run.plan.dtype) for name in self.names]
        if torch.is_grad_enabled() and any(one.requires_grad for one in values):
            made = _Step.apply(self, run, *values)
        else:
            made = self.compute(run, values)
        return made if self.scale == 1 else self.scale * made

    def _diagonal(self, run, values):
        source, layout = self.step.source, self.step.layouts.get(self.step.source.name)
        letters = {index: chr(97 + number) for number, index in enumerate(dict.fromkeys(source.indices))}
        if layout is None:
            return torch.einsum("".join(letters[index] for index in source.indices) + "->" + "".join(letters.values()), values)
        coordinates = run.patterns[layout.base].coordinates()
        if len(layout.modes) < len(source.indices):
            raise unsupported("gradient", f"`{printed(source)}` repeats an index of an intermediate with sparse and dense modes; read it "
                                          "with two indices and multiply by an identity matrix")
        where = {mode: coordinates[at] for at, mode in enumerate(layout.modes)}
        first = {index: where[source.indices.index(index)] for index in self.step.indices}
        equal = np.all([where[mode] == first[index] for mode, index in enumerate(source.indices)], axis=0)
        places = tuple(torch.from_numpy(first[index][equal]) for index in self.step.indices)
        zeros = torch.zeros(run.shape(self.step.indices), dtype=values.dtype)
        return zeros.index_put(places, values[torch.from_numpy(np.flatnonzero(equal))])

    def recipes(self, name):
        """The nodes, for each way an operand is read, whose last one is its gradient."""
        with self._lock:
            if name not in self._recipes:
                wanted = dict.fromkeys(access for access in self.step.reads() if access.name == name)
                fresh = self.plan.names.fresh
                gradient = fresh("G")
                found = [derivative_steps(self.step, access, gradient, fresh("R"), self.plan.names) for access in wanted]
                self._recipes[name] = gradient, [[_Node(self.plan, step) for step in steps] for steps in found if steps is not None]
            return self._recipes[name]

    def gradient(self, run, name, known, gradient):
        called, recipes = self.recipes(name)
        total = None
        for nodes in recipes:
            values = {**known, called: gradient}
            for node in nodes:
                values[node.step.name] = node(run, values)
            one = values[nodes[-1].step.name]
            total = one if total is None else total + one
        return torch.zeros_like(known[name]) if total is None else total

    def prefetch(self, run):
        """Has the kernel searched and compiled for the sizes of a call."""
        kernel = self.kernel(run)
        operands = [self._operand(run, name, torch.zeros(self._flat_shape(run, name), dtype=run.plan.dtype)) for name in kernel.operands]
        kernel.bind(*operands, threads=run.threads, extents=self._extents(run))

    def _flat_shape(self, run, name):
        return run.values_shape(self.step, self.accesses[name])


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(context, node, run, *values):
        context.node, context.run = node, run
        made = node.compute(run, values)
        context.save_for_backward(*values, made)
        return made

    @staticmethod
    def backward(context, gradient):
        node, run = context.node, context.run
        *values, made = context.saved_tensors
        known = {**dict(zip(node.names, values)), node.step.name: made}
        found = [node.gradient(run, name, known, gradient) if needed else None
                 for name, needed in zip(node.names, context.needs_input_grad[2:])]
        return (None, None, *found)


def _about_indices_of(text, constraints):
    """The constraints that speak of extents of a statement's indices alone."""
    names = set(re.findall(r"[A-Za-z_]\w*\b(?!\()", text))
    return [one for one in constraints if names.issuperset(re.findall(r"(?<![\w.])[A-Za-z_]\w*", one))]


class _Plan:
    """The steps of a kernel for one combination of formats and types."""

    def __init__(self, kernel, layouts, dtype):
        self.dtype, self._owner = dtype, kernel
        steps, self.names = steps_of(kernel._text, layouts, kernel._dense_result)
        if not kernel._dense_result and steps[-1].layout() is None:
            raise unsupported("gradient", f"`{kernel.expression}`: gradients are of a dense result, or one with the entries of an operand; "
                                          f"`{kernel.result}` is stored as {kernel._formats[kernel.result]}: leave its format out")
        whole = kernel if len(steps) == 1 and kernel._dense_result and not isinstance(steps[0], Diagonal) else None
        self.nodes = [_Node(self, step, whole) for step in steps]
        self._asked = set()

    def kernel(self, text, formats):
        return self._owner._sibling(text, where=_about_indices_of(text, self._owner._where),
                                    dtype="f32" if self.dtype == torch.float32 else "f64", **formats)

    def extents(self, shapes, given):
        """Of all indices: of the operands' shapes and as given."""
        extents = dict(given or {})
        accesses = [access for node in self.nodes for access in node.step.reads()]
        owners = dict.fromkeys(extents, "what is given")
        for _ in range(1 + len(self.nodes)):
            for access in accesses:
                for mode, (index, extent) in enumerate(zip(access.indices, shapes.get(access.name, ()))):
                    owner = owners.setdefault(index, f"mode {mode + 1} of `{printed(access)}`")
                    if extents.setdefault(index, extent) != extent:
                        raise invalid("extent-conflict", f"index `{index}` has extent {extents[index]} by {owner} but {extent} by mode "
                                                         f"{mode + 1} of `{printed(access)}`")
            for node in self.nodes:
                if all(index in extents for index in node.step.indices):
                    shapes[node.step.name] = tuple(extents[index] for index in node.step.indices)
        for node in self.nodes:
            for index in node.step.indices:
                if index not in extents:
                    raise invalid("missing-extent", f"index `{index}` has no extent: no operand has it; give the extent of `{index}`")
        return extents

    def ask_for_gradients(self, run, wanted):
        """Starts threads that have the kernels of the backward pass made; `wanted`: names of operands. Once for each set of names."""
        wanted = frozenset(wanted)
        if wanted in self._asked:
            return
        self._asked.add(wanted)
        nodes, moving = [], set(wanted)
        for node in self.nodes:
            needed = [name for name in node.accesses if name in moving]
            if needed:
                moving.add(node.step.name)
            if not isinstance(node.step, Diagonal):
                nodes += [one for name in needed for recipe in node.recipes(name)[1] for one in recipe]
        waiting = iter(reversed(nodes))  # the last step's gradients are the first wanted
        lock = threading.Lock()

        def work():
            while threading.main_thread().is_alive():
                with lock:
                    node = next(waiting, None)
                if node is None:
                    return
                try:
                    node.prefetch(run)
                except Exception:  # pylint: disable=broad-except
                    return  # the backward pass says what is wrong

        for _ in range(min(_THREADS, len(nodes))):
            threading.Thread(target=work, name="schaas-gradients").start()


# ---- a call ----

def _taken(name, given, view):
    """(values as a torch tensor, Pattern or None where dense) of an operand."""
    pattern = None if all(level[0] == library.DENSE for level in view.levels) else Pattern(view)
    if not is_torch(given) or not given.requires_grad:
        return torch.from_numpy(np.require(view.values, requirements="CW")), pattern
    if given.layout == torch.strided:
        return given, None
    if given.layout not in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        raise unsupported("gradient", f"`{name}` has the layout {given.layout}; gradients come in strided, sparse_coo, sparse_csr and "
                                      "sparse_csc: pass `.to_sparse_csr()`")
    values = _Values.apply(given)
    if view.merge is not None:  # its entries were not sorted
        values = values[torch.from_numpy(np.asarray(view.merge.order, np.int64))]
        if view.merge.starts is not None:
            starts = np.zeros(len(values), np.int64)
            starts[view.merge.starts[1:]] = 1
            values = torch.zeros(len(view.merge.starts), dtype=values.dtype).index_add(0, torch.from_numpy(np.cumsum(starts)), values)
    return values, pattern


def _refuse(kernel, options):
    why = None
    if options["out"] is not None:
        why = "`out` has no gradient; leave it out"
    elif options["schedule"] is not None:
        why = "`schedule` is of one kernel, and gradients take several; leave it out, or detach the operands"
    if why:
        raise unsupported("gradient", f"`{kernel.expression}`: {why}")


def _stored(kernel, step, pattern, values, run):
    """A sparse result of its values."""
    order, modes = len(step.indices), step.layout().modes
    wanted, found = kernel._formats[kernel.result], pattern.format(modes, order)
    view = pattern.view(values.detach().numpy(), modes, run.shape(step.indices))
    made = as_torch(natural(_Entries(view), arrays=False))
    if not is_torch(made) or _spelt_out(wanted.lower(), order) != _spelt_out(found, order):
        raise unsupported("gradient", f"`{kernel.expression}`: `{kernel.result}` has the entries of `{step.layout().base}`, stored as {found}; "
                                      f"gradients are of results in that format (csr, csc, coo), and `{wanted}` was asked for")
    return _Tensor.apply(values, made)


class _Entries:
    """A View with what else results have."""

    def __init__(self, view):
        self.levels, self.mode_order, self.values = view.levels, tuple(view.mode_order), view.values
        self.shape, self.dtype = view.shape, view.values.dtype


def differentiable(kernel, operands, options):
    """The call, as nodes of torch's graph."""
    _refuse(kernel, options)
    device = next((one.device for one in operands if is_torch(one) and one.device.type != "cpu"), None)
    operands = list(map(on_host, operands))
    # A format asked for is one for the kernel alone, where the gradient is wanted of a dense tensor or in a layout of torch.
    formats = [None if is_torch(given) and given.requires_grad else format for given, format in zip(operands, kernel._given)]
    views = [view_of(*one, kernel._zero) for one in zip(kernel.operands, operands, formats)]
    result = in_order(lambda views: _computed(kernel, operands, views, options), kernel.operands, views, formats, kernel._zero)
    return result if device is None else result.to(device)


def _computed(kernel, operands, views, options):
    taken = {one[0]: _taken(*one) for one in zip(kernel.operands, operands, views)}
    for name, (values, pattern) in taken.items():
        shape = tuple((values if pattern is None else pattern).shape)
        if len(shape) != len(kernel._indices[name]):
            raise invalid("operand-rank", f"`{name}` has shape {shape}, the expression has `{kernel._access(name)}`")
    kinds = [view.values.dtype for view in views if view.shape]
    single = (kernel._dtype or (F4 if kinds and all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds) else None)) == F4
    dtype = torch.float32 if single else torch.float64
    known = {name: values.to(dtype) for name, (values, _) in taken.items()}
    patterns = {name: pattern for name, (_, pattern) in taken.items() if pattern is not None}
    key = (dtype, *((name, pattern.format(range(len(pattern.shape)), len(pattern.shape))) for name, pattern in patterns.items()))
    plan = kernel._gradients.get(key)
    if plan is None:
        layouts = {name: Layout(name, tuple(range(len(pattern.shape)))) for name, pattern in patterns.items()}
        plan = kernel._gradients.setdefault(key, _Plan(kernel, layouts, dtype))
    shapes = {name: tuple(patterns[name].shape) if name in patterns else tuple(known[name].shape) for name in known}
    run = _Run(plan, patterns, plan.extents(shapes, options["extents"]), options)
    plan.ask_for_gradients(run, (name for name, values in known.items() if values.requires_grad))
    for node in plan.nodes:
        known[node.step.name] = node(run, known)
    last = plan.nodes[-1].step
    if kernel._dense_result:
        return known[last.name]
    return _stored(kernel, last, patterns[last.layout().base], known[last.name], run)

"""Gradients for torch: of a product they are products too, so each is a kernel of its own.

Of A = B * C * ... the gradient with respect to one factor is the product of the others with the gradient G of A. With respect to a
sparse factor it is wanted where that one stores entries alone: one more factor, ones in its pattern, says so, and nothing is computed
elsewhere. A tensor that stands twice gets the sum of both. Gradients of gradients go the same way.
"""

import torch

from ._errors import unsupported
from ._recognise import is_torch


def _access(name, indices):
    return f"{name}({','.join(indices)})" if indices else name


def _free(kernel, letter):
    """A name that the statement does not use."""
    name = letter + "_"
    while name == kernel.result or name in kernel.operands:
        name += "_"
    return name


def _statement(kernel, place, names):
    """(left side, factors, tensors of the statement among them): the gradient with respect to the factor at `place`."""
    wanted = kernel._factors[place]
    terms, operands = [], []
    for number, factor in enumerate(kernel._factors):
        if number == place:
            continue
        terms.append(repr(factor["number"]) if "number" in factor else _access(factor["name"], factor["indices"]))
        if "name" in factor and factor["name"] not in operands:
            operands.append(factor["name"])
    terms.append(_access(names["G"], kernel._result_indices))
    return f"{_access(names['R'], wanted['indices'])} = ", terms, operands


def _layout(given):
    """csr and coo as schaas calls them, None: dense."""
    return {"torch.sparse_csr": "csr", "torch.sparse_coo": "coo"}.get(str(given.layout)) if is_torch(given) else None


def _ones(given):
    """Ones where it stores entries."""
    if _layout(given) == "csr":
        return torch.sparse_csr_tensor(given.crow_indices(), given.col_indices(), torch.ones_like(given.values()), given.shape)
    entries = given.detach().coalesce()
    return torch.sparse_coo_tensor(entries.indices(), torch.ones_like(entries.values()), given.shape).coalesce()


def _as_torch(made, like):
    """A gradient in the layout of what it belongs to; `made` has its pattern."""
    layout = _layout(like)
    if layout == "csr":
        return torch.sparse_csr_tensor(like.crow_indices(), like.col_indices(), made.values(), like.shape)
    if layout == "coo":
        entries = like.detach().coalesce()
        return torch.sparse_coo_tensor(entries.indices(), made.values(), like.shape).coalesce()
    return torch.as_tensor(made, dtype=like.dtype).reshape(like.shape)


def _gradient_kernel(kernel, place, layout):
    from ._kernel import Kernel
    key = (place, layout)
    found = kernel._gradients.get(key)
    if found is None:
        names = {letter: _free(kernel, letter) for letter in "RGP"}
        left, terms, operands = _statement(kernel, place, names)
        formats = {name: text for name, text in kernel._formats.items() if name in operands}
        if layout is not None:
            terms.insert(0, _access(names["P"], kernel._factors[place]["indices"]))
            formats[names["R"]] = layout
        made = Kernel(left + " * ".join(terms), dtype=kernel._dtype, space=kernel._space, patience=kernel._patience,
                      budget=kernel._budget, session=kernel._session, **formats)
        found = kernel._gradients[key] = (made, operands, names)
    return found


def _check(kernel, operands):
    why = None
    if kernel._factors is None:
        why = "gradients are of one statement that is a product of tensors"
    elif not kernel._dense_result:
        why = f"gradients are of a dense result; `{kernel.result}` is stored as {kernel._formats[kernel.result]}"
    for factor in kernel._factors or ():
        if why is None and len(set(factor.get("indices", ()))) < len(factor.get("indices", ())):
            why = f"`{_access(factor['name'], factor['indices'])}` repeats an index"
    if why:
        raise unsupported("gradient", f"`{kernel.expression}`: {why}; detach its operands and write the gradient as a kernel of its own")


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context, kernel, options, *operands):
        context.kernel, context.threads = kernel, options["threads"]
        context.save_for_backward(*(operand for operand in operands if is_torch(operand)))
        context.others = [None if is_torch(operand) else operand for operand in operands]
        made = kernel._call([operand.detach() if is_torch(operand) else operand for operand in operands], **options)
        return made if isinstance(made, torch.Tensor) else torch.as_tensor(made)

    @staticmethod
    def backward(context, gradient):
        saved = iter(context.saved_tensors)
        operands = [next(saved) if other is None else other for other in context.others]
        wanted = context.needs_input_grad[2:]
        kernel = context.kernel
        found = [_with_respect_to(kernel, number, operands, gradient.contiguous(), context.threads) if needed else None
                 for number, needed in enumerate(wanted)]
        return (None, None, *found)


def _extents(kernel, operands):
    extents = {}
    for name, operand in zip(kernel.operands, operands):
        extents.update(zip(kernel._indices[name], getattr(operand, "shape", ())))
    return extents


def _with_respect_to(kernel, number, operands, gradient, threads):
    given = dict(zip(kernel.operands, operands))
    name, like = kernel.operands[number], operands[number]
    total = None
    for place, factor in enumerate(kernel._factors):
        if factor.get("name") != name:
            continue
        made, others, names = _gradient_kernel(kernel, place, _layout(like))
        tensors = {other: given[other] for other in others}
        tensors[names["G"]] = gradient
        if names["P"] in made.operands:
            tensors[names["P"]] = _ones(like)
        known = {index for other in made._indices.values() for index in other}
        extents = {index: extent for index, extent in _extents(kernel, operands).items()
                   if index in factor["indices"] and index not in known}
        one = _as_torch(made(threads=threads, extents=extents or None, **tensors), like)
        total = one if total is None else total + one
    return total


def differentiable(kernel, operands, options):
    """The call, as a node of torch's graph."""
    _check(kernel, operands)
    if options["out"] is not None:
        raise unsupported("gradient", "`out` has no gradient; leave it out")
    return _Product.apply(kernel, options, *operands)

"""einsum, as numpy's."""

import functools

from ._errors import invalid, unsupported
from ._kernel import Kernel


def statement_of(subscripts):
    """The statement that `ij,jk->ik` means."""
    text = subscripts.replace(" ", "")
    if "." in text:
        raise unsupported("einsum-ellipsis", f"`{subscripts}`: an ellipsis has no fixed order; write the indices")
    inputs, arrow, output = text.partition("->")
    operands = inputs.split(",")
    letters = "".join(operands)
    wrong = [letter for letter in letters + output if not (letter.isascii() and letter.isalpha())]
    if wrong:
        raise invalid("einsum-subscripts", f"`{subscripts}`: `{wrong[0]}` is no index; indices are letters")
    if not arrow:
        output = "".join(letter for letter in sorted(set(letters)) if letters.count(letter) == 1)
    missing = [letter for letter in output if letter not in letters]
    if missing:
        raise invalid("einsum-subscripts", f"`{subscripts}`: index `{missing[0]}` of the result is in no operand")
    def access(name, indices):
        return f"{name}({','.join('i_' + letter for letter in indices)})" if indices else name
    factors = " * ".join(access(f"T{number + 1}", indices) for number, indices in enumerate(operands))
    return f"R = {factors}" if not output else f"{access('R', output)} = {factors}"


@functools.lru_cache(maxsize=512)
def _kernel(subscripts, count):
    statement = statement_of(subscripts)
    found = Kernel(statement)
    orders = tuple(len(indices) for indices in subscripts.replace(" ", "").partition("->")[0].split(","))
    if count != len(orders):
        raise invalid("argument-count", f"`{subscripts}` takes {len(orders)} tensors, {count} were given")
    return found, orders


def einsum(subscripts, *operands, out=None, threads=0):
    """numpy.einsum, with sparse operands wherever they are: `schaas.einsum("ij,ik,jk,jl->il", B, C, D, E)`. All of the product is
    scheduled as one."""
    found, orders = _kernel(subscripts, len(operands))
    for given, order in zip(operands, orders):
        if getattr(given, "ndim", order) != order:
            number = [one is given for one in operands].index(True) + 1
            raise invalid("operand-rank", f"`{subscripts}`: operand {number} has {order} subscripts, but order {given.ndim}")
    return found(*operands, out=out, threads=threads)

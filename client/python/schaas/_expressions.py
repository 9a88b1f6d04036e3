"""Right-hand sides of statements as trees: reading, walking and printing."""

import json
import math
from dataclasses import dataclass

from . import _library as library


@dataclass(frozen=True)
class Access:
    name: str
    indices: tuple


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Coordinate:
    """The coordinate of an index as a number."""
    index: str


@dataclass(frozen=True)
class Call:
    """A function or an operator; `-` of one argument negates."""
    function: str
    arguments: tuple


@dataclass(frozen=True)
class Reduction:
    fold: str
    indices: tuple
    argument: object


ZERO, ONE = Number(0.0), Number(1.0)


def parsed(text):
    """What schaas_parse says of a program, its values as trees."""
    told = json.loads(library.text_from(library.api.schaas_parse, library.text(text)))
    for statement in told["statements"]:
        statement["value"] = _tree(statement["value"])
        statement["result"] = _tree(statement["result"])
    return told


def _tree(told):
    if "name" in told:
        return Access(told["name"], tuple(told["indices"]))
    if "number" in told:
        return Number(float(told["number"]))
    if "coordinate" in told:
        return Coordinate(told["coordinate"])
    if "function" in told:
        return Call(told["function"], tuple(map(_tree, told["arguments"])))
    return Reduction(told["reduction"], tuple(told["indices"]), _tree(told["argument"]))


# ---- walking ----

def children(node):
    if isinstance(node, Call):
        return node.arguments
    return (node.argument,) if isinstance(node, Reduction) else ()


def accesses(node):
    """Every access, in order of appearance."""
    if isinstance(node, Access):
        yield node
    for child in children(node):
        yield from accesses(child)


def free(node):
    """The indices that no reduction inside binds, in order of appearance."""
    if isinstance(node, Access):
        return tuple(dict.fromkeys(node.indices))
    if isinstance(node, Coordinate):
        return (node.index,)
    inside = dict.fromkeys(index for child in children(node) for index in free(child))
    return tuple(index for index in inside if not isinstance(node, Reduction) or index not in node.indices)


def rebuilt(node, change):
    """The tree with `change(child)` for each child."""
    if isinstance(node, Call):
        return Call(node.function, tuple(map(change, node.arguments)))
    return Reduction(node.fold, node.indices, change(node.argument)) if isinstance(node, Reduction) else node


def renamed(node, names):
    """The tree with other indices, bound ones too."""
    if isinstance(node, Access):
        return Access(node.name, tuple(names.get(index, index) for index in node.indices))
    if isinstance(node, Coordinate):
        return Coordinate(names.get(node.index, node.index))
    if isinstance(node, Reduction):
        return Reduction(node.fold, tuple(names.get(index, index) for index in node.indices), renamed(node.argument, names))
    return rebuilt(node, lambda child: renamed(child, names))


# ---- printing ----

_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def printed(node, above=0):
    """The text of a tree below operators that bind as strongly as `above`: 0 comparison, 1 sum, 2 product, 3 unary."""
    if isinstance(node, Access):
        return f"{node.name}({','.join(node.indices)})" if node.indices else node.name
    if isinstance(node, Coordinate):
        return node.index
    if isinstance(node, Number):
        text = str(abs(node.value))
        return text if math.copysign(1, node.value) > 0 else f"(-{text})"
    if isinstance(node, Reduction):
        return f"{node.fold}({','.join(node.indices)})({printed(node.argument)})"
    operator = node.function
    if operator not in _LEVELS and operator not in _COMPARISONS:
        return f"{operator}({', '.join(map(printed, node.arguments))})"
    if len(node.arguments) == 1:
        return f"(-{printed(node.arguments[0], 3)})"
    level = _LEVELS.get(operator, 0)
    first, *others = node.arguments
    text = f" {operator} ".join([printed(first, level + (level == 0)), *(printed(other, level + 1) for other in others)])
    return text if level >= above and (level or not above) else f"({text})"


# ---- arithmetic ----

def product(*factors):
    """The product, numbers multiplied out."""
    number, kept = 1.0, []
    for factor in factors:
        for one in factor.arguments if isinstance(factor, Call) and factor.function == "*" else (factor,):
            if isinstance(one, Number) and math.isfinite(one.value):
                number *= one.value
            else:
                kept.append(one)
    if number == 0 or not kept:
        return Number(number)
    if number != 1:
        kept.insert(0, Number(number))
    return kept[0] if len(kept) == 1 else Call("*", tuple(kept))


def quotient(above, below):
    return ZERO if above == ZERO else above if below == ONE else Call("/", (above, below))


def call(function, *arguments):
    return Call(function, arguments)

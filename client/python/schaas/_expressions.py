"""Right-hand sides of statements as trees: reading, printing, and the derivative with respect to one access."""

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


def total(*terms):
    kept = [one for term in terms for one in (term.arguments if isinstance(term, Call) and term.function == "+" else (term,))
            if one != ZERO]
    return ZERO if not kept else kept[0] if len(kept) == 1 else Call("+", tuple(kept))


def quotient(above, below):
    return ZERO if above == ZERO else above if below == ONE else Call("/", (above, below))


def where(condition, one, other):
    return one if one == other else Call("where", (condition, one, other))


def call(function, *arguments):
    return Call(function, arguments)


# ---- derivatives ----

_CONSTANT = _COMPARISONS | {"and", "or", "not", "sign", "floor", "ceil", "round"}  # almost everywhere
_UNARY = {
    "exp": lambda a: call("exp", a),
    "log": lambda a: quotient(ONE, a),
    "sqrt": lambda a: quotient(Number(0.5), call("sqrt", a)),
    "sin": lambda a: call("cos", a),
    "cos": lambda a: product(Number(-1), call("sin", a)),
    "tan": lambda a: total(ONE, product(call("tan", a), call("tan", a))),
    "tanh": lambda a: call("-", ONE, product(call("tanh", a), call("tanh", a))),
    "sigmoid": lambda a: product(call("sigmoid", a), call("-", ONE, call("sigmoid", a))),
    "relu": lambda a: call(">", a, ZERO),
    "abs": lambda a: call("sign", a),
}


def derivative(node, wanted):
    """The derivative of a tree without reductions with respect to the access `wanted`. Where there is none, at a tie or a kink: half
    for each side of `min` and `max`, 0 for `abs` and `relu`. `where` and comparisons are constant in their conditions."""
    if node == wanted:
        return ONE
    if wanted not in accesses(node):
        return ZERO
    function, arguments = node.function, node.arguments
    if function in _CONSTANT:
        return ZERO
    if function in _UNARY:
        return product(_UNARY[function](arguments[0]), derivative(arguments[0], wanted))
    inner = [derivative(argument, wanted) for argument in arguments]
    if function == "+":
        return total(*inner)
    if function == "-":
        return product(Number(-1), inner[0]) if len(inner) == 1 else total(inner[0], product(Number(-1), inner[1]))
    if function == "*":
        return total(*(product(*arguments[:at], one, *arguments[at + 1:]) for at, one in enumerate(inner)))
    if function == "/":
        above, below = arguments
        parts = below.arguments if isinstance(below, Call) and below.function == "*" else (below,)
        return total(quotient(inner[0], below), *(quotient(product(Number(-1), above, derivative(part, wanted)), product(below, part))
                                                  for part in parts))
    if function == "where":
        return where(arguments[0], inner[1], inner[2])
    if function == "pow":
        return _of_power(*arguments, *inner)
    return _of_extremum(function, arguments, wanted)


def _of_power(base, exponent, by_base, by_exponent):
    if isinstance(exponent, Number):
        lower = exponent.value - 1
        power = ONE if lower == 0 else base if lower == 1 else call("pow", base, Number(lower))
        return product(exponent, power, by_base) if exponent.value != 0 else ZERO
    through_base = where(call("==", exponent, ZERO), ZERO, product(exponent, call("pow", base, call("-", exponent, ONE))))
    through_exponent = where(call("==", base, ZERO), ZERO, product(call("pow", base, exponent), call("log", base)))
    return total(product(through_base, by_base), product(through_exponent, by_exponent))


def _of_extremum(function, arguments, wanted):
    """`max(a,b,c)` is max(max(a,b),c)."""
    left = arguments[0] if len(arguments) == 2 else Call(function, arguments[:-1])
    right = arguments[-1]
    strict, weak = (">", ">=") if function == "max" else ("<", "<=")

    def share(one, other):
        return product(Number(0.5), Call("+", (call(strict, one, other), call(weak, one, other))))

    return total(product(share(left, right), derivative(left, wanted)), product(share(right, left), derivative(right, wanted)))

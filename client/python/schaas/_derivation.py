"""Programs taken apart for reverse-mode differentiation (Griewank and Walther, Evaluating Derivatives, section 3.2).

A program becomes a list of *steps*, each a kernel whose value is kept for the backward pass: a `Sum` (terms, each a product summed over
indices) or a `Fold` (max, min, prod, or, and of an expression). Reductions inside functions become steps of their own. The derivative
of a step with respect to one access of an operand is the program that the library gives (_gradient.py), again as a list of steps, so
gradients of gradients go the same way.

Sparsity. A step whose terms all have a sparse factor over the step's own indices is stored at that factor's entries, and so is a step
that is only read where such a factor multiplies it: nothing of the size of a dense matrix is formed between. `Layout` says at whose
entries a tensor is stored. A step in which everything lies at the same entries is a kernel over vectors of values.
"""

import itertools
from dataclasses import dataclass, field, replace

from ._errors import unsupported
from ._expressions import ONE, Access, Call, Number, Reduction, accesses, call, children, free, parsed, printed, product, quotient, rebuilt, renamed
from ._gradient import gradient


_RESERVED = "ones__"
_OPERANDS, _FACTORS = 16, 8  # at most, of a statement and of a product (docs/language.md)


@dataclass(frozen=True)
class Layout:
    """At whose entries a tensor is stored: mode m of the operand `base` is mode modes[m] of the tensor; its other modes are dense."""
    base: str
    modes: tuple

    def key(self, indices):
        """Equal for accesses that meet the same entries."""
        return self.base, tuple(indices[mode] for mode in self.modes)


@dataclass(frozen=True)
class Term:
    """factor * above[0] * ... / below[0] / ..., summed over `sums`."""
    factor: float
    above: tuple
    below: tuple
    sums: frozenset

    def tree(self):
        numerator = product(*self.above) if self.above else ONE
        return quotient(numerator, product(*self.below)) if self.below else numerator

    def indices(self):
        return dict.fromkeys(index for part in self.above + self.below for index in free(part))


@dataclass
class Step:
    name: str
    indices: tuple
    layouts: dict  # of what is read and of the result, where sparse
    flat: tuple = None  # over the values at these entries: (base, indices)

    def layout(self):
        return self.layouts.get(self.name)


@dataclass
class Sum(Step):
    terms: list = field(default_factory=list)

    def reads(self):
        return [access for term in self.terms for access in accesses(term.tree())]


@dataclass
class Fold(Step):
    fold: str = "max"
    over: tuple = ()
    argument: object = None

    def reads(self):
        return list(accesses(self.argument))


@dataclass
class Diagonal(Step):
    """The elements of a tensor with equal coordinates, `B(i,i)`; dense."""
    source: Access = None

    def reads(self):
        return [self.source]


class Names:
    """Names that nothing has yet."""

    def __init__(self, taken):
        self.taken = set(taken)

    def fresh(self, like):
        for number in itertools.count(1):
            name = f"{like}_{number}"
            if name not in self.taken:
                self.taken.add(name)
                return name


# ---- terms ----

def terms_of(node, sums=frozenset()):
    """The terms of a tree, taken apart at the outermost sums."""
    if isinstance(node, Call) and node.function == "+":
        return [term for argument in node.arguments for term in terms_of(argument, sums)]
    if isinstance(node, Call) and node.function == "-":
        *first, last = node.arguments
        return [term for one in first for term in terms_of(one, sums)] + \
               [replace(term, factor=-term.factor) for term in terms_of(last, sums)]
    return [_single(node, sums)]


def _single(node, sums=frozenset()):
    """A tree as one term; a sum inside of a product stays a factor."""
    if isinstance(node, Number) and node.value not in (float("inf"), float("-inf")):
        return Term(node.value, (), (), sums)
    if isinstance(node, Call) and node.function == "-" and len(node.arguments) == 1:
        inside = _single(node.arguments[0], sums)
        return replace(inside, factor=-inside.factor)
    if isinstance(node, Call) and node.function in ("*", "/"):
        factor, above, below = 1.0, [], []
        for at, argument in enumerate(node.arguments):
            part = _single(argument)
            if node.function == "/" and at == 1:
                if part.below or part.factor == 0:
                    part = Term(1.0, (argument,), (), frozenset())
                factor, below = factor / part.factor, below + list(part.above)
            else:
                factor, above, below = factor * part.factor, above + list(part.above), below + list(part.below)
        return Term(factor, tuple(above), tuple(below), sums)
    return Term(1.0, (node,), (), sums)


# ---- a program as steps ----

class _Lift:
    """Takes a program's statements apart."""

    def __init__(self, names, layouts):
        self.names, self.layouts = names, layouts
        self.steps, self.known = [], {}

    def statement(self, name, indices, value):
        if isinstance(value, Reduction) and value.fold != "sum":
            argument = self._exact(value.argument)
            self.steps.append(Fold(name, indices, self.layouts, fold=value.fold, over=value.indices, argument=argument))
        else:
            terms = [self._term(each, indices) for term in terms_of(value) for each in _distributed(term)]
            self.steps.append(Sum(name, indices, self.layouts, terms=terms))

    def _term(self, term, indices):
        """Takes the sums that are factors of a term out, `a(i) * sum(j)(b(i,j))`; what else is reduced inside becomes a step."""
        taken = set(indices) | set(term.indices()) | term.sums
        factor, above, below, sums = term.factor, [], list(term.below), set(term.sums)
        pending = list(term.above)
        while pending:
            part = pending.pop(0)
            if isinstance(part, Reduction) and part.fold == "sum":
                fresh = {index: self.names.fresh(index) for index in part.indices if index in taken}
                inside = _single(renamed(part.argument, fresh))
                over = {fresh.get(index, index) for index in part.indices}
                factor, pending, below = factor * inside.factor, [*inside.above, *pending], below + list(inside.below)
                taken |= over
                sums |= over
            else:
                above.append(self._plain(part))
        made = Term(factor, tuple(above), tuple(map(self._plain, below)), frozenset())
        return replace(made, sums=frozenset(sums | (set(made.indices()) - set(indices))))

    def _plain(self, node):
        """Without reductions and repeated indices."""
        if isinstance(node, Access) and len(set(node.indices)) < len(node.indices):
            return self._diagonal(node)
        return self._kept(node) if isinstance(node, Reduction) else rebuilt(node, self._plain)

    def _exact(self, node):
        """A fold's argument is only read, compared and chosen from, so that the backward pass finds the same numbers again."""
        exact = isinstance(node, Number) or (isinstance(node, Call) and (
            node.function in ("where", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not") or
            (node.function == "-" and len(node.arguments) == 1)))
        if isinstance(node, Access):
            return self._plain(node)
        return rebuilt(node, self._exact) if exact else self._kept(node)

    def _kept(self, node):
        """The access to an intermediate that holds the value of a tree."""
        if node not in self.known:
            self.known[node] = Access(self.names.fresh("T"), free(node))
            self.statement(self.known[node].name, free(node), node)
        return self.known[node]

    def _diagonal(self, access):
        if access not in self.known:
            self.known[access] = Access(self.names.fresh(access.name), free(access))
            self.steps.append(Diagonal(self.known[access].name, free(access), self.layouts, source=access))
        return self.known[access]


def _distributed(term):
    """sum(j)(a(j) + b(j)) as two terms."""
    if len(term.above) == 1 and not term.below and isinstance(term.above[0], Reduction) and term.above[0].fold == "sum":
        over = set(term.above[0].indices)
        parts = terms_of(term.above[0].argument, frozenset(over))
        if all(over <= set(part.indices()) for part in parts):
            return [replace(part, factor=part.factor * term.factor) for part in parts]
    return [term]


def steps_of(text, layouts, dense_result):
    """(steps, the last of which is the result, names): of a program with ordinary arithmetic. `layouts`: of sparse operands; those of
    steps are added. Raises Unsupported for other semirings."""
    told = parsed(text)
    if told["semiring"] != "plus-times":
        raise unsupported("gradient", f"`{text}`: gradients are of sums and products; under {told['semiring']} write the reductions out, "
                                      "as in `D(i,k) = min(j)(B(i,j) + C(j,k))`")
    taken = {name for statement in told["statements"] for access in (statement["result"], *accesses(statement["value"]))
             for name in (access.name, *access.indices)}
    if any(name.startswith(_RESERVED) for name in taken):
        raise unsupported("gradient", f"`{text}`: names that begin with `{_RESERVED}` are those of tensors that gradients need; "
                                      "rename yours")
    names = Names(taken | {operand["name"] for operand in told["operands"]})
    lift = _Lift(names, layouts)
    for statement in told["statements"]:
        name, indices, value = statement["result"].name, statement["result"].indices, statement["value"]
        if statement["update"] is not None:
            value = _updated(statement["result"], statement["update"], value)
            name = names.fresh(name)
        lift.statement(name, indices, value)
    steps = lift.steps
    while _stored(steps, layouts, dense_result) or _inlined(steps, layouts):
        pass
    return _as_kernels(steps, names), names


def _updated(old, update, value):
    if update == "sum":
        return Call("+", (old, value))
    return Call("*" if update == "prod" else update, (old, value))


# ---- what is stored where ----

def _sparse_factors(parts, layouts):
    """The keys of the sparse tensors that multiply a term."""
    return {layouts[part.name].key(part.indices): part for part in parts if isinstance(part, Access) and part.name in layouts}


def _stored(steps, layouts, dense_result):
    """Finds steps that are zero, or not read, but at the entries of a sparse tensor. True when there were more."""
    found = False
    for step in itertools.chain(steps, reversed(steps)):
        if step.name in layouts or not isinstance(step, Sum) or (step is steps[-1] and dense_result):
            continue
        if step.terms:
            common = set.intersection(*(set(_sparse_factors(term.above, layouts)) for term in step.terms))
            if _store(step, layouts, common):
                found = True
                continue
        if step is not steps[-1]:
            places = [guards for reader in steps for guards in _read_at(reader, step, layouts)]
            if _store(step, layouts, set.intersection(*places) if places else set()):
                found = True
    return found


def _store(step, layouts, keys):
    """At one of the keys whose indices are all the step's: those of the most modes first."""
    fitting = [key for key in sorted(keys) if key[1] and len(set(key[1])) == len(key[1]) and set(key[1]) <= set(step.indices)]
    if not fitting:
        return False
    base, indices = max(fitting, key=lambda key: len(key[1]))
    layouts[step.name] = Layout(base, tuple(step.indices.index(index) for index in indices))
    return True


def _read_at(reader, step, layouts):
    """For each reading of a step: the keys, in the step's own indices, of the sparse tensors that are not zero there."""
    if isinstance(reader, Diagonal):
        trees = [(reader.source, {})]
    elif isinstance(reader, Sum):
        trees = [(part, _sparse_factors(term.above, layouts)) for term in reader.terms for part in term.above + term.below]
    else:
        trees = [(reader.argument, {})]
    for tree, around in trees:
        for access, guards in _guarded(tree, set(around), layouts):
            if access.name == step.name:
                own = dict(zip(access.indices, step.indices)) if len(set(access.indices)) == len(access.indices) else {}
                yield {(base, tuple(own[index] for index in indices)) for base, indices in guards if set(indices) <= set(own)}


def _guarded(node, guards, layouts):
    if isinstance(node, Access):
        yield node, guards
    elif isinstance(node, Call) and node.function == "where":
        condition, chosen, other = node.arguments
        yield from _guarded(condition, guards, layouts)
        yield from _guarded(chosen, guards | _implied(condition, layouts), layouts)
        yield from _guarded(other, guards, layouts)
    else:
        if isinstance(node, Call) and node.function == "*":
            guards = guards | set(_sparse_factors(node.arguments, layouts))
        for child in children(node):
            yield from _guarded(child, guards, layouts)


def _implied(condition, layouts):
    """The keys of tensors that are not zero where the condition holds: `B(i,j) != 0`, `B(i,j) > 0`, `B(i,j)`."""
    if isinstance(condition, Call) and condition.function in ("!=", ">") and isinstance(condition.arguments[1], Number):
        number = condition.arguments[1].value
        if number == 0 or (number > 0 and condition.function == ">"):
            condition = condition.arguments[0]
    return set(_sparse_factors([condition], layouts))


def _inlined(steps, layouts):
    """Puts the definition of a dense intermediate that reads sparse tensors and sums nothing where it is read: a sum of sparse matrices
    is never formed. True when there was one."""
    for step in steps[:-1]:
        reads_sparse = any(access.name in layouts for access in step.reads())
        if not isinstance(step, Sum) or step.name in layouts or not reads_sparse or any(term.sums for term in step.terms):
            continue
        readers = [reader for reader in steps if any(access.name == step.name for access in reader.reads())]
        if not all(isinstance(reader, Sum) for reader in readers):
            continue
        steps.remove(step)
        for reader in readers:
            reader.terms = [new for term in reader.terms for new in _substituted(term, step)]
        return True
    return False


def _substituted(term, step):
    """The terms of a term with a step's definition in the place of its readings; a factor that is a sum is multiplied out."""
    def inside(node):
        if isinstance(node, Access) and node.name == step.name:
            names = dict(zip(step.indices, node.indices))
            return Call("+", tuple(renamed(product(Number(one.factor), one.tree()), names) for one in step.terms))
        return rebuilt(node, inside)

    made = [Term(term.factor, (), tuple(map(inside, term.below)), term.sums)]
    for part in term.above:
        if isinstance(part, Access) and part.name == step.name:
            factors = terms_of(inside(part))
        else:
            factors = [_single(inside(part))]
        made = [Term(one.factor * factor.factor, one.above + factor.above, one.below + factor.below, term.sums)
                for one in made for factor in factors]
    return made


# ---- kernels at the entries ----

def ones_at(base):
    """The name of the tensor of ones at the entries of an operand."""
    return f"{_RESERVED}at_{base}"


def _at_entries(step):
    """Sees to it that a step that is stored at entries is computed there alone, over vectors of values where all it reads is there."""
    layout = step.layout()
    if layout is None or not isinstance(step, Sum):
        return
    key = layout.key(step.indices)
    order = len(layout.modes)
    ones = Access(ones_at(layout.base), key[1])
    for at, term in enumerate(step.terms):
        if key not in _sparse_factors(term.above, step.layouts):
            step.terms[at] = replace(term, above=(ones, *term.above))
    step.layouts.setdefault(ones.name, Layout(layout.base, tuple(range(order))))
    for access in step.reads():
        read = step.layouts.get(access.name)
        if read is None and set(access.indices) & set(key[1]) or read is not None and read.key(access.indices) != key:
            return
    if any(set(key[1]) & term.sums for term in step.terms):
        return
    step.flat = key


def _as_kernels(steps, names):
    """The steps, each computed where it is stored and within what a statement may have."""
    made = []
    for step in steps:
        if isinstance(step, Sum):
            _at_entries(step)
            if step.flat is None:
                step.terms = [_joined(term, step.layouts, names, made) for term in step.terms]
            pieces = [_short(term, step.layouts, names, made) for term in step.terms]
            while sum(map(_count, pieces)) > _OPERANDS and len(pieces) > 1:
                taken = 1
                while taken < len(pieces) and sum(map(_count, pieces[:taken + 1])) < _OPERANDS:
                    taken += 1
                part = _extracted(step, pieces[:taken], names, made)
                pieces = [*pieces[taken:], Term(1.0, (part,), (), frozenset())]
            step.terms = pieces
        made.append(step)
    return made


def _joined(term, layouts, names, made):
    """The term with one factor for all that are stored at the same entries: their product, over vectors of values."""
    alike = {}
    for part in term.above:
        if isinstance(part, Access) and part.name in layouts:
            alike.setdefault(layouts[part.name].key(part.indices), []).append(part)
    above = term.above
    for key, parts in alike.items():
        if len(parts) == 1:
            continue
        others = tuple(part for part in above if part not in parts)
        parts = [part for part in parts if part.name != ones_at(key[0])] or parts[:1]
        if len(parts) > 1:
            inside = call("*", *parts)
            step = Sum(names.fresh("V"), free(inside), layouts, terms=[Term(1.0, tuple(parts), (), frozenset())])
            _store(step, layouts, {key})
            _at_entries(step)
            made.append(step)
            parts = [Access(step.name, step.indices)]
        above = (*parts, *others)
    return replace(term, above=above)


def _count(term):
    return sum(1 for _ in accesses(term.tree()))


def _extracted(step, terms, names, made):
    """The access to a new step of some of a step's terms, stored as it is."""
    name = names.fresh("V")
    if step.layout() is not None:
        step.layouts[name] = step.layout()
    made.append(Sum(name, step.indices, step.layouts, terms=terms))
    _at_entries(made[-1])
    return Access(name, step.indices)


def _short(term, layouts, names, made):
    """The term with parts computed before, each by a step, where it has more operands or factors than a statement may have."""
    while _count(term) > _OPERANDS or len(term.above) + len(term.below) > _FACTORS:
        side = max(term.above, term.below, key=lambda parts: max((sum(1 for _ in accesses(part)) for part in parts), default=0))
        parts = sorted(side, key=lambda part: isinstance(part, Access))  # the first is taken out, or two accesses
        parts, others = (parts[:2], parts[2:]) if isinstance(parts[0], Access) else (parts[:1], parts[1:])
        inside = product(*parts)
        name, indices = names.fresh("V"), free(inside)
        step = Sum(name, indices, layouts, terms=terms_of(inside))
        _store(step, layouts, set(_sparse_factors(term.above, layouts)))
        made += _as_kernels([step], names)
        kept = (*others, Access(name, indices))
        term = replace(term, above=kept) if side is term.above else replace(term, below=kept)
    return term


def flattened(step, entry):
    """The step over the index `entry` of the stored values, dense modes behind."""
    def change(node):
        if isinstance(node, Access) and node.name in step.layouts:
            if node.name == ones_at(step.flat[0]):
                return ONE
            return Access(node.name, (entry, *(index for index in node.indices if index not in step.flat[1])))
        return rebuilt(node, change)

    terms = []
    for term in step.terms:
        above = tuple(part for part in map(change, term.above) if part != ONE)
        terms.append(replace(term, above=above, below=tuple(map(change, term.below))))
    return (entry, *(index for index in step.indices if index not in step.flat[1])), terms


# ---- texts ----

def text_of(result, terms):
    """A statement; `terms` without factors of their own."""
    texts = []
    for term in terms:
        body = term.tree()
        hidden = any(set(free(part)) & term.sums and not isinstance(part, Access) for part in term.above + term.below)
        text = printed(body if not hidden else Reduction("sum", tuple(sorted(term.sums)), body), 2)
        if term.factor == 1:
            texts.append(("+", text))
        else:
            text = text if abs(term.factor) == 1 else f"{printed(Number(abs(term.factor)))} * {text}"
            texts.append(("-" if term.factor < 0 else "+", text))
    first, *others = texts
    left = f"(-{first[1]})" if first[0] == "-" else first[1]
    return f"{printed(result)} = {left}" + "".join(f" {sign} {text}" for sign, text in others)


# ---- derivatives of steps ----

def statement_of(step):
    """The text of a step, over all of its indices."""
    result = Access(step.name, step.indices)
    if isinstance(step, Fold):
        return f"{printed(result)} = {step.fold}({','.join(step.over)})({printed(step.argument)})"
    return text_of(result, step.terms)


def derivative_steps(step, wanted, seed, result, names):
    """The steps, the last of which is `result`, that give the derivative with respect to an access, times the `seed`, the gradient of the
    step's own value, which they may read by its name. None: it is zero everywhere. The library differentiates the statement of the step."""
    layouts = dict(step.layouts)
    if step.layout() is not None:
        layouts[seed] = step.layout()
    if wanted.name in layouts:
        layouts[result] = layouts[wanted.name]
    alone = Access(names.fresh(wanted.name), wanted.indices)
    told = parsed(gradient(statement_of(_with_access(step, wanted, alone)), alone.name, seed=seed, name=result))
    if seed not in [operand["name"] for operand in told["operands"]]:
        return None
    statements = [statement for statement in told["statements"] if statement["result"].name != step.name]
    apart = {statement["result"].name: names.fresh(statement["result"].name) for statement in statements[:-1]}
    lift = _Lift(names, layouts)
    for statement in statements:
        target = statement["result"]
        value = _with_names(statement["value"], {**apart, alone.name: wanted.name})
        if isinstance(step, Fold) and target.name != result:
            value = _counted_at_entries(value, step, layouts)
        lift.statement(apart.get(target.name, target.name), target.indices, value)
    return _as_kernels(lift.steps, names)


def _with_access(step, wanted, other):
    """A step that reads another tensor in the place of an access."""
    def change(node):
        return other if node == wanted else rebuilt(node, change)

    if isinstance(step, Fold):
        return replace(step, argument=change(step.argument))
    return replace(step, terms=[replace(term, above=tuple(map(change, term.above)), below=tuple(map(change, term.below))) for term in step.terms])


def _with_names(node, names):
    """A tree with other names of tensors."""
    if isinstance(node, Access):
        return Access(names.get(node.name, node.name), node.indices)
    return rebuilt(node, lambda child: _with_names(child, names))


def _counted_at_entries(value, step, layouts):
    """How many elements are the extremum: of a sparse tensor, of those that are stored."""
    stored = _sparse_factors([step.argument], layouts)
    if step.fold not in ("max", "min") or not stored:
        return value
    for base, indices in stored:
        layouts[ones_at(base)] = Layout(base, tuple(range(len(indices))))
    return Reduction("sum", step.over, call("*", *(Access(ones_at(base), indices) for base, indices in stored), value.argument))

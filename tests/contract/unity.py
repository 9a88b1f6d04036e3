"""Finds names that would meet if the sources of one library were compiled as one (SCHAAS_UNITY)."""

import collections
import pathlib
import re

TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r'|[A-Za-z_]\w*|\d[\w.\']*|::|->|\S', re.DOTALL | re.MULTILINE)
TYPES = {"class", "struct", "enum", "union", "concept"}
OPENING, CLOSING = "({[", ")}]"
QUALIFIER = re.compile(r"\w+ :: ")
PARAMETER_NAME = re.compile(r"(?<=[\w>&*]) [A-Za-z_]\w*(?: = .*)?$")


def tokens(text):
    """The tokens of a source without comments, literals and preprocessor lines."""
    for match in TOKENS.finditer(text):
        token = match.group()
        if token.startswith(("//", "/*")) or token.lstrip().startswith("#"):
            continue
        yield '""' if token[0] in "\"'" or token.startswith('R"') else token


def is_function(statement):
    """True for the head of a function and its body; a variable has "=" before any parenthesis."""
    head = statement[:statement.index("(")] if "(" in statement else ["="]
    return "=" not in head or "operator" in head


def statements(stream):
    """(namespace, tokens) of each declaration at namespace scope; an anonymous namespace is called "-"."""
    spaces, statement, stream = [], [], iter(stream)
    for token in stream:
        if token == "}" and not statement:
            if spaces:
                spaces.pop()
        elif token == "{" and statement[:1] == ["namespace"]:
            spaces.append("".join(statement[1:]) or "-")
            statement = []
        elif token in OPENING:
            body = [token]
            depth = 1
            while depth:
                inner = next(stream)
                depth += (inner in OPENING) - (inner in CLOSING)
                body.append(inner)
            statement += body if token != "{" else ["{", "}"]
            if token == "{" and is_function(statement):
                yield "::".join(spaces), statement
                statement = []
        elif token == ";":
            yield "::".join(spaces), statement
            statement = []
        else:
            statement.append(token)


def without_template(statement):
    """The declaration after its attributes and the template parameters."""
    if statement[:2] == ["[", "["]:
        return without_template(statement[statement.index("]") + 2:])
    if statement[:1] != ["template"]:
        return statement
    depth = 0
    for index, token in enumerate(statement):
        depth += (token == "<") - (token == ">")
        if token == ">" and depth == 0:
            return without_template(statement[index + 1:])
    return []


def parameters(statement, opened):
    """The types of a function's parameters, without their names and default values."""
    found, depth, part = [], 0, []
    for token in statement[opened + 1:]:
        depth += (token in "([{<") - (token in ")]}>")
        if depth < 0 or (depth == 0 and token == ","):
            found.append(PARAMETER_NAME.sub("", " ".join(part)))
            part = []
            if depth < 0:
                break
        else:
            part.append(token)
    return tuple(part for part in found if part)


def declared(statement):
    """(name, parameter types or None) that a declaration introduces; None where it introduces nothing new."""
    statement = without_template(statement)
    if statement[:1] == ["using"] and statement[-2:-1] == ["::"] and "=" not in statement:
        return statement[-1], "".join(statement[1:])
    if not statement or statement[0] in ("using", "namespace", "friend", "extern", "static_assert", "typedef"):
        alias = statement[:1] == ["using"] and statement[2:3] == ["="]
        return (statement[1], QUALIFIER.sub("", " ".join(statement[2:]))) if alias else None
    if statement[0] in TYPES:
        names = [token for token in statement[1:] if token not in ("class", "final", "alignas")]
        return (names[0], None) if "{" in statement or "=" in statement else None
    for index, token in enumerate(statement):
        if token == "(":
            if statement[index - 1] == "operator" or not re.match(r"[A-Za-z_]", statement[index - 1]):
                return None
            if statement[index - 2] == "::":  # a member
                return None
            return statement[index - 1], parameters(statement, index)
        if token in "={[" or index == len(statement) - 1:
            name = statement[index - 1] if token in "={[" else token
            return (name, None) if re.match(r"[A-Za-z_]", name) else None
    return None


def further_names(statement):
    """b and c of `constexpr int a = 1, b = 2, c[] = {3};`."""
    depth = 0
    for token, name in zip(statement, statement[1:]):
        depth += (token in OPENING + "<") - (token in CLOSING + ">")
        if depth == 0 and token == ",":
            yield name


def names_of(text):
    """((namespace, name, parameter types), anonymous) of each declaration of a file."""
    for space, statement in statements(tokens(text)):
        found = declared(statement)
        if not found:
            continue
        anonymous, space = space.endswith("-"), space.removesuffix("::-")
        yield (space, *found), anonymous
        if statement[:1] == ["constexpr"] and found[1] is None:
            yield from (((space, name, None), anonymous) for name in further_names(statement))


def sources(root):
    """(file, library) of each source and header; a library is the nearest folder above with a CMakeLists.txt."""
    for top in ("compiler", "kernels_cache", "server", "client", "tests/support"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".cc", ".h"):
                continue
            folder = path.parent
            while folder != root and not (folder / "CMakeLists.txt").is_file():
                folder = folder.parent
            yield path, folder.relative_to(root).as_posix()


Declaration = collections.namedtuple("Declaration", "path anonymous kind")  # kind: parameter types, what an alias stands for, or None


def agree(left, right):
    """Two declarations of one name may be seen in one file: overloads in one scope, for an inner one hides an outer, or names of one entity."""
    if isinstance(left.kind, tuple) and isinstance(right.kind, tuple):
        return left.kind != right.kind and left.anonymous == right.anonymous
    return left.kind is not None and left.kind == right.kind


def clashes(root):
    """Lines that name each clash: library, name, files."""
    root = pathlib.Path(root)
    homes = collections.defaultdict(list)  # (library, namespace, name) -> declarations
    for path, library in sources(root):
        for (space, name, kind), anonymous in names_of(path.read_text(encoding="utf-8")):
            homes[(library, space, name)].append(Declaration(path.relative_to(root).as_posix(), anonymous, kind))
    lines = []
    for (library, _space, name), found in homes.items():
        files = set()
        for n, one in enumerate(found):
            for other in found[:n]:
                if one.path != other.path and (one.anonymous or other.anonymous) and not agree(one, other):
                    files |= {one.path, other.path}
        if files:
            lines.append(f"{library}: {name} in {', '.join(sorted(files))}")
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(clashes(pathlib.Path(__file__).resolve().parents[2])))

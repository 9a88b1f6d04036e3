"""The vocabulary of the code, as a table, and the scan that compares comments, names, messages and tests with it.

    python3 tests/contract/vocabulary.py [ROOT]     prints the violations; exit status 1 when there are any

A word of the left column was once used here for a thing that the field calls by the right column. docs/STYLE.md says how comments are
written. Names that others depend on stay: they are listed with the reason.
"""

import pathlib
import re
import sys

# Folders (or files) that are checked, whole. Others are added as their words are replaced.
DONE = [
    "client",
    "server",
    "kernels_cache",
    "compiler/index_notation",
    "compiler/format",
    "compiler/problem",
    "compiler/operators",
    "compiler/concrete_notation",
    "compiler/schedule",
    "compiler/merge_lattice",
    "compiler/loop_ir",
    "compiler/lower",
    "compiler/codegen",
    "compiler/toolchain",
    "compiler/pipeline",
    "compiler/support",
    "compiler/cost",
    "compiler/space",
    "compiler/frontier",
    "tests/service",
    "tests/unit/kernels_cache/kernels_cache_test.cc",
    "tests/unit/kernels_cache/job_store_test.cc",
    "README.md",
    "docs",
    "deploy",
]
# Parts of the above that are not checked, and why.
LEFT_OUT = {
    "docs/lab_diary.md": "dated notes in the words of their day",
    "docs/reference": "made from the code",
}

# old word (regular expression, whole words) -> the word to use
WORDS = {
    r"(ask|asked|read)_ahead": "prefetch",
    r"taken_pieces|taken pieces": "chunk scheduler",
    r"met_rows|met rows": "referenced rows",
    r"rows_in_use|rows in use": "occupied rows",
    r"alike_rows|alike rows": "supernode",
    r"short_rows": "loop flattening",
    r"row_products": "packed factor panel",
    r"manner": "annotation",
    r"indivisible": "atomic",
    r"one_writer|one writer": "exclusive",
    r"order_is_chance|order is chance|by chance": "nondeterministic",
    r"values_alone|values alone": "numeric phase",
    r"(give|gives|gave|giving) up": "overflow",
    r"(?<!in )(?<!first )places?|\w+_place|place_\w+": "slot, index, offset, capacity, position",
    r"stretch(es)?": "range, segment",
    r"looser\w*": "relaxed constraints, subsumption",
    r"rivals?|rivalry": "competitor",
    r"contests?|contend": "autotuning",
    r"kept_repl\w+|(tell|tells|told) again": "response cache, replay",
    r"keeper_?": "evictor",
    r"used longest ago": "least recently used",
    r"crew": "thread pool",
    r"crowded": "overloaded",
    r"courtesy|\w+_courtesy": "starvation bound",
    r"awaited": "interactive",
    r"drafts?|drafted_?": "baseline kernel",
    r"\w*_?doors?": "HTTP server",
    r"who may ask": "authorise",
    r"vouch(es)?": "certificate authority",
    r"silence": "keepalive time",
    r"(say|says|said) hello": "handshake",
    r"put_off_?|(put|puts) off": "back off",
    r"forget|forgets|forgot|forgotten|forget_\w+": "purge",
    r"(take|takes|taken) up": "resume",
    r"written_as": "stored format",
    r"(most|least|longest)_\w+": "max_, min_",
    r"trying_\w+": "validating",
}

# Names on the wire, on disk or in the ABI: they change only where a version is raised.
EXTERNAL = {
    r"(\.|->|set_)looser|\"looser\"": "field of v1::Frontier, key of a stored frontier",
    r"(\.|add_)rivals?|v1::Rival": "message and field of v1::Explanation",
    r"(\.|set_)(draft|order_is_chance|one_writer)": "fields of v1::Kernel, v1::GpuSchedule",
    r", draft\"": "name of a target in answers",
    r"v\(\"(draft|one_writer|order_is_chance)\"": "keys of answers as JSON",
    r"\"(rivals|written_as)\"": "keys of the program's JSON",
    r"args, int64_t places": "parameter in proto/kernel_abi.h",
    r"std::in_place_index": "C++ standard library",
}
# The same names as documents quote them.
QUOTED = {
    r"`(draft|looser|rivals|written_as|places|order_is_chance)`": "fields of messages and members of JSON",
}
# Names of folders that are not in DONE yet.
ELSEWHERE = {
    r"client_kernel_skips": "tests/unit/kernels",
}
KEPT = re.compile(r"(?:" + "|".join([*EXTERNAL, *QUOTED, *ELSEWHERE]) + r")(?![A-Za-z_])")

OPENERS = "Of|That|What|Who|Whose|Whether|Where|How"
SENTENCE_WORDS = 25

STRING = r'"(?:\\.|[^"\\\n])*"'
COMMENT = re.compile(r"(?P<string>" + STRING + r")|//[/!]?<?(?P<comment>[^\n]*)")
# Comments of scripts and configurations; documents have none.
HASH_COMMENT = re.compile(r"(?P<string>" + STRING + r")|(?:^|(?<=\s))#(?P<comment>[^!\n][^\n]*)")
CODE = {".h", ".cc"}
SCRIPTS = {".sh", ".py", ".toml", ".yaml", ".service", ".cmake", ".txt", ".in", ""}
DOCUMENTS = {".md", ".svg"}
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")


def sources(root):
    for top in DONE:
        path = root / top
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(root).as_posix()
            checked = CODE if re.match("compiler|server|kernels_cache|client|tests", top) else CODE | SCRIPTS | DOCUMENTS
            if file.suffix in checked and file.is_file() and not name.startswith(tuple(LEFT_OUT)):
                yield name, file.read_text(encoding="utf-8")


def comment_of(suffix):
    """The pattern of comments in files of a suffix; None: such files have none."""
    return COMMENT if suffix in CODE else HASH_COMMENT if suffix in SCRIPTS else None


def comments(text, suffix=".cc"):
    """(line, text) of each comment; the lines of a block are one."""
    pattern = comment_of(suffix)
    if pattern is None:
        return []
    found, last = [], -1
    for number, line in enumerate(text.split("\n"), 1):
        match = next((m for m in pattern.finditer(line) if m.group("comment") is not None), None)
        if match is None:
            continue
        alone = not line[:match.start()].strip()
        if alone and last == number - 1 and found:
            found[-1][1].append(match.group("comment"))
        else:
            found.append((number, [match.group("comment")]))
        last = number if alone else -1
    return [(number, "\n".join(lines)) for number, lines in found]


def sentences(comment):
    """Prose sentences: indented examples, lists of errors and code are left out."""
    prose = " ".join(line.strip() for line in comment.split("\n") if not re.match(r"\s{3,}|$", line))
    for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z`\"0-9(])|(?<=[.;])\s", prose):
        if not sentence.startswith("Errors") and "[" not in sentence:
            yield sentence


def violations_in(path, text):
    plain = KEPT.sub("", text)
    for number, line in enumerate(plain.split("\n"), 1):
        if re.match(r"\s*#\s*include", line):
            continue
        for old, new in WORDS.items():
            match = re.search(r"(?<![A-Za-z])(?:" + old + r")(?![A-Za-z])", line)
            if match:
                yield f"{path}:{number}: `{match.group(0)}`; use: {new}"
    for number, comment in comments(text, pathlib.PurePath(path).suffix):
        if re.match(r"\s*(" + OPENERS + r")\b", comment, re.IGNORECASE):
            yield f"{path}:{number}: a comment begins with `{comment.split()[0]}`; use a verb and its object, or a noun"
        for sentence in sentences(comment):
            if len(sentence.split()) > SENTENCE_WORDS:
                yield f"{path}:{number}: a sentence of {len(sentence.split())} words; at most {SENTENCE_WORDS}"
    for suite, name in TEST.findall(text):
        if re.match(r"(" + OPENERS + r")(?![a-z])|[a-z]", name):
            yield f"{path}: test {suite}.{name}; use Subject.DoesSomething"


def violations(root):
    root = pathlib.Path(root)
    found = []
    for path, text in sources(root):
        for old, new in WORDS.items():
            if re.search(r"(?<![A-Za-z])(?:" + old + r")(?![A-Za-z])", pathlib.Path(path).stem):
                found.append(f"{path}: the name of the file; use: {new}")
        found.extend(violations_in(path, text))
    return found


if __name__ == "__main__":
    problems = violations(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)

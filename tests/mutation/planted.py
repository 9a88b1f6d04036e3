"""Lists of planted bugs, the verdicts of their last runs, and README.md's table, which is drawn from both.

A list is a *.txt beside this file, a bug a paragraph:

  name, in words
  file SOURCE
  test PROGRAM FILTER
  - exact text of the source (more lines: one `-` each)
  + its replacement
  argued WHY, where it changes nothing that a test could see

PROGRAM is a test program's target, FILTER what --gtest_filter takes. verdicts.tsv has a line for each bug that was run: name, state, the test that killed it, digest of the paragraph,
digest of the source. A verdict counts as long as the paragraph is the same; where the source has changed since, it is due again.
"""
import dataclasses
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERDICTS, README = HERE / "verdicts.tsv", HERE / "README.md"
STATES = ["dead", "argued", "alive", "not run"]
TABLE = re.compile(r"(?<=<!-- verdicts -->\n).*", re.DOTALL)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Planted:
    """One planted bug."""

    def __init__(self, paragraph, where):
        lines = paragraph.split("\n")
        self.name, self.text = lines[0], paragraph
        self.old, self.new, self.argued = [], [], ""
        for line in lines[1:]:
            key, _, rest = line.partition(" ")
            if key == "file":
                self.path = ROOT / rest
            elif key == "test":
                self.program, self.filter = rest.split(" ", 1)
            elif key == "argued":
                self.argued = rest
            elif key in ("-", "+"):
                (self.old if key == "-" else self.new).append(rest)
            else:
                sys.exit(f"{where}: `{self.name}` has the line `{line}`")
        self.old, self.new = "\n".join(self.old), "\n".join(self.new)

    def source(self):
        return str(self.path.relative_to(ROOT))

    def digest(self):
        return digest(self.text)

    def source_digest(self):
        return digest(self.path.read_text())


@dataclasses.dataclass(frozen=True)
class Verdict:
    state: str
    killer: str
    digest: str         # of the paragraph
    source_digest: str  # when it was run


def read():
    """The planted bugs of all lists."""
    found = []
    for path in sorted(HERE.glob("*.txt")):
        for paragraph in path.read_text().split("\n\n"):
            lines = [line for line in paragraph.split("\n") if line and not line.startswith("#")]
            if lines:
                found.append(Planted("\n".join(lines), path.name))
    return found


def misplaced(bugs):
    """A line for each bug whose text does not stand exactly once in its source."""
    return [f"{bug.source()}: {bug.path.read_text().count(bug.old)} times the text of `{bug.name}`"
            for bug in bugs if bug.path.read_text().count(bug.old) != 1]


def read_verdicts():
    rows = [line.split("\t") for line in VERDICTS.read_text().splitlines()]
    return {name: Verdict(*rest) for name, *rest in rows}


def write_verdicts(bugs, verdicts):
    """One line for each bug of the lists that has a verdict, in their order; errors of a list are none."""
    lines = ["\t".join([bug.name, *dataclasses.astuple(verdicts[bug.name])])
             for bug in bugs if bug.name in verdicts and verdicts[bug.name].state in STATES]
    VERDICTS.write_text("\n".join(lines) + "\n")


def state(bug, verdicts):
    verdict = verdicts.get(bug.name)
    return verdict.state if verdict and verdict.digest == bug.digest() else "not run"


def is_due(bug, verdicts):
    """The bug has no verdict, or its source has changed since."""
    return state(bug, verdicts) == "not run" or verdicts[bug.name].source_digest != bug.source_digest()


def folder(bug):
    """The module of a bug's source, as a row of the table."""
    parts = bug.source().split("/")[:-1]
    return "/".join(parts[:3 if parts[0] == "client" else 2])


def table(bugs, verdicts):
    """Sums and rows by folder, in Markdown."""
    rows = {}
    for bug in bugs:
        rows.setdefault(folder(bug), []).append(state(bug, verdicts))
    counted = {name: [states.count(one) for one in STATES] for name, states in rows.items()}
    sums = [sum(column) for column in zip(*counted.values())]
    lines = [f"{len(bugs)} planted: " + ", ".join(f"{count} {one}" for one, count in zip(STATES, sums)) + ".", "",
             "| sources | planted | " + " | ".join(STATES) + " |", "| --- |" + " --- |" * (1 + len(STATES))]
    for name in sorted(counted):
        lines.append(f"| `{name}` | {len(rows[name])} | " + " | ".join(map(str, counted[name])) + " |")
    return "\n".join(lines) + "\n"


def draw_table(bugs, verdicts):
    README.write_text(TABLE.sub(lambda _: table(bugs, verdicts), README.read_text()))

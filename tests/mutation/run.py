#!/usr/bin/env python3
"""Plants bugs one at a time and shows which of them a fast test kills.

  python3 tests/mutation/run.py [--build DIR] [--builder COMMAND] [--only WORD]... [--table FILE]

The planted bugs stand in *.txt beside this file, a paragraph each:

  name, in words
  file SOURCE
  test PROGRAM FILTER
  - exact text of the source (more lines: one `-` each)
  + its replacement
  argued WHY, where it changes nothing that a test could see

PROGRAM is a test program's target, FILTER what --gtest_filter takes. A bug is dead when the filtered tests fail, and alive when they
pass, or argued where the list says why that is right; tests that fail without any bug, texts that are not found exactly once and bugs that do not compile are errors of the list. Sources
are changed in place, one at a time, and restored in any case.
"""
import argparse
import pathlib
import shlex
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_SECONDS = 180


class Planted:
    """One planted bug."""

    def __init__(self, paragraph, where):
        lines = paragraph.split("\n")
        self.name = lines[0]
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


def read_planted():
    found = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.txt")):
        for paragraph in path.read_text().split("\n\n"):
            lines = [line for line in paragraph.split("\n") if line and not line.startswith("#")]
            if lines:
                found.append(Planted("\n".join(lines), path.name))
    return found


def check(planted):
    """Ends the program when a text is not found exactly once in its source."""
    wrong = [f"{one.source()}: {one.path.read_text().count(one.old)} times the text of `{one.name}`"
             for one in planted if one.path.read_text().count(one.old) != 1]
    if wrong:
        sys.exit("\n".join(wrong))


class Runner:
    def __init__(self, build, builder):
        self.build_folder, self.builder = build, shlex.split(builder)
        self.sound = {}  # (program, filter) -> tests pass without a planted bug

    def build(self, program):
        return subprocess.run([*self.builder, program], cwd=ROOT, capture_output=True, text=True)

    def tests_pass(self, one):
        program = self.build_folder / "bin" / one.program
        try:
            ran = subprocess.run([program, f"--gtest_filter={one.filter}", "--gtest_brief=1", "--gtest_fail_fast"], capture_output=True,
                                 text=True, timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return False, "time"
        if "0 tests ran" in ran.stdout:
            return True, "no test has this name"
        failed = [line.split("]", 1)[1].split(",")[0].split(" (")[0].strip() for line in ran.stdout.splitlines() if "FAILED  ]" in line and "." in line]
        return ran.returncode == 0, failed[0] if failed else f"exit status {ran.returncode}"

    def passes_without(self, one):
        key = (one.program, one.filter)
        if key not in self.sound:
            built = self.build(one.program)
            self.sound[key] = built.returncode == 0 and self.tests_pass(one)[0]
        return self.sound[key]

    def verdict(self, one):
        """dead, alive, argued or error, and what killed it or why it may live."""
        if not self.passes_without(one):
            return "error", "the tests fail without it"
        text = one.path.read_text()
        try:
            one.path.write_text(text.replace(one.old, one.new))
            built = self.build(one.program)
            if built.returncode != 0:
                return "error", "does not compile: " + next((line for line in built.stdout.splitlines() if "error" in line), "")
            passed, killer = self.tests_pass(one)
            if not passed:
                return "dead", killer
            return ("argued", one.argued) if one.argued else ("alive", "")
        finally:
            one.path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--builder", help="builds the target that it is given (default: ninja in the build folder)")
    parser.add_argument("--only", action="append", default=[], help="bugs whose name or source has this word")
    parser.add_argument("--table", type=pathlib.Path, help="a file for the table in Markdown")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # restores the source
    planted = read_planted()
    check(planted)
    chosen = [one for one in planted if not options.only or any(word in one.name + one.source() for word in options.only)]
    runner = Runner(options.build, options.builder or f"ninja -C {options.build}")
    rows, counts = [], {"dead": 0, "alive": 0, "argued": 0, "error": 0}
    for one in chosen:
        start = time.monotonic()
        state, by = runner.verdict(one)
        counts[state] += 1
        print(f"{state:6} {one.source()}: {one.name} ({by or one.program + ' ' + one.filter}; {time.monotonic() - start:.0f} s)", flush=True)
        rows.append(f"| `{one.source()}` | {one.name} | {state} | {by} |")
    for program in {one.program for one in chosen}:
        runner.build(program)  # without the last bug
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    if options.table:
        options.table.write_text("\n".join(["| source | planted bug | state | killed by |", "| --- | --- | --- | --- |", *rows]) + "\n")
    return 1 if counts["alive"] or counts["error"] else 0


if __name__ == "__main__":
    sys.exit(main())

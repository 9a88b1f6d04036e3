#!/usr/bin/env python3
"""Plants bugs one at a time and shows which of them a fast test kills.

  python3 tests/mutation/run.py [--build DIR] [--builder COMMAND] [--only WORD]... [--due]

The planted bugs stand in *.txt beside this file, as planted.py reads them. A bug is dead when the filtered tests fail, and alive when they
pass, or argued where the list says why that is right; tests that fail without any bug, texts that are not found exactly once and bugs that do not compile are errors of the list.
Sources are changed in place, one at a time, and restored in any case. Each verdict is written to verdicts.tsv at once, and README.md's table is drawn anew at the end.
"""
import argparse
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import planted as lists
from planted import ROOT

TEST_SECONDS = 180


class Runner:
    def __init__(self, build, builder):
        self.build_folder, self.builder = build, shlex.split(builder)
        self.sound = {}  # (program, filter) -> fault without a planted bug

    def build(self, program):
        return subprocess.run([*self.builder, program], cwd=ROOT, capture_output=True, text=True)

    def tests_pass(self, one):
        program = self.build_folder / "bin" / one.program
        try:
            ran = subprocess.run([program, f"--gtest_filter={one.filter}", "--gtest_brief=1", "--gtest_fail_fast"], capture_output=True,
                                 text=True, timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return False, "time"
        failed = [line.split("]", 1)[1].split(",")[0].split(" (")[0].strip() for line in ran.stdout.splitlines() if "FAILED  ]" in line and "." in line]
        return ran.returncode == 0, failed[0] if failed else f"exit status {ran.returncode}"

    def has_tests(self, one):
        program = self.build_folder / "bin" / one.program
        listed = subprocess.run([program, f"--gtest_filter={one.filter}", "--gtest_list_tests"], capture_output=True, text=True)
        return any(line.startswith("  ") for line in listed.stdout.splitlines())

    def fault_without(self, one):
        """Why the tests tell nothing of a planted bug; empty when they do."""
        key = (one.program, one.filter)
        if key not in self.sound:
            if self.build(one.program).returncode != 0:
                self.sound[key] = "the tests do not compile without it"
            elif not self.has_tests(one):
                self.sound[key] = "no test has this name"
            else:
                self.sound[key] = "" if self.tests_pass(one)[0] else "the tests fail without it"
        return self.sound[key]

    def verdict(self, one):
        """dead, alive, argued or error, and what killed it or why it may live."""
        if fault := self.fault_without(one):
            return "error", fault
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


def chosen_of(bugs, verdicts, options):
    """The bugs that the options ask for, those without a verdict first."""
    named = [bug for bug in bugs if not options.only or any(word in bug.name + bug.source() for word in options.only)]
    return sorted((bug for bug in named if not options.due or lists.is_due(bug, verdicts)), key=lambda bug: lists.state(bug, verdicts) != "not run")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--builder", help="builds the target that it is given (default: ninja in the build folder)")
    parser.add_argument("--only", action="append", default=[], help="bugs whose name or source has this word")
    parser.add_argument("--due", action="store_true", help="bugs without a verdict, and those whose source has changed since it")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # restores the source
    bugs, verdicts = lists.read(), lists.read_verdicts()
    if wrong := lists.misplaced(bugs):
        sys.exit("\n".join(wrong))
    chosen = chosen_of(bugs, verdicts, options)
    runner = Runner(options.build, options.builder or f"ninja -C {options.build}")
    counts = {"dead": 0, "alive": 0, "argued": 0, "error": 0}
    for bug in chosen:
        start = time.monotonic()
        state, by = runner.verdict(bug)
        counts[state] += 1
        print(f"{state:6} {bug.source()}: {bug.name} ({by or bug.program + ' ' + bug.filter}; {time.monotonic() - start:.0f} s)", flush=True)
        verdicts[bug.name] = lists.Verdict(state, by if state == "dead" else "", bug.digest(), bug.source_digest())
        lists.write_verdicts(bugs, verdicts)
    for program in {bug.program for bug in chosen}:
        runner.build(program)  # without the last bug
    lists.draw_table(bugs, verdicts)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["alive"] or counts["error"] else 0


if __name__ == "__main__":
    sys.exit(main())

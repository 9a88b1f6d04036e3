#!/usr/bin/env python3
"""Every command line of `schaas` that the documents show runs, in order, in a folder with files of the names they use, and
README.md shows what its commands print.

    commands_test.py BIN [Commands|Samples]                   BIN: folder with the programs
    SCHAAS_UPDATE=1 commands_test.py BIN Samples              writes the output of today into README.md
"""

import array
import gzip
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import unittest

import schaas_program as program

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]

# What is shown and not run here, and why.
LEFT_OUT = {
    r"schaas calibrate": "measures for ten seconds; cli.Calibration has it",
    r"schaas completion": "shown inside of an eval; cli.OtherCommands has it",
    r"schaas bundle \d": "the first line of a file",
    r".*--target cuda": "needs a GPU",
    r".*(HOST|host:|example\.org)": "needs another machine",
}


def commands(page):
    """The lines of indented blocks that begin with `schaas`, joined where they go on, without what is said beside them."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^    +(?:\$ )?(schaas [a-z].*)$", text, re.MULTILINE):
        line = re.split(r"(?<=\S)  +(?![-' ])", line)[0].strip()
        if not any(re.match(pattern, line) for pattern in LEFT_OUT):
            yield line


def write_npy(path, *shape):
    header = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    values = array.array("d", [0.5 * (n % 3) for n in range(math.prod(shape))])
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())


# Figures and choices of the machine at hand, which samples leave open.
MEASURED = [
    (r"\d[\d.,]* (ns|us|ms|s)\b", "TIME"),
    (r"\d+ threads?\b", "THREADS"),
    (r"(?<=relative error )\S+", "ERROR"),
    (r"(?m)^(problem +\w{16}), (?:searched|still being compiled).*", r"\1 SEARCHED"),
    (r"(?m)^( *(?:schedule|trace|time|memory|because)) .*", r"\1 CHOSEN"),
    (r"[ -]+", " "),
]


def without_figures(text):
    for pattern, name in MEASURED:
        text = re.sub(pattern, name, text)
    return text


def samples(text):
    """(command, output, begin, end) of each indented `$ ` line; the output is text[begin:end], indented."""
    for block in re.finditer(r"(?m)(?:^    .*\n(?:\n+(?=    ))?)+", text):
        for found in re.finditer(r"(?m)^    \$ (.*)\n((?:(?!    \$ ).*\n)*)", block.group(0)):
            output = re.sub(r"(?m)^    ", "", found.group(2))
            yield found.group(1), output, block.start() + found.start(2), block.start() + found.end(2)


class WithFolder(program.WithDaemon):
    """Commands run by a shell in a folder of their own, with the programs on PATH and the daemon as the server."""

    programs = PROGRAMS
    place = None

    def shell(self, command):
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("SCHAAS_", "XDG_"))}
        variables |= {"SCHAAS_SERVER": self.daemon.address, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder),
                      "XDG_DATA_HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=variables,
                              timeout=240, cwd=self.place or self.folder)


class Samples(WithFolder):
    maxDiff = None

    def test_readme_shows_what_its_commands_print(self):
        page, text = ROOT / "README.md", (ROOT / "README.md").read_text(encoding="utf-8")
        found = []
        for command, output, begin, end in samples(text):
            done = self.shell(command)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
            found.append((begin, end, done.stdout.rstrip("\n") + "\n"))
            if os.environ.get("SCHAAS_UPDATE") != "1":
                self.assertEqual(without_figures(output), without_figures(found[-1][2]),
                                 f"{command}: run SCHAAS_UPDATE=1 tests/service/commands_test.py {PROGRAMS} Samples")
        self.assertGreater(len(found), 2)
        if os.environ.get("SCHAAS_UPDATE") == "1":
            for begin, end, printed in reversed(found):
                text = text[:begin] + re.sub(r"(?m)^(?=.)", "    ", printed) + text[end:]
            page.write_text(text, encoding="utf-8")

    def test_figures_alone_may_differ(self):
        self.assertEqual(without_figures("run  15.6 ms on 2 threads\n"), without_figures("run 1.02 s on 64 threads\n"))
        self.assertNotEqual(without_figures("frontier 2 schedules\n"), without_figures("frontier 4 schedules\n"))
        self.assertNotEqual(without_figures("s1  i*l*j'\n"), without_figures("s1  3*i*l*j'\n"))

    def test_output_ends_where_the_next_command_begins(self):
        text = "Text\n\n    $ one\n    a\n\n    b\n    $ two\n\nText\n"
        self.assertEqual([(command, output) for command, output, _, _ in samples(text)], [("one", "a\n\nb\n"), ("two", "")])


class Commands(WithFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = cls.folder / "place"
        (cls.place / "build/quickstart").mkdir(parents=True)
        for name in ("A.mtx", "B.mtx", "roads.mtx", "graph.mtx"):
            program.write_matrix(cls.place / name, 60, 60, 300, seed=31)
        program.write_matrix(cls.place / "stiffness.mtx", 30, 30, 200, seed=32)
        packed = gzip.compress((cls.place / "graph.mtx").read_bytes())
        for name in ("graph.mtx.gz", "build/quickstart/debian.mtx.gz"):
            (cls.place / name).write_bytes(packed)
        write_npy(cls.place / "weights.npy", 20, 10)
        program.write_matrix(cls.place / "below.mtx", 30, 30, 60, seed=33)
        write_npy(cls.place / "diagonal.npy", 30)
        program.write_tensor(cls.place / "uber.tns", (20, 24, 30), 200, seed=34)
        page = (ROOT / "docs/command_line.md").read_text(encoding="utf-8")
        model = re.search(r'^    (\{"expression".*\n(?:    .*\n)+)', page, re.MULTILINE).group(1)
        (cls.place / "model.json").write_text(model)

    def run_page(self, name):
        shown = 0
        for command in commands(ROOT / name):
            command = re.sub(r" \[[A-Z]+\]", "", command)  # what may be left out
            if "KEY" in command:
                key = self.daemon.json("cache", "list")["entries"][0]["key"]
                if "lift" in command:
                    quarantine = self.folder / "data" / "quarantine"
                    quarantine.mkdir(exist_ok=True)
                    (quarantine / f"{key}.txt").write_text("wrong result\n")
                command = command.replace("KEY", key[:12])
            if "j7" in command:
                command = command.replace("j7", self.daemon.json("jobs")["jobs"][0]["id"])
            done = self.shell(command)
            self.assertEqual(done.returncode, 0, f"{name}: {command}\n{done.stdout}{done.stderr}")
            shown += 1
        return shown

    def test_readme(self):
        self.assertGreater(self.run_page("README.md"), 6)

    def test_command_line(self):
        self.assertGreater(self.run_page("docs/command_line.md"), 15)

    def test_other_pages(self):
        pages = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").glob("*.md") if page.name != "command_line.md")
        self.assertGreater(sum(self.run_page(page) for page in pages), 0)


if __name__ == "__main__":
    unittest.main()

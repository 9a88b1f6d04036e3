#!/usr/bin/env python3
"""Wrong uses of `schaas`: each with its exact message on standard error and its exit status.

    cli_test.py BIN      BIN: folder with the programs
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program  # noqa: E402

PROGRAMS = sys.argv.pop(1)
program.WithDaemon.programs = PROGRAMS
K4 = "A(i,l) = B(i,j) * C(j,k) * D(k,l)"
NOBODY = "unix:/nonexistent/schaas.sock"
COMMANDS = "run, schedule, emit, cache, info"

# Wrong whatever the server: words, exit status, the whole of standard error.
WITHOUT_SERVER = {
    "no command": ([], 2, f"invalid [command-line]: `schaas` needs a command: {COMMANDS}\n"
                          "  note: `schaas --help` explains them\n"),
    "unknown command": (["rum", K4], 2, f"invalid [command-line]: unknown command `rum`; did you mean `run`?; expected one of "
                                        f"{COMMANDS}\n"),
    "unknown option": (["run", K4, "--verfy"], 2, "invalid [command-line]: unknown option `--verfy` of `schaas run`; did you mean "
                                                  "`--verify`?\n"),
    "no expression": (["run", "--verify"], 2, "invalid [command-line]: `schaas run`: EXPR is required\n"
                                              "  note: `schaas run --help` shows its options\n"),
    "unquoted expression": (["run", "A(i)", "=", "B(i)"], 2, "invalid [command-line]: unexpected argument `=` of `schaas run`; an "
                                                             "expression with spaces must be quoted\n"),
    "cache without command": (["cache"], 2, "invalid [command-line]: `schaas cache` needs a command: list, show, verify\n"
                                            "  note: `schaas cache --help` explains them\n"),
    "unknown cache command": (["cache", "lst"], 2, "invalid [command-line]: unknown command `lst`; did you mean `list`?; expected "
                                                   "one of list, show, verify\n"),
    "cache show without key": (["cache", "show"], 2, "invalid [command-line]: `schaas cache show`: KEY is required\n"
                                                     "  note: `schaas cache show --help` shows its options\n"),
    "no threads": (["run", K4, "--threads", "0"], 2, "invalid [command-line]: --threads: Value 0 not in range 1 to 4096\n"),
    "threads not a number": (["run", K4, "--threads", "two"], 2, "invalid [command-line]: --threads: Value two not in range 1 to "
                                                                         "4096\n"),
    "no repeats": (["run", K4, "--repeat", "0"], 2, "invalid [command-line]: --repeat: Value 0 not in range 1 to 1000000\n"),
    "option without value": (["run", K4, "-t"], 2, "invalid [command-line]: --tensor: 1 required NAME=FILE missing\n"),
    "file without name": (["run", K4, "-t", "B.mtx"], 2, "invalid [option-syntax]: `-t B.mtx` is not of the form NAME=FILE; for "
                                                         "example: -t B=matrix.mtx.gz\n"),
    "name without file": (["run", K4, "-t", "B="], 2, "invalid [option-syntax]: `-t B=` is not of the form NAME=FILE; for "
                                                      "example: -t B=matrix.mtx.gz\n"),
    "format without name": (["schedule", K4, "-f", "csr"], 2, "invalid [option-syntax]: `-f csr` is not of the form NAME=FORMAT; "
                                                              "for example: -f B=csr\n"),
    "two files for a tensor": (["run", K4, "-t", "B=a.mtx", "-t", "B=b.mtx"], 2, "invalid [given-twice]: `-t B=...` is given "
                                                                                 "twice: `a.mtx` and `b.mtx`\n"),
    "two extents for an index": (["run", K4, "-d", "k=4", "-d", "k=5"], 2, "invalid [given-twice]: `-d k=...` is given twice: "
                                                                           "`4` and `5`\n"),
    "extent not a number": (["run", K4, "-d", "k=64x"], 2, "invalid [extent]: `-d k=64x`: the extent of index `k` must be a whole "
                                                           "number from 1 to 2^62 - 1, found `64x`\n"),
    "extent zero": (["run", K4, "-d", "k=0"], 2, "invalid [extent]: `-d k=0`: the extent of index `k` must be a whole number from "
                                                 "1 to 2^62 - 1, found `0`\n"),
    "extent too large": (["run", K4, "-d", "k=9223372036854775808"], 2,
                         "invalid [extent]: `-d k=9223372036854775808`: the extent of index `k` must be a whole number from 1 to "
                         "2^62 - 1, found `9223372036854775808`\n"),
    "unknown tensor": (["run", "Out(i,l) = Bee(i,j) * Cee(j,l)", "-t", "Bea=B.mtx"], 2,
                       "invalid [unknown-tensor]: `-t Bea=B.mtx`: there is no tensor `Bea` in the expression; did you mean `Bee`?\n"),
    "unknown tensor in format": (["run", K4, "-f", "X=csr"], 2, "invalid [unknown-tensor]: `-f X=csr`: there is no tensor `X` in "
                                                               "the expression\n"),
    "unknown index": (["run", "A(row,col) = B(row,mid) * C(mid,col)", "-d", "mit=4"], 2,
                      "invalid [unknown-index]: `-d mit=4`: there is no index `mit` in the expression; did you mean `mid`?\n"),
    "file for the result": (["run", K4, "-t", "A=a.npy"], 2, "invalid [result-file]: `-t A=a.npy`: `A` is the result; to write it "
                                                             "to a file use `-o a.npy`\n"),
    "gpu": (["run", K4, "--target", "cuda"], 3, "unsupported [target]: `--target cuda`: kernels for GPUs are not made yet; "
                                                "`--target cpu` works\n"),
    "unknown target": (["run", K4, "--target", "gpu"], 2, "invalid [target]: `--target gpu`: expected cpu or cuda; did you mean "
                                                          "`cpu`?\n"),
    "value type": (["run", K4, "--dtype", "f16"], 2, "invalid [value-type]: `--dtype f16`: expected f64 or f32\n"),
    "tune a named schedule": (["run", K4, "--tune", "--schedule", "linear"], 2,
                              "invalid [tune]: --tune measures the schedules of the frontier, so it cannot be combined with "
                              "`--schedule linear`\n"),
    "no stage 2 to skip": (["schedule", K4, "--no-stage2"], 2, "invalid [no-stage2]: --no-stage2 needs `--profile sparseauto`: the "
                                                               "default search has no stage 2\n"),
}


class WithoutServer(unittest.TestCase):
    maxDiff = None

    def test_each(self):
        for name, (words, status, message) in WITHOUT_SERVER.items():
            with self.subTest(name):
                done = program.run(PROGRAMS, *words, server=NOBODY)
                self.assertEqual((done.stderr, done.stdout, done.returncode), (message, "", status))

    def test_each_as_json(self):
        for name, (words, status, message) in WITHOUT_SERVER.items():
            with self.subTest(name):
                words = [*words, "--json"] if words[-1:] != ["-t"] else ["run", "--json", K4, "-t"]
                done = program.run(PROGRAMS, *words, server=NOBODY)
                self.assertEqual((done.stderr, done.returncode), (message, status))
                error = program.one_object(done.stdout)["error"]
                self.assertTrue(message.startswith(f"{error['family']} [{error['code']}]: {error['message']}\n"), error)


# Needs a daemon or files: words (with {d} for the test's folder), exit status, the whole of standard error.
WITH_SERVER = {
}


class WithServer(program.WithDaemon):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in FILES.items():
            (cls.folder / name).write_text(text)

    def test_each(self):
        for name, (words, status, message) in WITH_SERVER.items():
            with self.subTest(name):
                done = self.daemon.run(*[word.replace("{d}", str(self.folder)) for word in words])
                self.assertEqual((done.stderr.replace(str(self.folder), "{d}"), done.stdout, done.returncode), (message, "", status))


if __name__ == "__main__":
    unittest.main()

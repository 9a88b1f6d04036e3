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
COMMANDS = "run, schedule, tune, plot, emit, convert, formats, gradient, bundle, cache, admin, precompute, jobs, watch, cancel, retry, calibrate, info, doctor, completion, help"

# Wrong whatever the server: words, exit status, the whole of standard error.
WITHOUT_SERVER = {
    "no command": ([], 2, f"invalid [command-line]: `schaas` needs a command: {COMMANDS}\n"
                          "  note: `schaas --help` explains them\n"),
    "unknown command": (["rum", K4], 2, f"invalid [command-line]: unknown command `rum`; expected one of {COMMANDS}; did "
                                        "you mean `run`?\n"),
    "unknown option": (["run", K4, "--verfy"], 2, "invalid [command-line]: unknown option `--verfy` of `schaas run`; did you mean "
                                                  "`--verify`?\n"),
    "formats of several operands": (["formats", "y(i) = B(i,j) * x(j)", "-d", "i=3", "-d", "j=3"], 2,
                                    "invalid [command-line]: `schaas formats` compares formats of one operand, and 0 are sparse here\n"
                                    "  note: name it: `--of NAME`, one of `B`, `x`\n"),
    "formats of no operand": (["formats", "y(i) = B(i,j) * x(j)", "-d", "i=3", "-d", "j=3", "--of", "y"], 2,
                              "invalid [unknown-tensor]: `--of y` is no operand; operands are `B`, `x`\n"),
    "gradient of nothing": (["gradient", "y(i) = A(i,j) * x(j)"], 2, "invalid [command-line]: `schaas gradient`: --of is required\n"
                                                                     "  note: `schaas gradient --help` shows its options\n"),
    "gradient of no operand": (["gradient", "y(i) = A(i,j) * x(j)", "--of", "xs"], 2,
                               "invalid [unknown-tensor]: `y(i) = A(i,j) * x(j)` has no operand `xs`\n"),
    "gradient of a wrong statement": (["gradient", "y(i) = A(i,j * x(j)", "--of", "x"], 2,
                                      "invalid [syntax]: expected `,` or `)` after index `j` of `A`, found `*`\n"
                                      "  --> expression:1:14\n  | y(i) = A(i,j * x(j)\n  |              ^\n"),
    "gradient with a format of nothing": (["gradient", "y(i) = A(i,j) * x(j)", "--of", "x", "-f", "B=csr"], 2,
                                          "invalid [unknown-tensor]: the format of `B` is given, which is no operand\n"),
    "no part": (["tune", "runs.txt", "--part", "17/16"], 2,
                "invalid [part]: `--part 17/16` is no part; expected NUMBER/COUNT, as 1/16 to 16/16\n"),
    "part of words": (["tune", "runs.txt", "--part", "1/4x"], 2,
                      "invalid [part]: `--part 1/4x` is no part; expected NUMBER/COUNT, as 1/16 to 16/16\n"),
    "nothing to tune": (["tune", "/nonexistent/runs.txt"], 2,
                        "invalid [tune-file]: `/nonexistent/runs.txt` cannot be read, or lists no run\n"),
    "no expression": (["run", "--verify"], 2, "invalid [command-line]: `schaas run` needs an expression, or `--bundle FILE`\n"
                                              "  note: `schaas run --help` shows its options\n"),
    "unquoted expression": (["run", "A(i)", "=", "B(i)"], 2, "invalid [command-line]: unexpected argument `=` of `schaas run`; an "
                                                             "expression with spaces must be quoted\n"),
    "cache without command": (["cache"], 2, "invalid [command-line]: `schaas cache` needs a command: list, show, verify, pin, unpin, quarantine, lift, gc\n"
                                            "  note: `schaas cache --help` explains them\n"),
    "unknown cache command": (["cache", "lst"], 2, "invalid [command-line]: unknown command `lst`; expected one of list, show, "
                                                   "verify, pin, unpin, quarantine, lift, gc; did you mean `list`?\n"),
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
    "other case": (["run", K4, "-t", "b=B.mtx"], 2,
                   "invalid [unknown-tensor]: `-t b=B.mtx`: there is no tensor `b` in the expression; did you mean `B`?\n"),
    "file to write without -o": (["convert", "B.mtx", "C.mtx"], 2, "invalid [command-line]: unexpected argument `C.mtx` of `schaas "
                                                                   "convert`; the file to write is given as `-o C.mtx`\n"),
    "unknown tensor in format": (["run", K4, "-f", "X=csr"], 2, "invalid [unknown-tensor]: `-f X=csr`: there is no tensor `X` in "
                                                               "the expression\n"),
    "unknown index": (["run", "A(row,col) = B(row,mid) * C(mid,col)", "-d", "mit=4"], 2,
                      "invalid [unknown-index]: `-d mit=4`: there is no index `mit` in the expression; did you mean `mid`?\n"),
    "file for the result": (["run", K4, "-t", "A=a.npy"], 2, "invalid [result-file]: `-t A=a.npy`: `A` is the result; to write it "
                                                             "to a file use `-o a.npy`\n"),
    "output into no folder": (["run", K4, "-o", "/nonexistent/x.npy"], 2, "invalid [file-unwritable]: /nonexistent/x.npy cannot be "
                                                                          "written: No such file or directory\n"),
    "gpu": (["run", K4, "--target", "cuda"], 3, "unsupported [no-gpu]: no GPU can be used: the NVIDIA driver's library "
                                                "`libcuda.so.1` is not installed; kernels for the CPU (`--target cpu`) work\n"),
    "gpu schedule on the processor": (["run", K4, "--schedule", "g3"], 2, "invalid [target]: `--schedule g3` is a schedule for a GPU: "
                                                                          "`--target cuda` runs it\n"),
    "unknown target": (["run", K4, "--target", "gpu"], 2, "invalid [target]: `--target gpu`: expected cpu, cuda or auto; did you "
                                                          "mean `cpu`?\n"),
    "value type": (["run", K4, "--dtype", "c32"], 2, "invalid [value-type]: `--dtype c32`: expected f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, bool, c64 or c128\n"),
    "tune a named schedule": (["run", K4, "--tune", "--schedule", "linear"], 2,
                              "invalid [tune]: --tune measures the schedules of the frontier, so it cannot be combined with "
                              "`--schedule linear`\n"),
    "depth of no index": (["schedule", K4, "--memory-depth", "0"], 2, "invalid [command-line]: --memory-depth: Value 0 not in range "
                                                                      "1 to 16\n"),
    "negative wait": (["run", K4, "--wait", "-1"], 2, "invalid [command-line]: --wait: Value -1 not in range 0.000000 to 86400.000000\n"),
    "plot into nothing": (["plot", K4], 2, "invalid [command-line]: `schaas plot`: --output is required\n"
                                           "  note: `schaas plot --help` shows its options\n"),
    "plot into a picture": (["plot", K4, "-o", "x.jpg"], 2, "invalid [file-ending]: `-o x.jpg`: a plot is written as .svg or .png\n"),
    "plot into no folder": (["plot", K4, "-o", "/nonexistent/x.svg"], 2, "invalid [file-unwritable]: /nonexistent/x.svg cannot be "
                                                                         "written: No such file or directory\n"),
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


FILES = {
    'B.mtx': '%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.5\n3 2 -2\n',
    'short.mtx': '%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1.5\n3 2 -2\n',
    'wide.mtx': '%%MatrixMarket matrix coordinate real general\n4 5 1\n1 1 1\n',
    't.tns': '1 1 1 2.0\n2 3 4 1\n',
    'garbage.mtx': '\x00\x01\x02hello\n',
    'range.mtx': '%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n',
    'big.npy': 'not numpy\n',
}

# Needs a daemon or files: words (with {d} for the test's folder), exit status, the whole of standard error.
WITH_SERVER = {
    "unclosed parenthesis": (
        ["run", "A(i,l) = B(i,j) * C(j,k", "-t", "B={d}/B.mtx"], 2,
        "invalid [syntax]: expected `,` or `)` after index `k` of `C`, found the end of the expression\n"
        "  --> expression:1:24\n"
        "  | A(i,l) = B(i,j) * C(j,k\n"
        "  |                        ^\n"),
    "power": (
        ["run", "A(i,j) = B(i,j)^2", "-t", "B={d}/B.mtx"], 3,
        "unsupported [operator]: operator `^` is not in the language\n"
        "  --> expression:1:16\n"
        "  | A(i,j) = B(i,j)^2\n"
        "  |                ^\n"
        "  note: a power is written `pow(a,b)`\n"),
    "misspelt function": (
        ["run", "A(i,j) = rleu(B(i,j))", "-t", "B={d}/B.mtx"], 2,
        "invalid [unknown-function]: `rleu` is not a function; did you mean `relu`?\n"
        "  --> expression:1:10\n"
        "  | A(i,j) = rleu(B(i,j))\n"
        "  |          ^~~~\n"
        "  note: functions are pow, min, max, and, or, not, where, abs, exp, expm1, log, log1p, log2, log10, sqrt, sin, cos, "
        "tan, asin, acos, atan, sinh, cosh, tanh, sigmoid, erf, relu, sign, floor, ceil, round, conj, real, imag\n"),
    "function that the language lacks": (
        ["run", "A(i,j) = softplus(2 * B(i,j))", "-t", "B={d}/B.mtx"], 2,
        "invalid [unknown-function]: `softplus` is not a function\n"
        "  --> expression:1:10\n"
        "  | A(i,j) = softplus(2 * B(i,j))\n"
        "  |          ^~~~~~~~\n"
        "  note: functions are pow, min, max, and, or, not, where, abs, exp, expm1, log, log1p, log2, log10, sqrt, sin, cos, "
        "tan, asin, acos, atan, sinh, cosh, tanh, sigmoid, erf, relu, sign, floor, ceil, round, conj, real, imag\n"),
    "missing extent": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4"], 2,
        "invalid [missing-extent]: index `l` has no extent: no file given with -t uses it; add `-d l=N`\n"),
    "extent by option and file": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-d", "i=9"], 2,
        "invalid [extent-conflict]: index `i` has extent 9 by `-d i=9` but 3 by {d}/B.mtx (mode 1 of `B(i,j)`)\n"),
    "extent by two files": (
        ["run", K4, "-t", "B={d}/B.mtx", "-t", "C={d}/wide.mtx", "-d", "l=2"], 2,
        "invalid [extent-conflict]: index `j` has extent 3 by {d}/B.mtx (mode 2 of `B(i,j)`) but 4 by {d}/wide.mtx "
        "(mode 1 of `C(j,k)`)\n"),
    "missing file": (
        ["run", K4, "-t", "B={d}/nothere.mtx", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [file-missing]: there is no file {d}/nothere.mtx\n"),
    "misspelt file": (
        ["run", K4, "-t", "B={d}/b.mtx", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [file-missing]: there is no file {d}/b.mtx; did you mean `B.mtx`?\n"),
    "unknown ending": (
        ["run", K4, "-t", "B={d}/B.csv", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [file-ending]: {d}/B.csv has the ending `.csv`\n"
        "  note: known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input or output\n"),
    "folder": (
        ["run", K4, "-t", "B={d}", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [file-ending]: {d} has no ending\n"
        "  note: known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input or output\n"),
    "truncated file": (
        ["run", K4, "-t", "B={d}/short.mtx", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [too-few-entries]: the header promises 5 entries, the file has 2 (truncated?)\n"
        "  --> {d}/short.mtx:2:5\n"
        "  | 3 3 5\n"
        "  |     ^\n"),
    "coordinate out of range": (
        ["run", K4, "-t", "B={d}/range.mtx", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [coordinate-range]: row index 4 is beyond the 3 rows\n"
        "  --> {d}/range.mtx:3:1\n"
        "  | 4 1 1\n"
        "  | ^\n"),
    "binary garbage": (
        ["run", K4, "-t", "B={d}/garbage.mtx", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [mtx-header]: expected `%%MatrixMarket matrix coordinate real general` or the like, found binary "
        "data\n"
        "  --> {d}/garbage.mtx:1:1\n"
        "  |    hello\n"
        "  | ^\n"),
    "rank of a file": (
        ["run", K4, "-t", "B={d}/t.tns", "-d", "k=4", "-d", "l=2"], 2,
        "invalid [file-rank]: `B` has 2 indices in `B(i,j)`, but {d}/t.tns holds a tensor of order 3\n"),
    "FROSTT beyond a given extent": (
        ["run", "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "-t", "B={d}/t.tns", "-d", "l=4", "-d", "m=2", "-d", "k=2"], 2,
        "invalid [coordinate-range]: coordinate 4 of mode 3 is beyond the extent 2\n"
        "  --> {d}/t.tns:2:5\n"
        "  | 2 3 4 1\n"
        "  |     ^\n"),
    "not a NumPy file": (
        ["run", K4, "-t", "C={d}/big.npy", "-d", "i=4", "-d", "l=2", "-d", "j=3", "-d", "k=2"], 2,
        "invalid [npy-header]: {d}/big.npy is no NumPy file: it does not start with \\x93NUMPY\n"),
    "misspelt format": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-f", "B=crs"], 2,
        "invalid [unknown-format]: unknown format `crs` of `B`; did you mean `csr`?\n"
        "  --> format of B:1:1\n"
        "  | crs\n"
        "  | ^~~\n"
        "  note: formats: dense, csr, csc, coo, dcsr, dcsc, csf, bitmap, banded, hashed, or one of "
        "`dense`, `compressed`, `bitmap`, `banded`, `hashed` per mode, outermost first\n"),
    "unsupported format": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-f", "B=ell"], 3,
        "unsupported [level-format]: `ell` (of `B`) is not supported yet\n"
        "  --> format of B:1:1\n"
        "  | ell\n"
        "  | ^~~\n"
        "  note: formats: dense, csr, csc, coo, dcsr, dcsc, csf, bitmap, banded, hashed, or one of "
        "`dense`, `compressed`, `bitmap`, `banded`, `hashed` per mode, outermost first\n"),
    "unfinished constraint": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-c", "k < 3 <"], 2,
        "invalid [syntax]: expected a number, an index, nnz(...) or density(...), found the end of the constraint\n"
        "  --> constraint:1:8\n"
        "  | k < 3 <\n"
        "  |        ^\n"),
    "extent breaks a constraint": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=65", "-d", "l=2", "-c", "k == 64"], 2,
        "invalid [bound-violated]: the tensors break `k <= 64`: k is 65, so it would say 65 <= 64\n"
        "  note: a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow\n"),
    "density breaks a constraint": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-c", "density(B) <= 1e-3"], 2,
        "invalid [bound-violated]: the tensors break `1000*nnz(B,2) <= i*j`: nnz(B,2) is 2, i is 3, j is 3, so it would "
        "say 2000 <= 9\n"
        "  note: a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow\n"),
    "constraint broken under a named schedule": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-c", "nnz(B) >= 3", "--schedule", "linear"], 2,
        "invalid [bound-violated]: the tensors break `3 <= nnz(B,2)`: nnz(B,2) is 2, so it would say 3 <= 2\n"
        "  note: a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow\n"),
    "scalar into a FROSTT file": (
        ["run", "s = B(i,j) * C(i,j)", "-t", "B={d}/B.mtx", "-o", "{d}/s.tns"], 2,
        "invalid [file-order]: {d}/s.tns: a .tns file cannot hold a scalar; .mtx and .npy can\n"),
    "unknown index in constraint": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-c", "z < 3"], 2,
        "invalid [unknown-index]: unknown index `z`\n"
        "  --> constraint:1:1\n"
        "  | z < 3\n"
        "  | ^\n"),
    "unknown schedule id": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--schedule", "s99"], 2,
        "invalid [unknown-schedule]: there is no schedule `s99` on the frontier; it has s1 to s9; did you mean `s9`?\n"),
    "misspelt schedule": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--schedule", "lineer"], 2,
        "invalid [unknown-directive]: `lineer` is no directive; there are permute, reorder, loopfuse, block, share, sequence, distribute, parallelize, split, divide, unroll, bound, collapse, pos, threads, group, launch, stage, merge_path, gather, store, mask and precompute; did you mean `linear`?\n"
        "  --> schedule:1:1\n"
        "  | lineer\n"
        "  | ^~~~~~\n"),
    "illegal directive": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--schedule", "loopfuse(path={}, loc=9, pol=left)"], 2,
        "invalid [illegal-directive]: loc is 9 but the section's product has 3 factors; loc must be between 1 and 2\n"
        "  --> schedule:1:1\n"
        "  | loopfuse(path={}, loc=9, pol=left)\n"
        "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"),
    "unknown instruction set": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--isa", "x86-64-v9"], 2,
        "invalid [isa]: unknown instruction set `x86-64-v9`; expected x86-64-v2, x86-64-v3, x86-64-v4, generic, "
        "native or cuda; did you mean `x86-64-v2`?\n"),
    "position width": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--positions", "16"], 2,
        "invalid [position-bits]: unknown position bits `16`, expected `auto`, `32` or `64`\n"),
    "profile": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "--profile", "fast"], 2,
        "invalid [profile]: unknown profile `fast`, expected `default` or `sparseauto`\n"),
    "unwritable output": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-o", "{d}/none/x.npy"], 2,
        "invalid [file-unwritable]: {d}/none/x.npy cannot be written: No such file or directory\n"),
    "unknown output ending": (
        ["run", K4, "-t", "B={d}/B.mtx", "-d", "k=4", "-d", "l=2", "-o", "{d}/x.txt"], 2,
        "invalid [file-ending]: {d}/x.txt has the ending `.txt`\n"
        "  note: known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input or output\n"),
    "output of the wrong order": (
        ["run", "A(i,j,l) = B(i,j) * C(j,l)", "-t", "B={d}/B.mtx", "-d", "l=2", "-o", "{d}/x.mtx"], 2,
        "invalid [file-order]: {d}/x.mtx: a Matrix Market file holds a matrix, this tensor has 3 modes; .tns and "
        ".npy hold any\n"),
    "unknown language": (
        ["emit", K4, "--lang", "fortran"], 2,
        "invalid [language]: unknown language `fortran`; known are trace, tree, loops, c, cuda\n"),
    "unknown pass": (
        ["emit", K4, "--passes", "all,-specialize"], 2,
        "invalid [pass]: unknown pass `specialize`; did you mean `specialise`?; known are all, baseline, count-unstored, index-rows, block-registers, block-calls, "
        "split-rows, fuse-phases, split-unions, coalesce-rows, prefetch-gathers, unroll-and-jam, prefetch-rows, pack-panels, supernodes, expand-rows, probe-lists, numeric-phases, flatten-loops, "
        "skip-zero-rows, specialise, coarsen-threads, keep-rows, vectorise-loads, store-whole-rows, stage-entries, unroll-entries\n"),
    "passes of a tree": (
        ["emit", K4, "--lang", "tree", "--after", "emission"], 2,
        "invalid [pass]: passes of lowering make loops, c and cuda; a trace or tree has none\n"),
    "why of an unknown removed class": (
        ["schedule", K4, "-f", "B=csr", "--why", "r900"], 2,
        "invalid [unknown-schedule]: there is no removed class `r900`; there are r1 to r1\n"),
    "why of half a tree": (
        ["schedule", K4, "-f", "B=csr", "--why", "i<jk,kl"], 2,
        "invalid [tree-syntax]: expected `>` after the consumer, as in `i<j<k,l>,lm>`\n"
        "  --> tree:1:8\n"
        "  | i<jk,kl\n"
        "  |        ^\n"),
    "why of an unknown index": (
        ["schedule", K4, "-f", "B=csr", "--why", "i<jk,kz>"], 2,
        "invalid [unknown-index]: there is no index `z`\n"
        "  --> tree:1:7\n"
        "  | i<jk,kz>\n"
        "  |       ^\n"),
    "why of an impossible tree": (
        ["schedule", K4, "-f", "B=csr", "--why", "ji<k,l>"], 2,
        "invalid [no-such-tree]: no schedule of this problem has the loop tree `ji<k,l>`; loops of sparse operands follow the order "
        "of their storage\n"),
    "why of an unknown id": (
        ["schedule", K4, "-f", "B=csr", "--why", "s77"], 2,
        "invalid [unknown-schedule]: there is no schedule `s77` on the frontier; it has s1 to s9; did you mean `s7`?\n"),
    "contradiction": (
        ["schedule", K4, "-f", "B=csr", "-c", "k < 3", "-c", "k > 5"], 2,
        "invalid [contradiction]: `k` would have to be at least 6 and at most 2\n"
        "  --> constraint:1:1\n"
        "  | k > 5\n"
        "  | ^~~~~\n"
        "  note: the other bound is `k < 3`\n"),
    "unknown key": (
        ["cache", "show", "abc"], 2,
        "invalid [unknown-key]: no stored problem has the key `abc`\n"
        "  note: `schaas cache list` shows the keys\n"),
    "server down": (
        ["schedule", "A(i) = B(i,j", "--server", "unix:/nonexistent/s"], 5,
        "unreachable [server-down]: no server answers at unix:/nonexistent/s: failed to connect to all addresses; "
        "last error: UNKNOWN: unix:/nonexistent/s: No such file or directory\n"
        "  note: start one with `schaasd --listen unix:/nonexistent/s`, name another with SCHAAS_SERVER, or unset "
        "SCHAAS_SERVER to use a private one\n"),
    "server address": (
        ["info", "--server", "what"], 2,
        "invalid [server-address]: `what` is no server address; expected unix:/absolute/path or host:port\n"),
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

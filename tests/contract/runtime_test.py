"""The runtime of kernels (compiler/codegen/runtime): each header compiles alone, for every instruction set and value type, without a warning."""

import itertools
import pathlib
import platform
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "compiler" / "codegen" / "runtime"
TABLE = ROOT / "compiler" / "support" / "instruction_set.cc"
STRICT = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-pragma-once-outside-header", "-fsyntax-only"]


def flags_of_instruction_sets():
    """Compiler flags of the table's rows for this architecture, and none."""
    host = platform.machine().replace("_", "-")
    return [[]] + [[flag] for flag in re.findall(r'"(-march=[\w-]+)"', TABLE.read_text()) if host in flag or flag.endswith("native")]


# Complex kernels have functions and narrow operands of their own, and no supernodes.
REAL_ALONE = {"function.h", "vector_function.h", "exponential.h", "narrow.h", "supernode.h"}


def is_for(header, complex_values):
    return header not in REAL_ALONE if complex_values else not header.startswith("complex")


def errors(compiler, headers, flags, single, complex_values=False):
    source = '#include "value.h"\n' + "".join(f'#include "{header}"\n' for header in headers)
    command = [compiler, *STRICT, *flags, *(["-DVALUE_IS_FLOAT"] if single else []),
               *(["-DVALUE_IS_COMPLEX"] if complex_values else []), "-x", "c", "-I", RUNTIME, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True).stderr


class Runtime(unittest.TestCase):
    def setUp(self):
        self.headers = sorted(path.name for path in RUNTIME.glob("*.h"))
        self.assertGreater(len(self.headers), 10)

    def test_each_compiles_alone(self):
        for header in self.headers:
            for complex_values in (False, True):
                if is_for(header, complex_values):
                    with self.subTest(header=header, complex_values=complex_values):
                        self.assertEqual(errors("cc", [header], [], False, complex_values), "")

    def test_all_compile_for_every_instruction_set(self):
        sets = flags_of_instruction_sets()
        self.assertGreater(len(sets), 1, "no flags found in the table of instruction sets")
        for compiler in filter(shutil.which, ["cc", "clang-14"]):
            for flags in sets:
                for single, complex_values in itertools.product((False, True), repeat=2):
                    with self.subTest(compiler=compiler, flags=flags, single=single, complex_values=complex_values):
                        headers = [header for header in self.headers if is_for(header, complex_values)]
                        self.assertEqual(errors(compiler, headers, flags, single, complex_values), "")

    def test_a_missing_header_is_an_error(self):
        self.assertIn("error", errors("cc", ["missing.h"], [], False))


if __name__ == "__main__":
    unittest.main(argv=["runtime_test"])

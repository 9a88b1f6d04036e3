"""The runtime of kernels (compiler/codegen/runtime): each header compiles alone, for every instruction set and value type, without a warning."""

import itertools
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
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


# Lists of every length up to 40, of coordinates with gaps, at addresses of any alignment; keys that are there, between, before and behind.
# What surrounds a list would be found, were it read.
SEARCHES = r"""
#define CHECK(type)                                                                           \
  for (int length = 0; length <= 40; ++length)                                                \
    for (int before = 1; before <= 9; ++before) {                                             \
      type all[64];                                                                           \
      for (int n = 0; n < 64; ++n) all[n] = (type)(3 * (n - before) + 2);                     \
      const type* list = all;                                                                 \
      for (int64_t key = -1; key <= 3 * length + 4; ++key) {                                  \
        int64_t at = before;                                                                  \
        while (at < before + length && all[at] < key) ++at;                                   \
        const int64_t found = at < before + length && all[at] == key ? at : -1;               \
        if (SEARCH(list, before, before + length, key) != at) return 1;                       \
        if (MATCH(list, before, before + length, key) != found) return 2;                     \
      }                                                                                       \
      if (SEARCH(list, before, before - 1, (int64_t)5) != before) return 3;                   \
      if (MATCH(list, before, before - 1, (int64_t)5) != -1) return 4;                        \
      if (SEARCH(list, before, before + length, (int64_t)INT32_MAX + 1) != before + length) return 5; \
    }
int main(void) {
  CHECK(int32_t)
  CHECK(int64_t)
  return 0;
}
"""


def runs_here(flags):
    """The processor has the instructions of the level that the flags name."""
    known = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    needed = {"x86-64-v2": {"sse4_2"}, "x86-64-v3": {"avx2"}, "x86-64-v4": {"avx512vl", "avx512dq"}}
    return all(needed.get(flag.removeprefix("-march="), set()) <= set(known.split()) for flag in flags)


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

    def test_searches_agree_with_a_linear_one(self):
        for compiler in filter(shutil.which, ["cc", "clang-14"]):
            for flags in filter(runs_here, flags_of_instruction_sets()):
                with self.subTest(compiler=compiler, flags=flags), tempfile.TemporaryDirectory() as folder:
                    source = '#include "value.h"\n#include "vector.h"\n' + SEARCHES
                    program = pathlib.Path(folder) / "searches"
                    subprocess.run([compiler, "-std=c11", "-O2", "-Wno-psabi", *flags, "-x", "c", "-I", RUNTIME, "-", "-o", program], input=source,
                                   text=True, check=True)
                    self.assertEqual(subprocess.run([program], check=False).returncode, 0)

    def test_a_missing_header_is_an_error(self):
        self.assertIn("error", errors("cc", ["missing.h"], [], False))


if __name__ == "__main__":
    unittest.main(argv=["runtime_test"])

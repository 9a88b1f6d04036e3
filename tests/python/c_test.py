"""The C interface from C, and what the library brings and needs."""

import os
import re
import subprocess
import unittest

import with_server

with_server.daemon()
LIBRARY = os.environ["SCHAAS_LIBRARY"]


class C(unittest.TestCase):
    maxDiff = None

    def test_a_program(self):
        done = subprocess.run([with_server.PROGRAMS / "c_program"], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.stdout,
                         "no sizes\n"
                         "sizes\n"
                         "201 0 30 in place\n"
                         "201 0 50\n"
                         "50\n"
                         "invalid [tensor-structure]: `B` level 2: coordinate 9 at position 1 is outside 0..2\n"
                         "invalid [syntax]: expected `,` or `)` after index `j` of `B`, found `*`\n"
                         "  --> expression:1:14\n"
                         "  | y(i) = B(i,j * x(j)\n"
                         "  |              ^\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_wrong_operands_results_over_operands_and_fill_values(self):
        done = subprocess.run([with_server.PROGRAMS / "c_cases"], capture_output=True, text=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all right\n", ""))

    def test_the_library_exports_its_interface_alone_and_needs_no_solver_database_or_compiler(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in symbols.splitlines()}
        self.assertEqual([name for name in names if not name.startswith("schaas_")], [])
        header = (with_server.ROOT / "client/cpp/include/schaas/schaas.h").read_text()
        declared = set(re.findall(r"SCHAAS_API [\w ]+?[ *]+(schaas_\w+)\(", header))
        self.assertEqual(declared, names)
        needed = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"lib(?:z3|sqlite3|gmp|spdlog)\S*", needed), [])


if __name__ == "__main__":
    with_server.main()

"""C and C++ sources are as clang-format 14 writes them by .clang-format; skipped where it is not installed.

    clang-format -i FILE...      formats; another version may format otherwise
"""

import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("compiler", "kernels_cache", "server", "client", "proto", "tests")
# A table in columns stands in a comment.
WIDER = {"compiler/support/diagnostic.h"}


def formatter():
    """The path of clang-format 14; None where there is none."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and re.search(r"version 14\b", subprocess.run([path, "--version"], capture_output=True, text=True).stdout):
            return path
    return None


def unformatted(program, paths):
    """Names the files that the formatter would change."""
    run = subprocess.run([program, "--dry-run", *map(str, paths)], capture_output=True, text=True, cwd=ROOT)
    return sorted({line.split(":", 1)[0] for line in run.stderr.splitlines() if "-Wclang-format-violations" in line})


class Format(unittest.TestCase):
    def setUp(self):
        self.program = formatter()
        if self.program is None:
            self.skipTest("there is no clang-format 14")

    def test_sources_are_formatted(self):
        paths = [path.relative_to(ROOT) for top in TOPS for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".h", ".cc")]
        self.assertGreater(len(paths), 500)
        self.assertEqual([path for path in unformatted(self.program, paths) if path not in WIDER], [])

    def test_planted_violation_is_found(self):
        run = subprocess.run([self.program, "--dry-run", f"--style=file:{ROOT / '.clang-format'}"], input="int  main( ){return 0;}\n",
                             capture_output=True, text=True)
        self.assertIn("-Wclang-format-violations", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[__file__])

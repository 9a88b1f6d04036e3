"""Every block of Python in the documents runs, in order, as one program each."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

import with_server

with_server.daemon()


class Documents(unittest.TestCase):
    def run_all(self, path):
        blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 0, path)
        names, printed = {}, io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            before = pathlib.Path.cwd()
            os.chdir(folder)
            try:
                for block in blocks:
                    exec(compile(block, str(path), "exec"), names)
            finally:
                os.chdir(before)
        return printed.getvalue()

    def test_python_manual(self):
        path = with_server.ROOT / "docs/python.md"
        printed = self.run_all(path)
        shown = re.search(r"\n((?:    .*\n)+)\n## Not yet", path.read_text(encoding="utf-8")).group(1)
        self.assertTrue(printed.endswith(re.sub(r"^    ", "", shown, flags=re.MULTILINE)), printed[-400:])

    def test_tutorial(self):
        """On a busy machine the schedules of the frontier may still be compiled; then the baseline runs, and the text says so."""
        printed = self.run_all(with_server.ROOT / "docs/tutorial.md")
        self.assertRegex(printed, r"runs (s\d+: |p\d+\.\d+: .*, the baseline kernel)")


if __name__ == "__main__":
    with_server.main()

"""The lists of planted bugs fit the sources: each text stands exactly once in its file (tests/mutation/README.md)."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutation"))
import run  # noqa: E402


class Lists(unittest.TestCase):
    def test_each_text_stands_once_in_its_source(self):
        bugs = run.read_planted()
        self.assertGreaterEqual(len(bugs), 150)
        wrong = [f"{bug.source()}: {bug.path.read_text().count(bug.old)} times the text of `{bug.name}`"
                 for bug in bugs if bug.path.read_text().count(bug.old) != 1]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main(argv=[__file__])

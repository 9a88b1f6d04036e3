"""The lists of planted bugs fit the sources, and README.md's table the lists (tests/mutation/README.md)."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutation"))
import planted  # noqa: E402


class Lists(unittest.TestCase):
    def setUp(self):
        self.bugs, self.verdicts = planted.read(), planted.read_verdicts()

    def test_each_text_stands_once_in_its_source(self):
        self.assertGreaterEqual(len(self.bugs), 150)
        self.assertEqual(planted.misplaced(self.bugs), [])

    def test_names_differ(self):
        names = [bug.name for bug in self.bugs]
        self.assertEqual([name for name in names if names.count(name) > 1], [])

    def test_verdicts_are_of_planted_bugs(self):
        self.assertEqual(sorted(set(self.verdicts) - {bug.name for bug in self.bugs}), [])

    def test_table_is_drawn_from_lists_and_verdicts(self):
        if os.environ.get("SCHAAS_UPDATE") == "1":
            planted.draw_table(self.bugs, self.verdicts)
        self.assertEqual(planted.TABLE.findall(planted.README.read_text()), [planted.table(self.bugs, self.verdicts)],
                         "run SCHAAS_UPDATE=1 python3 tests/contract/planted_bugs_test.py")

    def test_a_changed_paragraph_is_not_run(self):
        bug = self.bugs[0]
        verdicts = {bug.name: planted.Verdict("dead", "Some.Test", bug.digest(), bug.source_digest())}
        self.assertEqual((planted.state(bug, verdicts), planted.is_due(bug, verdicts)), ("dead", False))
        verdicts = {bug.name: planted.Verdict("dead", "Some.Test", bug.digest(), "another source")}
        self.assertEqual((planted.state(bug, verdicts), planted.is_due(bug, verdicts)), ("dead", True))
        verdicts = {bug.name: planted.Verdict("dead", "Some.Test", "another paragraph", bug.source_digest())}
        self.assertEqual((planted.state(bug, verdicts), planted.is_due(bug, verdicts)), ("not run", True))


if __name__ == "__main__":
    unittest.main(argv=[__file__])

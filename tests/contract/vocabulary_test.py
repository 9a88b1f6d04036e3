#!/usr/bin/env python3
"""The code base uses the field's words, and the scan would notice if it did not."""

import pathlib
import sys
import unittest

import vocabulary

ROOT = pathlib.Path(__file__).resolve().parents[2]


def planted(text, path="server/rpc/planted.cc"):
    return list(vocabulary.violations_in(path, text))


class Tree(unittest.TestCase):
    maxDiff = None

    def test_every_word_is_of_the_vocabulary(self):
        self.assertEqual(vocabulary.violations(ROOT), [])

    def test_every_folder_that_is_done_is_scanned(self):
        seen = [path for path, _ in vocabulary.sources(ROOT)]
        for folder in vocabulary.DONE:
            self.assertTrue(any(path.startswith(folder) for path in seen), f"no file of {folder} was scanned")

    def test_every_word_to_use_is_explained(self):
        explained = "".join((ROOT / page).read_text(encoding="utf-8").lower() for page in ("docs/GLOSSARY.md", "docs/STYLE.md"))
        words = {word.strip() for new in vocabulary.WORDS.values() for word in new.split(",")}
        self.assertEqual(sorted(word for word in words if word.lower() not in explained), [])

    def test_the_scan_reads_most_comments(self):
        count = sum(len(vocabulary.comments(text, pathlib.PurePath(path).suffix)) for path, text in vocabulary.sources(ROOT))
        self.assertGreater(count, 1000)


class PlantedViolations(unittest.TestCase):
    def test_old_word_in_a_name(self):
        self.assertEqual(planted("constexpr int most_kernels = 3;\n"), ["server/rpc/planted.cc:1: `most_kernels`; use: max_, min_"])
        self.assertEqual(planted("CacheKeeper keeper;\n"), ["server/rpc/planted.cc:1: `keeper`; use: evictor"])

    def test_old_word_in_a_message(self):
        self.assertEqual(planted('log->info("the crew waits");\n'), ["server/rpc/planted.cc:1: `crew`; use: thread pool"])

    def test_old_word_in_a_comment(self):
        self.assertEqual(planted("// Returns the place of a row.\n"),
                         ["server/rpc/planted.cc:1: `place`; use: slot, index, offset, capacity, position"])

    def test_old_word_in_a_document(self):
        self.assertEqual(planted("The crew waits.\n", "README.md"), ["README.md:1: `crew`; use: thread pool"])
        self.assertEqual(planted("A member `looser` names it.\n", "README.md"), [])
        self.assertEqual(planted("// Of a heading, not a comment\n# Where it runs\n", "README.md"), [])

    def test_opener_of_a_comment_in_a_script(self):
        self.assertEqual(planted("#!/bin/sh\nmake  # What it makes\n", "deploy/planted.sh"),
                         ["deploy/planted.sh:2: a comment begins with `What`; use a verb and its object, or a noun"])
        self.assertEqual(planted("kernels = 64\n# Kernels compiled of one frontier\n", "deploy/planted.toml"), [])

    def test_external_names_are_allowed(self):
        self.assertEqual(planted("out.set_draft(kernel.baseline);\nout.set_looser(key);\n"), [])
        self.assertEqual(planted("bool draft = out.draft();\n"), ["server/rpc/planted.cc:1: `draft`; use: baseline kernel"])

    def test_opener_of_a_comment(self):
        for opener in ("Of", "That", "What", "Who", "Whose", "Whether", "Where", "How", "of"):
            self.assertEqual(planted(f"int x;  ///< {opener} it is\n"),
                             [f"server/rpc/planted.cc:1: a comment begins with `{opener}`; use a verb and its object, or a noun"])
        self.assertEqual(planted("// Often\n// Returns\n// what it read.\n"), [])

    def test_opener_inside_a_string(self):
        self.assertEqual(planted('auto url = "http://Where";\n'), [])

    def test_long_sentence(self):
        self.assertEqual(planted("// " + "word " * 26 + ".\n"), ["server/rpc/planted.cc:1: a sentence of 27 words; at most 25"])
        self.assertEqual(planted("// " + "word " * 20 + ". Returns " + "word " * 20 + ".\n"), [])

    def test_name_of_a_test(self):
        self.assertEqual(planted("TEST(Kernels, ThatFail) {\n"), ["server/rpc/planted.cc: test Kernels.ThatFail; use Subject.DoesSomething"])
        self.assertEqual(planted("TEST_F(Kernels, fail_early) {\n"), ["server/rpc/planted.cc: test Kernels.fail_early; use Subject.DoesSomething"])
        self.assertEqual(planted("TEST_F(Kernels, OffsetsAreSorted) {\n"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest also passes the folder of the programs

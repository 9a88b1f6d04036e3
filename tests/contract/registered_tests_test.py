"""Every test file is registered: the CMakeLists.txt of its folder, or of one above, names it or its subject."""

import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
ELSEWHERE = {"gpu/device_arrays_test.py",  # gpu_path_test runs it
             "gpu/on_device_test.py"}      # needs a GPU; docs/gpu.md


def words(folder):
    """Words of the CMakeLists.txt of a folder and of those above, up to that of the tests."""
    above = [folder, *folder.parents]
    lists = [one / "CMakeLists.txt" for one in above[:above.index(TESTS) + 1]]
    text = "\n".join(path.read_text(encoding="utf-8") for path in lists if path.is_file())
    return set(re.findall(r"\w+", re.sub(r"#.*", "", text)))


def is_registered(path, known):
    return path.stem in known or path.stem.removesuffix("_test") in known


class Tests(unittest.TestCase):
    def test_every_file_is_registered(self):
        files = sorted([*TESTS.rglob("*_test.py"), *TESTS.rglob("*_test.cc")])
        self.assertGreater(len(files), 150)
        missing = {str(path.relative_to(TESTS)) for path in files if not is_registered(path, words(path.parent))}
        self.assertEqual(missing, ELSEWHERE)

    def test_a_missing_one_is_found(self):
        self.assertTrue(is_registered(pathlib.Path("fill_test.py"), {"fill", "fork"}))
        self.assertFalse(is_registered(pathlib.Path("files_test.py"), {"fill", "fork"}))


if __name__ == "__main__":
    unittest.main(argv=[__file__])

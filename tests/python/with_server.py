"""A daemon of the tests' own; tests that need numpy and scipy skip, with the reason, where they are missing."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import numpy
    import scipy.sparse
except ImportError as error:
    print(f"SKIP: {error} ({sys.executable}); apt-get install python3-numpy python3-scipy")
    sys.exit(77)

import schaas_program as program

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
_daemon = None


def daemon():
    global _daemon
    if _daemon is None:
        _daemon = program.Daemon(PROGRAMS)
        os.environ["SCHAAS_SERVER"] = _daemon.address
        os.environ["XDG_CACHE_HOME"] = str(_daemon.folder / "cache")
    return _daemon


def main():
    try:
        unittest.main()
    finally:
        if _daemon is not None:
            _daemon.close()

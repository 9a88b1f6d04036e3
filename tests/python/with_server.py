"""A daemon of the tests' own; tests that need numpy and scipy skip, with the reason, where they are missing."""

import faulthandler
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
_SHOWN = 1500  # characters of what went wrong in a test
_HANGS_AFTER = 560  # seconds; the test's time ends at 600


def daemon():
    global _daemon
    if _daemon is None:
        _daemon = program.Daemon(PROGRAMS)
        os.environ["SCHAAS_SERVER"] = _daemon.address
        os.environ["XDG_CACHE_HOME"] = str(_daemon.folder / "cache")
    return _daemon


def main():
    """Runs the tests; what went wrong is told once more in the last lines, which also a cut log shows. Tests that hang say in which line."""
    faulthandler.dump_traceback_later(_HANGS_AFTER)
    try:
        ended = unittest.main(exit=False)
    finally:
        if _daemon is not None:
            _daemon.close()
    result = ended.result
    for test, text in result.errors + result.failures:
        print(f"{test.id()}: {text.rstrip()[-_SHOWN:]}", file=sys.stderr)
    sys.exit(not result.wasSuccessful())

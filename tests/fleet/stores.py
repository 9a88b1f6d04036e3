#!/usr/bin/env python3
"""Runs the tests of the stores on PostgreSQL: stores.py BIN. Exits with 77, saying why, where it is not installed."""
import os
import pathlib
import subprocess
import sys
import tempfile

import postgres


def main():
    if postgres.programs() is None:
        print("skipped: PostgreSQL is not installed")
        return 77
    tests = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="schaas-pg-") as folder:
        os.chmod(folder, 0o755)
        server = postgres.Postgres(pathlib.Path(folder) / "pg")
        try:
            failed = 0
            for program in ("job_store_test", "kernels_cache_test"):
                found = subprocess.run([tests / program, "--gtest_filter=*postgres*:*OnPostgres*:ScheduleStore.*",
                                        "--gtest_brief=1"], env={**os.environ, "SCHAAS_TEST_DATABASE": server.uri},
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                print(found.stdout)
                built_without = "no-postgresql" in found.stdout
                failed += found.returncode
            if built_without:
                print("skipped: built without libpq")
                return 77
            return 1 if failed else 0
        finally:
            server.stop()


sys.exit(main())

#!/usr/bin/env python3
"""ThreadSanitizer on the server under load, and on the tests in which threads meet.

    python3 tests/tsan/run.py                    builds what is needed into build/tsan, then runs it: look-ups, a storm, a mixed load; the tests
    python3 tests/tsan/run.py --only load        the load alone

All of our code is instrumented. gRPC and Protocol Buffers are as Debian compiles them: what synchronises inside them ThreadSanitizer does not see, so it reports what
they hand from thread to thread, by the hundred. A report is one of ours when both of its accesses are: from the inside out a function in a file of this tree comes before
any of theirs. The solver and the trial, which the daemon starts within limits of address space that ThreadSanitizer's own memory does not fit
into, are those of --release. Exit status 1 when there is a report of ours or a program fails.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOAD = ["load_bench", "--seconds", "2", "--clients", "1,8,64", "--storm", "40", "--soak", "60", "--growth", "1000"]  # ThreadSanitizer's own memory grows
TESTS = ["response_cache_test", "jobs_test", "service_test", "client_team_test"]
FILTERS = {"client_team_test": "-*Child*:*NoThread"}  # ThreadSanitizer starts no threads in a child of a process that had some
CHILDREN = ["schaas-solver", "schaas-trial"]


def build(folder, targets, jobs):
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "tsan", "-B", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, f"-j{jobs}", *targets], check=True, stdout=subprocess.DEVNULL)


def run(command, reports):
    """True when it succeeded. What is reported is in files in `reports`, one a process."""
    options = f"log_path={reports}/{pathlib.Path(command[0]).name} exitcode=0 second_deadlock_stack=1"
    print(" ".join(map(str, command)), flush=True)
    return subprocess.run(command, env={**os.environ, "TSAN_OPTIONS": options}).returncode == 0


THEIR_HEADERS = re.compile(r"/usr/include/(grpc|google|absl)")
THEIR_LIBRARIES = re.compile(r"grpc::|google::protobuf::|\(lib(grpc|gpr|protobuf|upb|absl|cares|address_sorting)")


def is_ours(stack, folder):
    """Whether, from the inside out, a function in a file of this tree comes before any of gRPC and Protocol Buffers. `folder`: what was built in."""
    for frame in stack:
        place = re.search(r" (\S+?):\d+(?::\d+)? \(", frame)
        path = pathlib.Path(os.path.normpath(folder / place[1])) if place else None
        if path and path.is_relative_to(ROOT):
            return not path.is_relative_to(folder)  # what protoc wrote is in the build folder
        if THEIR_HEADERS.match(str(path)) if path else THEIR_LIBRARIES.search(frame):
            return False
    return False


def split(text, folder):
    """(reports of ours, how many of others)."""
    ours, others = [], 0
    for report in text.split("=" * 18 + "\n"):
        if "WARNING: ThreadSanitizer" not in report:
            continue
        accesses = [part for part in report.split("\n\n") if re.search(r"^  \S.* (read|write) of size|^  (Read|Write|Previous|Atomic)", part, re.MULTILINE)]
        stacks = [re.findall(r"^ +#\d+ .*$", part, re.MULTILINE) for part in accesses]
        if all(is_ours(stack, folder) for stack in stacks):  # without accesses: a lock order, a mutex misused
            ours.append(report)
        else:
            others += 1
    return ours, others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["load", *TESTS], default=["load", *TESTS], metavar="WHAT", help="load, " + ", ".join(TESTS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "tsan", help="build folder (default: build/tsan)")
    parser.add_argument("--release", type=pathlib.Path, default=ROOT / "build" / "release", help="a build without sanitizers (default: build/release)")
    parser.add_argument("--jobs", type=int, default=1, help="of the build (default: 1)")
    options = parser.parse_args()
    tests = [name for name in options.only if name != "load"]
    build(options.build, ["schaasd", "load_bench", *tests], options.jobs)
    for child in CHILDREN:
        shutil.copy2(options.release / "bin" / child, options.build / "bin" / child)
    with tempfile.TemporaryDirectory(prefix="schaas-tsan-") as reports:
        commands = [[options.build / "bin" / LOAD[0], *LOAD[1:]]] if "load" in options.only else []
        commands += [[options.build / "bin" / name, "--gtest_brief=1", f"--gtest_filter={FILTERS.get(name, '*')}"] for name in tests]
        failed = [command[0].name for command in commands if not run(command, reports)]
        ours, others = split("".join(file.read_text(errors="replace") for file in sorted(pathlib.Path(reports).iterdir())), options.build)
    for report in ours:
        print(report)
    print(f"{len(ours)} reports of ours, {others} of what gRPC and Protocol Buffers hand over; failed: {', '.join(failed) or 'none'}")
    return 1 if ours or failed else 0


if __name__ == "__main__":
    sys.exit(main())

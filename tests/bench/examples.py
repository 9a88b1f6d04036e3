"""The five worked examples (docs/examples) against the natural numpy and scipy way, in turns, on generated and on real data: one
table. Each run first checks that both agree.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so.0 PYTHONPATH=client/python python3 tests/bench/examples.py build/release/bin --data DIR
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/service"))
import schaas_program as program

SETS = {
    "graph_attention": ["matrices/cora.mtx.gz", "matrices/pubmed.mtx.gz", "matrices/ca-HepPh.mtx.gz"],
    "cp_als": ["tensors/kinship.tns.gz", "tensors/umls.tns.gz", "tensors/email-Eu-days.tns.gz"],
    "tucker": ["tensors/kinship.tns.gz", "tensors/umls.tns.gz", "tensors/email-Eu-days.tns.gz"],
    "triangles": ["matrices/facebook_combined.mtx.gz", "matrices/ca-HepPh.mtx.gz", "matrices/wiki-Vote.mtx.gz"],
    "shortest_paths": ["matrices/power.mtx.gz", "matrices/email-Eu-core.mtx.gz", "matrices/wiki-Vote.mtx.gz"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="?", default="build/release/bin", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="a folder with matrices/ and tensors/; without it generated data alone")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{'example':18} {'data':22} {'schaas':>12} {'numpy/scipy':>12} {'ratio':>7}")
    with program.asked(options.programs):
        for name, sets in SETS.items():
            for path in [None, *(options.data / one for one in sets)] if options.data else [None]:
                words = [] if path is None else ["--data", path]
                done = subprocess.run([sys.executable, ROOT / f"docs/examples/{name}.py", "--repeat", str(options.repeat), *words],
                                      capture_output=True, text=True)
                found = re.search(r"schaas +([\d.]+) ms +numpy/scipy +([\d.]+) ms +([\d.]+) times", done.stdout)
                what = "generated" if path is None else path.name.split(".")[0]
                if found is None:
                    print(f"{name:18} {what:22} FAILED: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
                else:
                    print(f"{name:18} {what:22} {found[1]:>9} ms {found[2]:>9} ms {found[3]:>7}", flush=True)


if __name__ == "__main__":
    main()

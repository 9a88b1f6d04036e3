#!/bin/sh
# From a fresh Debian 12 to a verified result. Installs what is missing, builds schaas and makes the dependency graph of
# Debian's own packages. Runs the main job on it with the schedule schaas finds, and with the linear nest of an unfused
# compiler. Everything it makes is under build/ (the kernel database: build/quickstart/data). Safe to repeat.
#
#   deploy/quickstart.sh            JOBS=4 deploy/quickstart.sh     (parallel compilations; default: one per core)
set -eu
cd "$(dirname -- "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
graph=build/quickstart/debian.mtx.gz
expression='A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)'
summary=

step_name=
step_start=0
begin() {
  step_name=$1
  step_start=$(date +%s)
  printf '\n== %s\n' "$step_name"
}
finish() {
  took=$(($(date +%s) - step_start))
  summary="$summary$(printf '  %4d s  %s' "$took" "$step_name")
"
}

begin "Debian packages (deploy/packages.txt)"
deploy/install-packages.sh
finish

mkdir -p build/quickstart
begin "building schaas, schaasd and libschaas.so into build/release/bin ($jobs at a time)"
cmake --preset product >build/quickstart/configure.log 2>&1 || { cat build/quickstart/configure.log; exit 1; }
cmake --build --preset product -j "$jobs" --target schaas schaasd schaas_c
finish

begin "the data: dependency graph of Debian's packages"
if [ -s "$graph" ]; then
  echo "$graph is there already (delete it to make it anew)"
else
  if ! deploy/debian-graph.py "$graph"; then
    if [ "$(id -u)" -eq 0 ]; then
      echo "fetching apt's lists (apt-get update)"
      apt-get update -qq
      deploy/debian-graph.py "$graph"
    else
      exit 1
    fi
  fi
fi
finish

# A database of its own, so that the quickstart leaves nothing outside the source tree.
XDG_DATA_HOME=$(pwd)/build/quickstart/data
XDG_CACHE_HOME=$(pwd)/build/quickstart/cache
export XDG_DATA_HOME XDG_CACHE_HOME
PATH=$(pwd)/build/release/bin:$PATH
export PATH

begin "the main job, verified"
# The wait is for the full kernel: what has come after three seconds may be a baseline kernel, compiled with little optimisation.
echo "schaas run '$expression' -t B=$graph -f B=csr -d k=64 -d l=64 --verify --wait 60 --repeat 5"
echo
schaas run "$expression" -t B=$graph -f B=csr -d k=64 -d l=64 --verify --wait 60 --repeat 5
finish

begin "the same against the linear nest (what a compiler without fusion does)"
schaas run "$expression" -t B=$graph -f B=csr -d k=64 -d l=64 --verify --wait 60 --repeat 5 --json >build/quickstart/auto.json
schaas run "$expression" -t B=$graph -f B=csr -d k=64 -d l=64 --verify --wait 60 --repeat 5 --schedule linear --json >build/quickstart/linear.json
python3 - build/quickstart/auto.json build/quickstart/linear.json <<'PYTHON'
import json, sys

auto, linear = (json.load(open(path)) for path in sys.argv[1:3])
for label, answer in (("schaas", auto), ("linear", linear)):
    milliseconds = answer["run_seconds"]["median"] * 1e3
    passed = "verified" if answer["verify"]["passed"] else "WRONG RESULT"
    print(f"  {label:8}{milliseconds:12.2f} ms   {answer['chosen']['tree']:<24} {passed}")
ratio = linear["run_seconds"]["median"] / auto["run_seconds"]["median"]
known = "answered from the database" if auto["server"]["hit"] else "searched anew"
print(f"  {ratio:.1f} times faster; the second request was {known} in {auto['server']['seconds'] * 1e3:.1f} ms")
sys.exit(0 if auto["verify"]["passed"] and linear["verify"]["passed"] else 1)
PYTHON
finish

begin "the same from Python, beside scipy"
# Debian's own python3 has the packages that were installed.
PYTHONPATH=$(pwd)/client/python SCHAAS_LIBRARY=$(pwd)/build/release/lib/libschaas.so /usr/bin/python3 - "$graph" "$expression" <<'PYTHON'
import sys, time
import numpy as np, scipy.io, schaas

graph, expression = scipy.io.mmread(sys.argv[1]).tocsr(), sys.argv[2]
rows, columns = graph.shape
C, D, E = np.random.rand(rows, 64), np.random.rand(columns, 64), np.random.rand(columns, 64)
f = schaas.kernel(expression)

def least(run, times=5):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result

start = time.perf_counter()
f(B=graph, C=C, D=D, E=E)
first = time.perf_counter() - start
ours, A = least(lambda: f(B=graph, C=C, D=D, E=E))
entries = graph.tocoo()

def with_scipy():
    sampled = graph.copy()
    sampled.data = graph.data * np.einsum("ek,ek->e", C[entries.row], D[entries.col])
    return sampled @ E

theirs, expected = least(with_scipy)
same = np.allclose(A, expected)
print(f"  f = schaas.kernel({expression!r}); A = f(B=graph, C=C, D=D, E=E)")
print(f"  first call {first * 1e3:.0f} ms, then {ours * 1e3:.1f} ms; numpy and scipy {theirs * 1e3:.1f} ms: {theirs / ours:.1f} times; "
      f"{'equal results' if same else 'WRONG RESULT'}")
sys.exit(0 if same else 1)
PYTHON
finish

printf '\n== done\n%s' "$summary"
cat <<'NEXT'

What to try next (the programs are in build/release/bin):
  schaas schedule 'A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)' -f B=csr -c '8 <= k <= 256' -c '8 <= l <= 256'
                                              every schedule that can win, with its cost, and what was ruled out
  schaas emit 'A(i,l) = B(i,j) * C(j,k) * D(k,l)' -f B=csr --lang c
                                              the C of the best schedule
  schaas run 'A(i,l) = B(i,j) * C(j,k) * D(k,l)' -t B=build/quickstart/debian.mtx.gz -d k=64 -d l=16 -o A.npy
                                              another kernel, its result in a file
  schaas cache list                           what the database holds now
  docs/tutorial.md                            five minutes of Python
  README.md, docs/README.md                   where to read on
NEXT

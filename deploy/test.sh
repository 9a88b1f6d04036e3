#!/bin/sh
# Installs what is missing, builds everything but slow tests and benches in release mode and runs the fast ones (all but those labelled `slow`).
# Exit status: that of ctest.   JOBS=4 deploy/test.sh builds and tests four at a time (default: one per core).
set -eu
cd "$(dirname -- "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}

deploy/install-packages.sh
started=$(date +%s)
cmake --preset release -DSCHAAS_UNITY=ON -DSCHAAS_TESTS=ON -DSCHAAS_SLOW_TESTS=OFF
cmake --build --preset release -j "$jobs"
echo "built in $(($(date +%s) - started)) s"
# One more than processors: tests of daemons wait more than they compute.
exec ctest --preset release -LE slow -j "$((jobs + 1))"

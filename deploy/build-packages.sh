#!/bin/sh
# Makes the Debian packages of a built tree: deploy/build-packages.sh [BUILD [FOLDER]]
#   BUILD: build folder of the preset `product` (default: build/release, built first when there is none); FOLDER: where the packages go (build/packages)
set -eu
for tool in dpkg-buildpackage dh dh_python3; do
  command -v "$tool" >/dev/null 2>&1 || { echo "build-packages: there is no $tool; run: apt-get install dpkg-dev debhelper dh-python" >&2; exit 1; }
done
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/release}
mkdir -p "${2:-$root/build/packages}"
folder=$(cd -- "${2:-$root/build/packages}" && pwd)
if [ ! -x "$build/bin/schaasd" ]; then
  (cd "$root" && cmake --preset product && cmake --build --preset product)
fi
SCHAAS_BUILD=$(cd -- "$build" && pwd)
export SCHAAS_BUILD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/schaas"
cp -r "$root/deploy/debian" "$root/CHANGELOG.md" "$work/schaas/"
cd "$work/schaas"
dpkg-buildpackage --build=binary --unsigned-changes --no-check-builddeps >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
rm -f "$folder"/*schaas*.deb "$folder"/schaas_*.changes "$folder"/schaas_*.buildinfo
mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$folder"
ls "$folder"/*.deb

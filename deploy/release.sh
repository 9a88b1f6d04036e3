#!/bin/sh
# Makes what a release publishes, from the last commit: source tarball, Debian packages, portable wheel, source distribution, image, bill of
# materials and SHA256SUMS.
#
#   deploy/release.sh [--trial] [FOLDER]      FOLDER: build/release-VERSION when it is not said
#
# --trial: uncommitted changes and a changelog without the version are no obstacle. Needs what the three scripts need: debhelper, dh-python,
# patchelf; without a container engine there is no image. SCHAAS_BUILD: a build of the product to take, instead of building the tarball.
set -eu
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
trial=
if [ "${1:-}" = --trial ]; then trial=yes; shift; fi
version=$(sed -n 's/^project(schaas VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
mkdir -p "${1:-$root/build/release-$version}"
folder=$(cd -- "${1:-$root/build/release-$version}" && pwd)
refuse() {
  [ -n "$trial" ] && { echo "release: $1 (a trial)" >&2; return; }
  echo "release: $1" >&2
  exit 1
}
[ -z "$(git -C "$root" status --porcelain)" ] || refuse "there are uncommitted changes"
grep -q "^## \[$version\]" "$root/CHANGELOG.md" || refuse "CHANGELOG.md has no section [$version]"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=schaas-$version
git -C "$root" archive --prefix="$name/" HEAD | gzip -n >"$folder/$name.src.tar.gz"
tar -xzf "$folder/$name.src.tar.gz" -C "$work"
source=$work/$name
if [ -z "${SCHAAS_BUILD:-}" ]; then
  (cd "$source" && cmake --preset product && cmake --build --preset product)
  SCHAAS_BUILD=$source/build/release
fi
export SCHAAS_BUILD

"$source/deploy/build-packages.sh" "$SCHAAS_BUILD" "$folder"
(cd "$source/client/python" && python3 build_wheel.py "$folder" --portable && python3 -c "import build_wheel; print(build_wheel.build_sdist('$folder'))")
cp "$source/LICENSE" "$folder"
if command -v docker >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
  docker build -f "$source/deploy/docker/Dockerfile" -t "schaas:$version" "$source"
  docker save "schaas:$version" | gzip -n >"$folder/$name.image.tar.gz"
else
  echo "release: no image, because there is no container engine" >&2
fi
"$source/deploy/sbom.py" "$SCHAAS_BUILD" >"$folder/$name.cdx.json"
cd "$folder"
rm -f SHA256SUMS
sha256sum -- * >SHA256SUMS
cat SHA256SUMS

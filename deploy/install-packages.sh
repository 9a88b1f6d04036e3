#!/bin/sh
# Installs the Debian packages of packages.txt that are missing. As root directly, else through sudo; says what it does.
# Exit status: 0 all present, 1 not a Debian system, no rights, or apt-get failed (the command to run is printed).
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
list=$here/packages.txt

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "install-packages: this is not a Debian system (no dpkg or apt-get)." >&2
  echo "install-packages: install the equivalents of deploy/packages.txt by hand, then build with CMake (docs/CONTRIBUTING.md)." >&2
  exit 1
fi

wanted=$(sed -e 's/#.*//' "$list" | tr -s ' \t\n' ' ')
missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case $state in
    ii*) ;;
    *) missing="$missing $package" ;;
  esac
done
if [ -z "$missing" ]; then
  echo "install-packages: all packages of deploy/packages.txt are present"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null 2>&1; then
    as_root=sudo
  else
    echo "install-packages: these packages are missing:$missing" >&2
    echo "install-packages: neither root nor sudo here; please run as root:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends -y$missing" >&2
    exit 1
  fi
fi

# The lists are refreshed only when apt cannot resolve the packages with those it has.
# shellcheck disable=SC2086  # $missing is a list of words
if ! apt-get install --simulate --no-install-recommends $missing >/dev/null 2>&1; then
  echo "install-packages: refreshing the package lists (apt-get update)"
  $as_root apt-get update -qq
fi
echo "install-packages: installing:$missing"
# shellcheck disable=SC2086
if ! $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >/dev/null; then
  # Lists can be older than the archive: once more with fresh ones.
  $as_root apt-get update -qq
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >/dev/null
fi
echo "install-packages: done"

#!/bin/sh
# Downloads public matrices and tensors to try schaas on, for machines with internet. Files land in one folder as NAME.mtx.gz
# and NAME.tns.gz, the forms `schaas run -t` reads; files already there are kept.
#
#   deploy/fetch-data.sh                     the small set below marked *
#   deploy/fetch-data.sh cant nips           these
#   deploy/fetch-data.sh --list              what it knows
#   DATA=elsewhere deploy/fetch-data.sh      another folder than build/data
#
# Matrices are from the SuiteSparse Matrix Collection (sparse.tamu.edu), tensors from FROSTT (frostt.io); each set keeps the
# terms of its collection. The SHA-256 of every file is compared with the one in this list. Where the list has none, it is
# printed.
set -eu
cd "$(dirname -- "$0")/.."
data=${DATA:-build/data}

# name  collection  path there  sha256 of the stored .gz (- unknown)  what it is
known() {
  cat <<'LIST'
bcsstk17*      suitesparse HB/bcsstk17                 - finite elements, 11 k rows, 429 k entries
cant           suitesparse Williams/cant               - finite elements, 62 k rows, 4.0 M entries
consph         suitesparse Williams/consph             - finite elements, 83 k rows, 6.0 M entries
cop20k_A       suitesparse Williams/cop20k_A           - accelerator cavity, 121 k rows, 2.6 M entries
scircuit*      suitesparse Hamm/scircuit               - circuit, 171 k rows, 959 k entries
rma10          suitesparse Bova/rma10                  - fluid dynamics, 47 k rows, 2.4 M entries
webbase-1M     suitesparse Williams/webbase-1M         - web graph, 1.0 M rows, 3.1 M entries
wiki-Vote*     suitesparse SNAP/wiki-Vote              - graph, 8 k rows, 104 k entries
soc-Epinions1  suitesparse SNAP/soc-Epinions1          - graph, 76 k rows, 509 k entries
nips*          frostt nips/nips.tns.gz                 - order 4, 3.1 M entries
uber           frostt uber-pickups/uber.tns.gz         - order 4, 3.3 M entries
nell-2         frostt nell/nell-2.tns.gz               - order 3, 77 M entries
flickr-3d      frostt flickr/flickr-3d.tns.gz          - order 3, 113 M entries
vast-2015      frostt vast-2015-mc1/vast-2015-mc1-3d.tns.gz - order 3, 26 M entries
LIST
}

die() { echo "fetch-data: $*" >&2; exit 1; }

if command -v curl >/dev/null 2>&1; then
  download() { curl --fail --location --silent --show-error --connect-timeout 15 --output "$2" "$1"; }
elif command -v wget >/dev/null 2>&1; then
  download() { wget --quiet --tries=2 --timeout=15 --output-document="$2" "$1"; }
else
  die "needs curl or wget:  apt-get install curl"
fi

fetch() { # name collection path sha256
  case $2 in
    suitesparse) url=https://suitesparse-collection-website.herokuapp.com/MM/$3.tar.gz; file=$data/$1.mtx.gz ;;
    frostt) url=https://s3.us-east-2.amazonaws.com/frostt/frostt_data/$3; file=$data/$1.tns.gz ;;
  esac
  if [ -s "$file" ]; then
    echo "$file is there already"
    return
  fi
  part=$file.part
  echo "$1: $url"
  download "$url" "$part" || { rm -f "$part"; die "$1: download failed; is there a way to the internet from here? Nothing was changed."; }
  if [ "$2" = suitesparse ]; then # an archive: NAME/NAME.mtx and sometimes right-hand sides
    tar -xzOf "$part" "$(basename "$3")/$(basename "$3").mtx" >"$part.mtx" || { rm -f "$part" "$part.mtx"; die "$1: the archive is damaged"; }
    gzip -9nc "$part.mtx" >"$part"
    rm -f "$part.mtx"
  else
    gzip -t "$part" 2>/dev/null || { rm -f "$part"; die "$1: the file is damaged (not gzip)"; }
  fi
  sum=$(sha256sum "$part" | cut -d' ' -f1)
  if [ "$4" != - ] && [ "$4" != "$sum" ]; then
    rm -f "$part"
    die "$1: sha256 is $sum, expected $4; the file was not kept"
  fi
  mv "$part" "$file"
  echo "$file  sha256 $sum$([ "$4" = - ] && echo '  (not in the list yet)')"
}

if [ "${1:-}" = --list ]; then
  known | sed 's/ - / /'
  exit 0
fi
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # names are words
  set -- $(known | sed -n 's/^\([^ *]*\)\*.*/\1/p')
fi
mkdir -p "$data"
for name; do
  # The first three fields and the sum; the star only marks the default set.
  line=$(known | sed 's/^\([^ *]*\)\*/\1/' | awk -v name="$name" '$1 == name { print $2, $3, $4 }')
  [ -n "$line" ] || die "no set \`$name\` in the list; deploy/fetch-data.sh --list shows the known ones"
  # shellcheck disable=SC2086
  fetch "$name" $line
done

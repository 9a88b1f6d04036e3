#!/bin/sh
# Writes the manual pages of a program and of each of its commands, from what --help says: manual-pages.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
name=$(basename "$program")
version=$("$program" --version | sed -n '1s/.* //p')

page() { # file, command line, description
  help2man --no-info --name "$3" --version-string "$version" --output "$folder/$1.1" "$2"
  sed -i "/^\.SH NAME/{n;s/^$name[a-z ]* /$1 /;}" "$folder/$1.1"  # a name is one word
}

rm -rf "$folder"
mkdir -p "$folder"
page "$name" "$program" "scheduling as a service for sparse tensor algebra"
"$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\)  *\([^ ].*\)$/\1 \2/p' | while read -r command description; do
  page "$name-$command" "$program $command" "$description" </dev/null
done

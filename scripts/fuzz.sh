#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME, one after another.
# An input that fails is left under testdata/fuzz of its package: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

list=$(go test -list '^Fuzz' ./...) || { printf '%s\n' "$list" >&2; exit 1; }
# go test prints a package's targets, then a line "ok <package> <time>".
targets=$(awk '/^Fuzz/ { name[n++] = $1 } $1 == "ok" { for (i = 0; i < n; i++) print $2, name[i]; n = 0 }' <<<"$list")
[ -n "$targets" ] || { echo 'fuzz.sh: no fuzz targets found' >&2; exit 1; }

while read -r package target; do
	printf '\n==> %s %s\n' "$package" "$target"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package" </dev/null
done <<<"$targets"

#!/usr/bin/env bash
# Fails if "go generate" changes, adds or removes a file. It compares the tree
# with itself before, not with the last commit: work in progress may be dirty.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/git.sh

before=$(mktemp)
after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT

snapshot() {
	git ls-files -z -co --exclude-standard | sort -zu |
		while IFS= read -rd '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
		xargs -0r sha256sum
}

snapshot >"$before"
go generate ./...
snapshot >"$after"
if ! changed=$(diff "$before" "$after"); then
	echo 'generated files are stale; run "make generate" and commit these:' >&2
	awk '/^[<>]/ { print "  " $3 }' <<<"$changed" | sort -u >&2
	exit 1
fi

#!/usr/bin/env bash
# gofmt.sh -l | -w: lists or rewrites the Go files of this tree that gofmt would
# write otherwise. testdata may hold Go of any shape.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/git.sh

git ls-files -z -co --exclude-standard -- '*.go' ':!:*testdata/*' | sort -zu |
	while IFS= read -rd '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
	xargs -0r gofmt -s "$1"

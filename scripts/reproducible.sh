#!/usr/bin/env bash
# Builds the committed source twice, in two directories and each with a cache of
# its own, and fails unless the binaries are the same to the byte.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for place in one another/place; do
	mkdir -p "$tmp/$place/src"
	git archive HEAD | tar -x -C "$tmp/$place/src"
	GOCACHE="$tmp/$place/cache" make --no-print-directory -C "$tmp/$place/src" VERSION="$(git rev-parse HEAD)" build
done
for bin in gatelatch gatelatch-hook; do
	cmp "$tmp/one/src/bin/$bin" "$tmp/another/place/src/bin/$bin"
	sha256sum "$tmp/one/src/bin/$bin" | sed "s|  .*|  $bin|"
done

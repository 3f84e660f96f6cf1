#!/usr/bin/env bash
# Prints the path of the golangci-lint pinned in tools/go.mod. The first call
# builds it into the cache, which takes a few minutes; every module it is made
# of is checked against tools/go.sum.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cache.sh

package=github.com/golangci/golangci-lint/v2
export GOTOOLCHAIN=local GOWORK=off GOFLAGS=-mod=readonly

version=$(awk -v p="$package" '{ for (i = 1; i < NF; i++) if ($i == p) print $(i + 1) }' tools/go.mod)
[ -n "$version" ] || die "tools/go.mod does not name $package"

# A linter can only read code for the Go release that built it, or older.
dir="$cache/golangci-lint/$version-$(go env GOVERSION)"
bin="$dir/golangci-lint"

if [ ! -x "$bin" ]; then
	lock "$dir"
	if [ ! -x "$bin" ]; then
		say "building golangci-lint $version, once, into $dir (a few minutes)"
		tmp=$(mktemp -d "$dir.XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		CGO_ENABLED=0 go -C tools build -trimpath -ldflags '-s -w' -o "$tmp/golangci-lint" "$package/cmd/golangci-lint" >&2
		publish "$tmp" "$dir"
	fi
fi
printf '%s\n' "$bin"

#!/usr/bin/env bash
# Prints the node_modules directory that the peers in e2e/testdata/peers need:
# clients that others wrote. The first call fetches them from npm into the cache,
# never into the tree; the lock file says which, and their sums.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cache.sh

source=e2e/testdata/peers
dir="$cache/peers/$(sha256sum "$source/package-lock.json" | cut -c1-16)"

if [ ! -d "$dir" ]; then
	lock "$dir"
	if [ ! -d "$dir" ]; then
		tmp=$(mktemp -d "$dir.XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		cp "$source/package.json" "$source/package-lock.json" "$tmp"
		say "fetching the clients that the end-to-end tests drive, once, into $dir"
		(cd "$tmp" && npx --yes npm@11 install --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved >/dev/null 2>"$tmp/log") ||
			{ cat "$tmp/log" >&2; die "npm could not fetch them"; }
		cmp -s "$tmp/package-lock.json" "$source/package-lock.json" || die "npm would fetch other clients than $source/package-lock.json names"
		publish "$tmp" "$dir"
	fi
fi
printf '%s\n' "$dir/node_modules"

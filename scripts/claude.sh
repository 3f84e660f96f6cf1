#!/usr/bin/env bash
# Prints the path of the Claude Code binary that the end-to-end tests drive. The
# first call fetches it from npm into the cache, never into the tree. With
# "newest" it is the newest release instead, by the sum that npm itself tells.
#
# To move to another release, change the version and both sums:
#   npm view @anthropic-ai/claude-code-linux-x64@VERSION dist.integrity
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cache.sh

version=2.1.325
case "$(uname -s)-$(uname -m)" in
Linux-x86_64)
	platform=linux-x64
	integrity=sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==
	;;
Linux-aarch64 | Linux-arm64)
	platform=linux-arm64
	integrity=sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==
	;;
*) die "no Claude Code binary is pinned for $(uname -s) $(uname -m); the end-to-end tests run on Linux, x64 or arm64" ;;
esac

case "${1-}" in
'') ;;
newest)
	package="@anthropic-ai/claude-code-$platform"
	version=$(npm view "$package" version) || die "npm does not tell the newest version of $package"
	integrity=$(npm view "$package@$version" dist.integrity) || die "npm does not tell the sum of $package@$version"
	;;
*) die "usage: scripts/claude.sh [newest]" ;;
esac

dir="$cache/claude-code/$version"
bin="$dir/claude"

sum() {
	node -e '
		const hash = require("crypto").createHash("sha512");
		require("fs").createReadStream(process.argv[1])
			.on("data", (part) => hash.update(part))
			.on("end", () => console.log("sha512-" + hash.digest("base64")));
	' "$1"
}

if [ ! -x "$bin" ]; then
	lock "$dir"
	if [ ! -x "$bin" ]; then
		package="@anthropic-ai/claude-code-$platform@$version"
		tmp=$(mktemp -d "$dir.XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		mkdir "$tmp/pack" "$tmp/out"

		# npm gets a cache of its own, so that the archive is not kept twice.
		say "fetching $package, once, into $dir"
		(cd "$tmp/pack" && npm pack --silent --cache "$tmp/npm" "$package" >/dev/null) ||
			die "npm could not fetch $package"
		archive=$(echo "$tmp"/pack/*.tgz)
		got=$(sum "$archive")
		[ "$got" = "$integrity" ] ||
			die "$package is not what was pinned: got $got, want $integrity; nothing was installed"

		tar -xzf "$archive" -C "$tmp/out" --strip-components=1 --no-same-owner
		[ -f "$tmp/out/claude" ] || die "$package holds no file named claude"
		chmod 755 "$tmp/out/claude"
		publish "$tmp/out" "$dir"
	fi
fi
printf '%s\n' "$bin"

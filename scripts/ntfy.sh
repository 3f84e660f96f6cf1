#!/usr/bin/env bash
# Prints the path of the ntfy server that the tests publish to. The first call
# takes it out of Debian's package (trixie; it runs on bookworm, too) into the
# cache; nothing is installed.
#
# To move to another release, change the version and both sums, which are in
# dists/SUITE/main/binary-ARCH/Packages.xz of the mirror.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cache.sh

version=2.11.0-2+b4
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
archive=https://snapshot.debian.org/archive/debian/20250901T000000Z
case "$(uname -s)-$(uname -m)" in
Linux-x86_64)
	arch=amd64
	sum=cd115b3a344b735787bacbe61b2da5f1c96d13bdc686f603558e6dad3c73a4be
	;;
Linux-aarch64 | Linux-arm64)
	arch=arm64
	sum=146a07ffdf71d4d66ad4c75e950c59375ae543dcac6562c05dd6481cae41a8fb
	;;
*) die "no ntfy is pinned for $(uname -s) $(uname -m); its test runs on Linux, x64 or arm64" ;;
esac

dir="$cache/ntfy/$version"
if [ ! -x "$dir/usr/bin/ntfy" ]; then
	lock "$dir"
	if [ ! -x "$dir/usr/bin/ntfy" ]; then
		tmp=$(mktemp -d "$dir.XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		mkdir "$tmp/out"
		file="pool/main/n/ntfy/ntfy_${version}_$arch.deb"
		say "fetching $mirror/$file, once, into $dir"
		# Mirrors drop a build when there is a newer one; the archive keeps all.
		curl -fsSL --retry 3 -m 120 -o "$tmp/ntfy.deb" "$mirror/$file" ||
			curl -fsSL --retry 3 -m 120 -o "$tmp/ntfy.deb" "$archive/$file" ||
			die "could not fetch $file from $mirror or $archive"
		echo "$sum  $tmp/ntfy.deb" | sha256sum -c --status || die "$file is not what was pinned; nothing was kept"
		dpkg-deb -x "$tmp/ntfy.deb" "$tmp/out"
		publish "$tmp/out" "$dir"
	fi
fi
printf '%s\n' "$dir/usr/bin/ntfy"

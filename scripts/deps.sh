#!/usr/bin/env bash
# Sees to it that the programs which the tests drive are on this machine, and
# installs by apt only those that are missing. Never asks for a password.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # where Debian hides ip from people

say() { printf 'deps.sh: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

has() { command -v "$1" >/dev/null; }
any() { compgen -G "$1" >/dev/null; }
older() { [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# Compilers come from their makers: Debian's own are too old for this module.
want=$(awk '$1 == "go" { print $2 }' go.mod)
has go || die "Go $want or newer is needed and not on the PATH; see https://go.dev/dl/"
have=$(go env GOVERSION)
! older "${have#go}" "$want" || die "Go $want or newer is needed; this is ${have#go}; see https://go.dev/dl/"
has node || die "Node 20.19 or newer is needed and not on the PATH; see https://nodejs.org/"
have=$(node --version)
! older "${have#v}" 20.19 || die "Node 20.19 or newer is needed; this is ${have#v}; see https://nodejs.org/"
has npx || die "npx is needed and not on the PATH; it comes with npm"

missing() {
	[ -n "${CHROMIUM:-}" ] || has chromium || echo chromium
	any '/usr/lib/postgresql/*/bin/initdb' || echo postgresql
	has tmux || echo tmux
	has strace || echo strace
	has zsh || echo zsh
	has groff || echo groff-base
	has gcc || echo gcc
	[ -e /usr/include/stdlib.h ] || echo libc6-dev
	has git || echo git
	has curl || echo curl
	has jq || echo jq
	has make || echo make
	{ has flock && has setpriv && has unshare; } || echo util-linux
	has ip || echo iproute2
	has python3 || echo python3
	any '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf' || echo fonts-dejavu
	any '/usr/share/fonts/opentype/noto/NotoSansCJK*' || echo fonts-noto-cjk
}

packages=$(missing | xargs)
[ -n "$packages" ] || exit 0

install="apt-get install -y --no-install-recommends $packages"
has apt-get || die "install the equivalent of these Debian packages, then run this again: $packages"
if [ "$(id -u)" = 0 ]; then
	root="env"
elif has sudo && sudo -n true 2>/dev/null; then
	root="sudo -n env"
else
	say "these packages are missing, and installing them needs root: $packages"
	die "run this, then try again:  sudo apt-get update && sudo $install"
fi

apt() { $root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2; }

say "installing $packages"
# Lists of a fresh machine are empty or name files that are gone. A third-party
# source that fails is no reason to stop: what matters is whether install works.
apt update || say "apt-get update failed; trying with the lists that are here"
# shellcheck disable=SC2086 # one word for each package
apt install -y --no-install-recommends $packages || die "this failed: $install"

packages=$(missing | xargs)
[ -z "$packages" ] || die "installed, but still not found: $packages"

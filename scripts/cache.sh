# Sourced by the scripts that keep a large download or build outside the tree.
# Sets $cache. Everything people read goes to standard error, because standard
# output carries the answer.

# shellcheck disable=SC2034 # used by who sources this
cache=${GATELATCH_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set it, or GATELATCH_CACHE}/.cache}/gatelatch}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$@"; exit 1; }

# lock DIR: only one process at a time prepares DIR; the others wait here. The
# lock is on a file beside it and ends with the process, however it ends.
lock() {
	mkdir -p "$(dirname "$1")"
	exec 9>"$1.lock"
	flock -n 9 || { say "waiting for another process that prepares $1"; flock 9; }
}

# publish TMP DIR: DIR appears complete or not at all.
publish() {
	chmod 755 "$1"
	rm -rf "$2"
	mv -T "$1" "$2"
}

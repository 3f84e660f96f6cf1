#!/usr/bin/env bash
# go test, with the programs that the end-to-end tests drive named in the
# environment: scripts/go-test.sh -race -run TestApprove ./e2e
# What is already set stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'go-test.sh: %s\n' "$*" >&2; exit 1; }

CHROMIUM=${CHROMIUM:-$(command -v chromium)} || die 'no chromium on the PATH; run "make deps"'
CLAUDE_BIN=${CLAUDE_BIN:-$(scripts/claude.sh)}
NTFY_BIN=${NTFY_BIN:-$(scripts/ntfy.sh)}
GATELATCH_BIN=${GATELATCH_BIN:-$PWD/bin/gatelatch}
GATELATCH_HOOK_BIN=${GATELATCH_HOOK_BIN:-$PWD/bin/gatelatch-hook}
for bin in "$CHROMIUM" "$CLAUDE_BIN" "$NTFY_BIN" "$GATELATCH_BIN" "$GATELATCH_HOOK_BIN"; do
	[ -x "$bin" ] || die "$bin is not there; run \"make deps build\""
done
export CHROMIUM CLAUDE_BIN NTFY_BIN GATELATCH_BIN GATELATCH_HOOK_BIN

flags=()
case " $* " in
*' -race '*)
	# SQLite, translated from C, keeps its data outside Go's heap, where the
	# detector sees nothing; watching it costs half the time of what stores.
	for package in sqlite/lib libc memory; do
		flags+=("-gcflags=modernc.org/$package=-race=false")
	done
	# A process would wait a second before it ends, for races of its last moment.
	export GORACE=${GORACE:-atexit_sleep_ms=50}
	;;
esac

# The race detector needs cgo, and with it gcc.
exec env CGO_ENABLED=1 go test ${flags[@]+"${flags[@]}"} "$@"

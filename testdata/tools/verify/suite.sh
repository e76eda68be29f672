#!/bin/sh
# What run.sh runs beside a simulator.
set -eu
quietly() { # COMMAND...: shows what it printed if it fails
	"$@" >"$FOLDER/log" 2>&1 || { cat "$FOLDER/log"; exit 1; }
}

quietly node ../node_modules/hardhat/dist/src/cli.js --config hardhat.config.mjs --build-profile production run --network snowglobe verify.mjs
tail -n 1 "$FOLDER/log"
node wallets.mjs

PATH=$PATH:$(echo "$NODE_PATH"/@foundry-rs/forge-*/bin):$(echo "$NODE_PATH"/@foundry-rs/cast-*/bin)
export ETH_RPC_URL="$SNOWGLOBE_URL/ext/bc/C/rpc" ETHERSCAN_API_KEY=any
mkdir -p "$FOLDER/forge/src"
cp contracts/Counter.sol contracts/Doubling.sol "$FOLDER/forge/src"
cd "$FOLDER/forge"
printf '[profile.default]\nlibs = []\noffline = true\nsolc = "0.8.30"\n' >foundry.toml

deploy() { # CONTRACT ARGUMENTS...: prints the address
	name=$1
	shift
	forge create --broadcast --private-key 0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80 "src/Counter.sol:$name" --constructor-args "$@" | sed -n 's/^Deployed to: //p'
}
verify() { # ADDRESS CONTRACT ARGUMENT OPTIONS...
	address=$1 name=$2 argument=$3
	shift 3
	quietly forge verify-contract --chain 43114 --watch --constructor-args "$(cast abi-encode 'constructor(uint256,string)' "$argument" forge)" "$@" "$address" "src/Counter.sol:$name"
	export ETHERSCAN_API_KEY=any
	cast source --chain 43114 "$address" | grep -q "contract $name is Counting"
	cast interface --chain 43114 "$address" | grep -q 'function bump(uint256 more) external payable;'
	cast creation-code --chain 43114 "$address" | grep -q '^0x60'
}
verify "$(deploy First 9 forge)" First 9
verify "$(deploy Second 10 forge)" Second 10 --verifier custom --verifier-url "$SNOWGLOBE_URL/api"
unset ETHERSCAN_API_KEY # with a key, forge asks the URL of Sourcify as it asks Etherscan
verify "$(deploy Third 11 forge)" Third 11 --verifier sourcify --verifier-url "$SNOWGLOBE_URL/"
echo "forge verify-contract and cast: ok"

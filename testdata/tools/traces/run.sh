#!/bin/sh
# Compiles the corpus with Foundry and Hardhat, and compares the explanations of the simulator at $SNOWGLOBE_URL with cases.mjs: sh run.sh FOLDER
set -eu
cd "$(dirname "$0")"
folder=$1/traces
tools=$(cd .. && pwd)

# forge NAME OPTION...
forge() {
	name=$1
	shift
	mkdir -p "$folder/$name"
	cp -r src foundry.toml "$folder/$name"
	printf '#!/bin/sh\nexec sh "%s/foundry/solc" "$@"\n' "$tools" >"$folder/$name/solc"
	chmod +x "$folder/$name/solc"
	(cd "$folder/$name" && "$tools"/node_modules/@foundry-rs/forge-*/bin/forge build --quiet "$@")
	node run.mjs "$name" "$folder/$name/out"
}
hardhat() {
	mkdir -p "$folder/$1"
	TRACES_FOLDER=$folder/$1 TRACES_OPTIMIZER=$2 TRACES_VIA_IR=$3 ../node_modules/.bin/hardhat build --quiet --config hardhat.config.mjs
	node run.mjs "$1" "$folder/$1/artifacts"
}
forge forge
forge forge-optimized --optimize true --optimizer-runs 200
forge forge-ir --optimize true --via-ir --build-info
hardhat hardhat false false
hardhat hardhat-optimized true false
hardhat hardhat-ir true true

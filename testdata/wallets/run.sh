#!/bin/sh
# Runs wallets against a simulator: sh testdata/wallets/run.sh ./snowglobe
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"

# MetaMask's packages name peers that they need for types only. npm does not have all that those depend on.
npm ci --legacy-peer-deps --silent --ignore-scripts --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ../clients/serve.sh

serve world.yaml
node metamask.mjs
node safe.mjs
node alto.mjs
node dapp.mjs
stop
"$binary" verify --quiet --db "$folder/world.yaml.db"

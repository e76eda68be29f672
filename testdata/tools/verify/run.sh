#!/bin/sh
# Deploys and verifies contracts with Foundry, Hardhat, Ignition and OpenZeppelin's upgrades plugin, and reads history with the code of wallets. The
# programs know the real network's host names, and no other host: sh run.sh BINARY FOLDER
set -eu
cd "$(dirname "$0")"
binary=$1
FOLDER=$2/verify
mkdir -p "$FOLDER"
modules=$(cd ../node_modules && pwd)

# npm cannot install Edge's plugins without GitHub, where one of their dependencies is. The adapter for explorers needs none of those.
(
	cd "$FOLDER"
	npm pack --silent --prefer-offline edge-currency-accountbased@4.92.0 >/dev/null
	[ "$(openssl dgst -sha512 -binary edge-*.tgz | openssl base64 -A)" = oySLBB/iSOoKrpbhc83jyA/FebUZrZRnUX3Wk8PhG8RSKyorYR7FZv1RNNwO+9dMW5XtvffpURBX4eDzNioOcw== ]
	tar xzf edge-*.tgz
)

# Foundry takes a native compiler, from where its version manager keeps them; this is npm's.
mkdir -p "$FOLDER/home/.svm/0.8.30"
cat >"$FOLDER/solc.cjs" <<-end
	const solc = require('$modules/solc/soljson.js')
	if (process.argv.includes('--version')) console.log('Version: ' + solc.cwrap('solidity_version', 'string', [])())
	else process.stdout.write(solc.cwrap('solidity_compile', 'string', ['string', 'number', 'number'])(require('fs').readFileSync(0, 'utf8'), 0, 0))
end
cat >"$FOLDER/home/.svm/0.8.30/solc-0.8.30" <<-end
	#!/bin/sh
	unset NODE_OPTIONS
	exec "$(command -v node)" "$FOLDER/solc.cjs" "\$@"
end
chmod +x "$FOLDER/home/.svm/0.8.30/solc-0.8.30"

export FOLDER EDGE="$FOLDER/package" NODE_PATH="$modules" SOLJSON="$modules/solc/soljson.js"
HOME="$FOLDER/home" "$binary" exec --quiet --profile tiny --db "$FOLDER/world.db" --as-network --sealed --as-host binaries.soliditylang.org=compilers \
	--solc "$modules/solc-0.8.29/soljson.js" -- sh suite.sh
"$binary" verify --quiet --db "$FOLDER/world.db"

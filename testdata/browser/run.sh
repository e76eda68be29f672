#!/bin/sh
# Opens the pages of a simulator in a headless Chromium: sh testdata/browser/run.sh ./snowglobe [FOLDER FOR SCREENSHOTS]
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
npm ci --silent --ignore-scripts --prefer-offline --no-audit --no-fund
[ -d ../clients/node_modules ] || (cd ../clients && npm ci --silent --prefer-offline --no-audit --no-fund)

folder=$(mktemp -d)
SCREENSHOTS=${2:-$folder/screenshots}
CGO_ENABLED=0 # Go programs then share the packages compiled for ours
export SCREENSHOTS CGO_ENABLED
. ../clients/serve.sh

serve tiny
node pages.mjs
node hostile.mjs
node story.mjs
node use.mjs
node snippets.mjs
stop

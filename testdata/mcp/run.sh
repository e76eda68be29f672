#!/bin/sh
# Lists and calls every tool with the MCP inspector, over HTTP and over stdin and stdout:
# sh testdata/mcp/run.sh ./snowglobe
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
npm ci --silent --prefer-offline --no-audit --no-fund

folder=$(mktemp -d)
. ../clients/serve.sh
export HOME="$folder" # where the inspector keeps its files

serve tiny
node inspect.mjs "$SNOWGLOBE_URL/mcp" --transport http
node inspect.mjs "$binary" mcp --addr "${SNOWGLOBE_URL#http://}"
stop
"$binary" verify --quiet --db "$folder/tiny.db"
node inspect.mjs --own "$binary" mcp

#!/bin/sh
# Holds the documents of the simulator at $SNOWGLOBE_URL against linters and meta-schemas: sh run.sh FOLDER
set -eu
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
npm ci --ignore-scripts --silent --prefer-offline --no-audit --no-fund
fetch() { node -e 'fetch(process.argv[1]).then(async (r) => { if (!r.ok) throw new Error(r.status); process.stdout.write(await r.text()) })' "$SNOWGLOBE_URL$1" >"$folder/$2"; }
fetch /openapi.json openapi-spec.json
fetch /upstream/openapi.json openapi-upstream.json
fetch /openrpc.json openrpc.json
for dialect in spec upstream; do
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint --format=stylish "$folder/openapi-$dialect.json"
	node_modules/.bin/spectral lint --ruleset .spectral.yaml --fail-severity=hint "$folder/openapi-$dialect.json"
done
node openrpc.mjs "$folder/openrpc.json"

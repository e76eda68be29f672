#!/bin/sh
# Checks the worlds of a built program with avalanchego's own packages: run.sh BINARY [PROFILE...]
# Needs a C compiler. The module stands apart so that the product needs none.
set -eu
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
CGO_ENABLED=1 go run . "$binary" "${@:-tiny}" $([ $# -gt 0 ] || echo default)
# The recordings that the product's tests use still match the network's packages.
CGO_ENABLED=1 go build -o "${TMPDIR:-/tmp}/snowglobe-record" ./record
same() {
	"${TMPDIR:-/tmp}/snowglobe-record" "$1" | cmp - "../../$2"
}
same fees sim/evm/testdata/base_fee.json
same xchain sim/xchain/testdata/judged.json.gz
same pchain sim/pchain/testdata/judged.json.gz
rm "${TMPDIR:-/tmp}/snowglobe-record"

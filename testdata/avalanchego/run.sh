#!/bin/sh
# Asks avalanchego's own packages what they think of the worlds that a built program makes: run.sh BINARY [PROFILE...]
# Needs a C compiler. The module stands apart so that the product needs none.
set -eu
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
CGO_ENABLED=1 go run . "$binary" "${@:-tiny}" $([ $# -gt 0 ] || echo default)
# What the tests of the product take for the network's words is still what its packages say.
CGO_ENABLED=1 go build -o "${TMPDIR:-/tmp}/snowglobe-record" ./record
same() {
	"${TMPDIR:-/tmp}/snowglobe-record" "$1" | cmp - "../../$2"
}
same fees sim/evm/testdata/base_fee.json
same xchain sim/xchain/testdata/judged.json.gz
same pchain sim/pchain/testdata/judged.json.gz
rm "${TMPDIR:-/tmp}/snowglobe-record"

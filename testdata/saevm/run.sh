#!/bin/sh
# Has avalanchego's own packages judge the C-Chains that a built program makes since Helicon: run.sh BINARY [PROFILE[@UPGRADE]...]
# Needs a C compiler. The module stands apart so that the product needs none.
set -eu
export CGO_ENABLED=1 GOFLAGS="${GOFLAGS:-} -mod=mod"
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# The package of the worst case names one interface of a package that needs a newer libevm than the module proxy has. So it is compiled as if it
# were in this folder, with the same interface from here.
module=$(go list -m -f '{{.Dir}}' github.com/ava-labs/avalanchego)
sed -e 's,"github.com/ava-labs/avalanchego/vms/saevm/saedb",saedb "snowglobe/testdata/saevm/opener",' "$module/vms/saevm/worstcase/state.go" >"$work/state.go"
echo "{\"Replace\": {\"$PWD/worstcase/state.go\": \"$work/state.go\"}}" >"$work/overlay.json"

go build -overlay "$work/overlay.json" -o "$work/saevm" .
[ $# -gt 0 ] || set -- tiny default tiny@helicon=2026-11-01T00:20:00Z
"$work/saevm" "$binary" "$@"

#!/bin/sh
# Checks the worlds of a built program with avalanchego's own packages: run.sh BINARY [PROFILE...]
# Needs a C compiler. The module stands apart so that the product needs none.
set -eu
export CGO_ENABLED=1
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# avalanchego's wallet expects a newer coreth than the module proxy has: there its client is a struct, here an interface. So these two packages
# of it are compiled as if they were in this folder, changed in that alone. Nor do they wait: Snowglobe accepts at once.
module=$(go list -m -f '{{.Dir}}' github.com/ava-labs/avalanchego)
replaced=
for package in chain/c subnet/primary; do
	to=wallet/$(basename $package)
	mkdir -p "$work/$to"
	for file in "$module/wallet/$package"/*.go; do
		case $file in *_test.go) continue ;; esac
		copy=$work/$to/$(basename "$file")
		sed -e 's/w\.avaxClient\.AwaitTxAccepted(.*); err/error(nil); err/' -e 's/\*client\.Client/client.Client/' -e 's,"github.com/ava-labs/avalanchego/wallet/chain/c","snowglobe/testdata/avalanchego/wallet/c",' "$file" >"$copy"
		replaced="$replaced${replaced:+, }\"$PWD/$to/$(basename "$file")\": \"$copy\""
	done
done
echo "{\"Replace\": {$replaced}}" >"$work/overlay.json"

go build -overlay "$work/overlay.json" -o "$work/" . ./record
export SNOWGLOBE_PROFILE_DIR="$work" # of the CPU and memory profiles that a client asks for
"$work/avalanchego" "$binary" "${@:-tiny}" $([ $# -gt 0 ] || echo default "$PWD/l1s.yaml")
# The recordings that the product's tests use still match the network's packages.
same() {
	"$work/record" "$1" | cmp - "../../$2"
}
same fees sim/evm/testdata/base_fee.json
same xchain sim/xchain/testdata/judged.json.gz
same pchain sim/pchain/testdata/judged.json.gz
same helicon sim/pchain/testdata/judged_helicon.json.gz
same rewards sim/rules/testdata/rewards.json
same gastime sim/evm/testdata/gas_time.json

#!/bin/sh
# Uses forge and cast against the node at $1 as people do: deploy, call, revert, read events, wait for receipts, impersonate and mine.
# The output is the same for every node.
set -eu
cd "$(dirname "$0")"
# Not npm's own links, which always exit with 0.
for folder in ../node_modules/@foundry-rs/*/bin; do
	PATH=$PWD/$folder:$PATH
done
export ETH_RPC_URL=$1 FOUNDRY_DISABLE_NIGHTLY_WARNING=1
key=0x5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1ff0f1
account=$(cast wallet address --private-key "$key")
stranger=0x00000000000000000000000000000000005709A4

cast rpc --quiet anvil_setBalance "$account" 0x56bc75e2d63100000 >/dev/null
forge script script/Deploy.s.sol --rpc-url "$1" --private-key "$key" --broadcast --slow >"$2" 2>&1 || { cat "$2" >&2; exit 1; }
grep -E 'EXECUTION COMPLETE|^(first|second):' "$2"
first=$(sed -n 's/^first: contract Counter //p' "$2")

echo "number $(cast call "$first" 'number()(uint256)'), owner $(cast call "$first" 'owner()(address)')"
cast send --json --private-key "$key" "$first" 'add(uint256)' 5 | node -p '
	const r = JSON.parse(require("fs").readFileSync(0)); `added: status ${r.status}, ${r.logs.length} log`'
# cast reports the reason of a revert before it sends anything.
cast send --private-key "$key" "$first" 'add(uint256)' 1000 2>&1 | grep -o 'data: .*' || true
cast call "$first" 'add(uint256)' 1000 2>&1 | grep -o 'data: .*' || true
# Sent anyway, the transaction is in a block and failed.
hash=$(cast send --async --gas-limit 100000 --private-key "$key" "$first" 'add(uint256)' 1000)
echo "failed: status $(cast receipt "$hash" status)"
echo "counted: $(cast logs --json --from-block 0 --address "$first" 'Counted(address indexed,uint256)' | node -p '
	JSON.parse(require("fs").readFileSync(0)).map(l => BigInt(l.data)).join(" ")')"

cast rpc --quiet anvil_setBalance "$stranger" 0xde0b6b3a7640000 >/dev/null
cast rpc --quiet anvil_impersonateAccount "$stranger" >/dev/null
cast send --json --unlocked --from "$stranger" "$first" 'add(uint256)' 2 | node -p '
	const r = JSON.parse(require("fs").readFileSync(0)); `impersonated: status ${r.status}, from ${r.from}`'
cast rpc --quiet anvil_stopImpersonatingAccount "$stranger" >/dev/null
cast send --unlocked --from "$stranger" "$first" 'add(uint256)' 2 >/dev/null 2>&1 && echo "still impersonated"
echo "not impersonated any more"

before=$(cast block-number)
cast rpc --quiet anvil_mine 0x3 >/dev/null
echo "mined $(($(cast block-number) - before)), nonce $(cast nonce "$account"), number $(cast call "$first" 'number()(uint256)')"

# Unmodified clients below exec --as-network, alone in a network namespace if the system allows one: sh network.sh PROGRAM
set -eu
binary=$1

# alone COMMAND...
if unshare -rn true 2>/dev/null; then
	alone() { unshare -rn sh -c 'ip link set lo up && exec "$@"' sh "$@"; }
else
	echo "without a network namespace, which this system refuses"
	alone() { "$@"; }
fi

alone "$binary" exec --as-network --sealed -- node network.mjs

# A call to another host fails the command and is named, whatever the command makes of it, and wherever the proxy listens.
for address in 127.0.0.1:0 127.0.0.2:0; do for leak in 'fetch("https://planted.example/").catch(() => {})' \
	'require("node:https").get("https://planted.example/").on("error", () => {})' \
	'require("node:net").connect(443, "planted.example").on("error", () => {})'; do
	if alone "$binary" exec --as-network --sealed --addr "$address" -- node -e "$leak" 2>leak.txt || ! grep -q '1 × CONNECT planted.example:443 by node' leak.txt; then
		echo "FAIL not named at $address: $leak"
		cat leak.txt
		exit 1
	fi
done; done
rm leak.txt

# Chromium asks for hosts of its makers, so it is not sealed: there is no way out.
profile=$(mktemp -d)
for url in https://api.avax.network/ext/health https://api.avax-test.network/ext/health https://data-api.avax.network/v1/chains/43114 \
	https://metrics.avax.network/v2/chains/43113 https://subnets.avax.network/c-chain; do
	alone "$binary" exec --as-network -- sh -c "chromium --headless --no-sandbox --disable-gpu --user-data-dir=$profile \$SNOWGLOBE_CHROMIUM_FLAGS --dump-dom $url" 2>/dev/null >page.html
	grep -qE '"healthy":true|"chainId":"43114"|"evmChainId":43113|C-Chain mainnet' page.html || {
		echo "FAIL Chromium at $url"
		cat page.html
		exit 1
	}
done
rm -r page.html "$profile"
echo "ok   Chromium, and calls to other hosts"

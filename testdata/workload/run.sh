#!/bin/sh
# Runs go-ethereum's cmd/workload against a simulator: sh testdata/workload/run.sh ./snowglobe
#
# The tool generates tests of history, logs, traces and proofs from one world, and they must pass on a copy of it, after a restart, after the world moved
# on and was reverted, and on a read-only server.
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
. ../clients/serve.sh

GOBIN=$folder go install "github.com/ethereum/go-ethereum/cmd/workload@$(go list -m -f '{{.Version}}' github.com/ethereum/go-ethereum)"
go build -o "$folder/proxy" .

rpc() { # METHOD PARAMS
	curl -sS --fail -H 'Content-Type: application/json' -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}" "$SNOWGLOBE_URL/ext/bc/C/rpc"
}

# workload PATH COMMAND... runs the tool in the folder, on a C-Chain behind a proxy.
workload() {
	path=$1
	shift
	"$folder/proxy" "$folder/address" "$SNOWGLOBE_URL$path/ext/bc/C/rpc" "$folder/hashes" &
	proxy=$!
	until [ -s "$folder/address" ]; do sleep 0.1; done
	status=0
	(cd "$folder" && "$@" "http://$(cat "$folder/address")") >"$folder/said" 2>&1 || status=$?
	kill "$proxy"
	rm "$folder/address"
}

# generate COMMAND... generates tests.
generate() {
	workload "" "$@"
	[ "$status" = 0 ] || { cat "$folder/said"; exit 1; }
}

# passes PATH NAME runs all tests.
passes() {
	workload "$1" ./workload test --archive --slow
	if [ "$status" != 0 ] || ! grep -q '^13/13 tests passed' "$folder/said"; then
		tail -n 60 "$folder/said"
		echo "workload $2: failed" >&2
		exit 1
	fi
	echo "workload $2: $(grep 'tests passed' "$folder/said")"
}

serve default
generated=890 # blocks of the generated history, which have transactions
rpc anvil_mine '[11000]' >/dev/null # long ranges begin at 10,000 blocks
generate ./workload historygen
generate ./workload tracegen --trace-start $((generated - 100)) --trace-end $generated
generate ./workload proofgen --proof-end $generated --proof-states 200
# It draws queries at random, never ends, and writes its file every ten seconds; on a busy machine there may be no long ones by then.
for seconds in 12 22 42 82; do
	workload "" timeout -s INT "$seconds" ./workload filtergen
	workload "" ./workload test --archive --slow --run '^Filter/'
	[ "$status" != 0 ] || break
done

"$binary" world make copy --addr "${SNOWGLOBE_URL#http://}" >/dev/null
passes /w/copy "on a copy"
before=$(rpc evm_snapshot '[]' | sed 's/.*"result":\("[^"]*"\).*/\1/')
rpc eth_sendTransaction "[{\"from\":$(rpc eth_accounts '[]' | sed 's/.*\[\("[^"]*"\).*/\1/'),\"to\":\"0x00000000000000000000000000000000000000aa\",\"value\":\"0x1\"}]" >/dev/null
rpc anvil_mine '[300]' >/dev/null
rpc evm_revert "[$before]" | grep -q true
passes "" "after a revert"
stop
serve default
passes "" "after a restart"
stop
export SNOWGLOBE_READ_ONLY=true
serve default
passes "" "read only"
stop

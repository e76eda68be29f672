# For the scripts that run clients against a simulator: they source this with $binary and $folder set.
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

# serve PROFILE starts the simulator on a free port and waits until it answers.
serve() {
	port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
	SNOWGLOBE_URL=http://127.0.0.1:$port
	export SNOWGLOBE_URL
	"$binary" serve --quiet --db "$folder/$1.db" --profile "$1" --addr "127.0.0.1:$port" &
	server=$!
	for _ in $(seq 200); do
		if node -e 'fetch(process.env.SNOWGLOBE_URL + "/sim/health").then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))'; then
			return
		fi
		sleep 0.1
	done
	echo "the simulator does not answer at $SNOWGLOBE_URL" >&2
	exit 1
}

stop() {
	kill "$server"
	wait "$server"
}

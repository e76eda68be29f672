# For the scripts that run clients against a simulator: they source this with $binary and $folder set.
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

# serve PROFILE starts the simulator on a free port and waits until it answers.
serve() {
	rm -f "$folder/$1.ready"
	"$binary" serve --quiet --db "$folder/$1.db" --profile "$1" --addr 127.0.0.1:0 --ready-file "$folder/$1.ready" >/dev/null &
	server=$!
	for _ in $(seq 300); do
		if [ -s "$folder/$1.ready" ]; then
			SNOWGLOBE_URL=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$folder/$1.ready")
			export SNOWGLOBE_URL
			return
		fi
		sleep 0.1
	done
	echo "the simulator does not answer" >&2
	exit 1
}

stop() {
	kill "$server"
	wait "$server"
}

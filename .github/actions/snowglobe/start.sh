#!/usr/bin/env bash
# Downloads an archive unless it is cached, verifies its checksum, and starts a world that runs until the job ends.
set -euo pipefail

fail() {
	echo "::error::$1"
	exit 1
}

sum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

cache=$RUNNER_TEMP/snowglobe-archive # action.yml caches it
archive=$cache/$(basename "$INPUT_URL")
mkdir -p "$cache"
[ -f "$archive" ] || curl -fsSL --retry 3 -o "$archive" "$INPUT_URL" || fail "cannot download $INPUT_URL"
found=$(sum "$archive")
if [ "$found" != "$INPUT_SHA256" ]; then
	rm "$archive"
	fail "$INPUT_URL has the checksum $found, not $INPUT_SHA256"
fi

home=$RUNNER_TEMP/snowglobe
mkdir -p "$home"
case $archive in
*.zip) unzip -qo "$archive" -d "$home" ;;
*) tar xzf "$archive" -C "$home" ;;
esac
folder=$(dirname "$(ls "$home"/*/snowglobe "$home"/*/snowglobe.exe 2>/dev/null | head -n 1)")
program=$folder/snowglobe

ready=$home/ready.json
rm -f "$ready"
# shellcheck disable=SC2086 # flags are separated by spaces
nohup "$program" serve --db :memory: --profile "$INPUT_PROFILE" --seed "$INPUT_SEED" --addr 127.0.0.1:0 --fuji-addr off --quiet \
	--ready-file "$ready" $INPUT_FLAGS >"$home/log" 2>&1 </dev/null &
server=$!
until [ -s "$ready" ]; do
	kill -0 "$server" 2>/dev/null || fail "Snowglobe did not start: $(cat "$home/log")"
	sleep 0.1
done
member() { sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/' "$ready"; }
url=$(member url)
digest=$(member digest)
if [ -n "$INPUT_DIGEST" ] && [ "$digest" != "$INPUT_DIGEST" ]; then
	kill "$server"
	fail "the world has the digest $digest, not $INPUT_DIGEST as expected"
fi

"$program" env --addr "${url#http://}" | sed "s/^export \([A-Z0-9_]*\)='\(.*\)'$/\1=\2/" >>"$GITHUB_ENV"
echo "$folder" >>"$GITHUB_PATH"
printf 'url=%s\ndigest=%s\n' "$url" "$digest" >>"$GITHUB_OUTPUT"

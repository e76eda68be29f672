#!/bin/sh
# Serves one world file with three replicas behind nginx as the manual sets it up, compares their answers, and kills one under load; then
# does what the manual's YAML for Kubernetes says: sh testdata/replicas/run.sh ./snowglobe
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
chmod 755 "$folder" # nginx's workers run as another user, and write large bodies below it
replicas=
nginx=
finish() {
	for pid in $replicas $nginx; do kill "$pid" 2>/dev/null || true; done
	wait
	rm -rf "$folder"
}
trap finish EXIT

"$binary" generate --quiet --profile tiny --db "$folder/world.db"
page=$here/../../handlers/docs/pages/replicas.md
cd "$folder"
n=0
for flags in $(sed -n 's/^snowglobe \(--db world.db .*\)/\1/p' "$page" | tr ' ' ,); do # as the manual starts them
	n=$((n + 1))
	"$binary" $(echo "$flags" | tr , ' ') --http-allowed-hosts '*' --quiet --ready-file "ready$n" >/dev/null &
	replicas="$replicas $!"
	last=$!
done
cd "$here"
for n in 1 2 3; do
	tries=0
	until [ -f "$folder/ready$n" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || { echo "replica $n does not answer" >&2; exit 1; }
		sleep 0.1
	done
done
cp "$here/nginx.conf" "$folder"
sed -n '/^```nginx/,/^```$/{/^```/d;s/listen 80;/listen 127.0.0.1:19750;/;p}' "$page" >"$folder/site.conf"
nginx -p "$folder" -e error.log -c nginx.conf -g 'daemon off;' &
nginx=$!
tries=0
until curl -sf -o /dev/null http://127.0.0.1:19750/v1/health-check; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || { echo "nginx does not answer" >&2; cat "$folder/error.log" >&2; exit 1; }
	sleep 0.1
done

node "$here/check.mjs" "$last"
[ -z "$(ls "$folder" | grep -E 'world.db-')" ] || { echo "something lies beside the file" >&2; exit 1; }
if "$binary" --db "$folder/world.db" --addr 127.0.0.1:0 --fuji-addr off --quiet >/dev/null 2>&1; then
	echo "a server took the file that replicas read" >&2
	exit 1
fi
"$binary" verify --quiet --db "$folder/world.db" --read-only
cd "$here"
CGO_ENABLED=0 go run . "$page" "$binary"

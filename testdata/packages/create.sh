# Creates projects with npm's generators, follows the manual's recipes and runs the tests: sh testdata/packages/create.sh FOLDER TARBALL...
set -eu
folder=$1
shift
tarballs=$*
here=$(cd "$(dirname "$0")" && pwd)
export npm_config_prefer_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
export NO_COLOR=1 PLAYWRIGHT_HTML_OPEN=never HARDHAT_DISABLE_TELEMETRY=true
unset npm_config_package # set by the npx that runs the suite

logged() { # COMMAND...
	"$@" >>"$log" 2>&1 || { cat "$log"; exit 1; }
}

project() { # NAME
	log=$folder/$1.log
	mkdir -p "$folder/$1"
	cd "$folder/$1"
}

# Writes the blocks of a recipe to a folder; create.mjs adds them to the project. ARGUMENTs go to the last command.
follow() { # RECIPE [ARGUMENT]...
	mkdir recipe
	awk '
		/^```/ && inside { inside = 0; next }
		/^```/ {
			inside = 1; out = ""
			if (match($0, /file=[^ ]+/)) out = "recipe/" substr($0, RSTART + 5, RLENGTH - 5)
			else if ($0 == "```sh") out = "recipe.sh"
			folder = out
			if (sub(/\/[^\/]*$/, "", folder)) system("mkdir -p " folder)
			next
		}
		inside && out != "" { print > out }' "$here/../../handlers/docs/recipes/$1.md"
	shift
	logged node "$here/create.mjs"
	rm -r recipe
	cp $tarballs .
	sed -i "\$s|\$| $*|" recipe.sh
	logged sh -e recipe.sh </dev/null
}

tested() { # PATTERN
	grep -E "$1" "$log" | tail -n 1 | grep . || { cat "$log"; exit 1; }
}

project vitest
logged npm create -y vite@9.3.0 . -- --template vanilla-ts --no-interactive </dev/null
follow npm-vitest
tested 'Tests.*3 passed'
# The same tests in TypeScript, which this project checks strictly, and with the next version. The recipe says what to write for an unused snapshot.
logged npm install -D vitest@5.1.2
for name in pay large; do sed 's/\bsnapshot }/snapshot: _ }/' $name.test.js >src/$name.test.ts; done
rm *.test.js
logged npm run build
logged npx vitest run
tested 'Tests.*3 passed'

project jest
logged npm init -y
yes '' | logged npm init -y jest@30.5.2 # accepts its defaults
follow npm-jest
tested 'Tests:.*2 passed'

# The browser is the system's.
project playwright
logged npm init -y playwright@1.17.139 -- --quiet --no-browsers --no-examples </dev/null
follow npm-playwright --project=chromium
tested '1 passed'
# This configuration is in TypeScript, for which the recipe names a type. Otherwise only an editor would check it.
check() { "$here/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --module node20 --types node playwright.config.ts; }
if check >/dev/null; then exit 1; fi
type=$(sed -n 's/.*`\(import type .*\)`.*/\1/p' "$here/../../handlers/docs/recipes/npm-playwright.md")
sed -i "1i $type
	s/defineConfig(/defineConfig<object, WorkerFixtures>(/" playwright.config.ts
logged check

# The other templates need a repository on GitHub.
project hardhat
logged npx -y hardhat@3.18.0 --init --template minimal </dev/null
follow npm-hardhat
logged npx tsc --noEmit
tested '2 passing|pass 2'

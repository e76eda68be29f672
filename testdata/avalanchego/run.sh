#!/bin/sh
# Asks avalanchego's own packages what they think of the worlds that a built program makes: run.sh BINARY [PROFILE...]
# Needs a C compiler. The module stands apart so that the product needs none.
set -eu
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
CGO_ENABLED=1 go run . "$binary" "${@:-tiny}" $([ $# -gt 0 ] || echo default)

#!/bin/sh
# Has coreth verify and execute the C-Chains that a built program makes without Helicon: run.sh BINARY [PROFILE[:BLOCKS]...]
# BLOCKS are executed if not all; every header is checked. Where all are, questions.txt is asked of the server and of a node. The long chain is there for its headers, whose fees rise and fall.
# Needs a C compiler. The module stands apart so that the product needs none, and apart from avalanchego's, since coreth and
# subnet-evm do not fit into one binary.
set -eu
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- tiny default "$PWD/long.yaml:2000"
CGO_ENABLED=1 go run . "$binary" "$@"

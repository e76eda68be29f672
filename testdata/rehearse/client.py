"""JSON-RPC for the clients in this folder."""

import json
import os
import urllib.request

ALICE = os.environ["SNOWGLOBE_ALICE_ADDRESS"]
BOB = os.environ["SNOWGLOBE_BOB_ADDRESS"]
FRESH = os.environ["SNOWGLOBE_FRESH_ADDRESS"]


def call(method, *params, path="/ext/bc/C/rpc", named=None):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": named if named is not None else list(params)}
    request = urllib.request.Request(
        os.environ["SNOWGLOBE_URL"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    answer = json.load(urllib.request.urlopen(request))
    if "error" in answer:
        raise RuntimeError(f"{method}: {answer['error']['message']}")
    return answer["result"]


def number(text):
    return int(text, 16)


def pay(**fields):
    """Pays bob, and returns the receipt."""
    sent = call("eth_sendTransaction", {"from": ALICE, "to": BOB, "value": "0xde0b6b3a7640000", **fields})
    return call("eth_getTransactionReceipt", sent)

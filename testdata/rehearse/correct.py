"""Does what the others do, and interprets every answer correctly."""

import json
import os
import urllib.request

from client import BOB, call, number, pay


def settle():
    """Lets a second pass, like a test that waits."""
    body = json.dumps({"advance": "1s"}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(os.environ["SNOWGLOBE_URL"] + "/sim/clock", body, headers)).read()


receipt = pay(gas=hex(1_000_000))
charged = number(receipt["gasUsed"]) * number(receipt["effectiveGasPrice"])
assert charged > 0
for _ in range(20):
    final = call("eth_getBlockByNumber", "finalized", False)
    if number(final["number"]) >= number(receipt["blockNumber"]):
        break
    settle()
else:
    raise SystemExit("the payment is not final after 20 seconds")
at = number(receipt["blockNumber"])
assert number(call("eth_getBalance", BOB, hex(at))) - number(call("eth_getBalance", BOB, hex(at - 1))) == 10**18
block = call("eth_getBlockByNumber", receipt["blockNumber"], False)
fit = number(block["gasLimit"]) // 21_000
assert fit > 100, fit
print(f"charged {charged} wei for a payment; {fit} payments fit into a block")

"""Books a payment once it is in a block, and reads it back from the finalized block at once."""

from client import BOB, call, number, pay

before = number(call("eth_getBalance", BOB, "finalized"))
receipt = pay()
final = call("eth_getBlockByNumber", "finalized", False)
assert number(final["number"]) >= number(receipt["blockNumber"]), "the payment is not final"
assert number(call("eth_getBalance", BOB, "finalized")) == before + 10**18

"""Sends with a round gas limit, and assumes that a payment is charged the gas it uses."""

from client import number, pay

receipt = pay(gas=hex(1_000_000))
cost = 21_000 * number(receipt["effectiveGasPrice"])
charged = number(receipt["gasUsed"]) * number(receipt["effectiveGasPrice"])
assert charged == cost, f"a payment cost {charged} wei, not {cost}"

import os

import world

world.check(os.environ["SNOWGLOBE_URL"])
address: str = world.personas.alice.address
assert address == os.environ["SNOWGLOBE_ALICE_ADDRESS"]
assert world.chains.c.id == 43114 and world.chains.fuji_c.network == "fuji"
usdc = world.chains.c.contracts.usdc
assert usdc.token is not None and usdc.token.decimals == 6
assert any(entry.get("name") == "transfer" for entry in usdc.abi)
try:
    world.check(os.environ["OTHER_URL"])
except ValueError as refusal:
    assert "run snowglobe types --py again" in str(refusal)
else:
    raise AssertionError("another world passed the check")

import pytest


@pytest.mark.parametrize("round", ["once", "and again, as if for the first time"])
def test_bob_is_paid(world, round):
    height = world.rpc("eth_blockNumber")
    before = int(world.rpc("eth_getBalance", world.bob, "latest"), 16)
    world.rpc("eth_sendTransaction", {"from": world.alice, "to": world.bob, "value": "0x1"})
    assert int(world.rpc("eth_getBalance", world.bob, "latest"), 16) == before + 1
    block = world.ask("/v1/chains/43114/blocks?pageSize=1")["blocks"][0]
    assert block["txCount"] == 1 and int(block["blockNumber"]) == int(height, 16) + 1

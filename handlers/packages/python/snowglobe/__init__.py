"""An Avalanche network to test against.

    import snowglobe

    with snowglobe.start() as world:
        world.fund(world.personas["nobody"].address, "2.5")
        world.advance("36h")
        print(world.urls.rpc, world.rpc("eth_blockNumber"))

It needs nothing but the standard library and the program, which comes with the package. The environment variable SNOWGLOBE_BINARY names another one.
"""

from ._binary import find_binary
from ._world import Addresses, Chain, Contract, Fault, Persona, SnowglobeError, Token, Urls, World, connect, start

__all__ = [
    "Addresses", "Chain", "Contract", "Fault", "Persona", "SnowglobeError", "Token", "Urls", "World", "connect", "find_binary", "start",
]

"""Fixtures for pytest, which pip registers.

    def test_payment(world, snapshot):
        world.rpc("eth_sendTransaction", {"from": world.personas["alice"].address, "to": world.personas["bob"].address, "value": "0x1"})

snowglobe_options, which a conftest.py may override, has the arguments of snowglobe.start. With snowglobe_revert = true in the configuration, every
test that uses the world reverts it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from ._world import World, start


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("snowglobe_revert", "revert the world after each test that uses it", type="bool", default=False)


@pytest.fixture(scope="session")
def snowglobe_options() -> dict[str, Any]:
    """Arguments for snowglobe.start."""
    return {}


@pytest.fixture(scope="session")
def world(snowglobe_options: dict[str, Any]) -> Iterator[World]:
    """A world for the whole run; each process of pytest-xdist has its own."""
    with start(**snowglobe_options) as world:
        yield world


@pytest.fixture
def snapshot(world: World) -> Iterator[str]:
    """Snapshot of the world before this test. The world is reverted to it after the test."""
    taken = world.snapshot()
    yield taken
    world.revert(taken)


@pytest.fixture(autouse=True)
def _snowglobe_revert(request: pytest.FixtureRequest) -> None:
    if request.config.getini("snowglobe_revert") and "world" in request.fixturenames:
        request.getfixturevalue("snapshot")

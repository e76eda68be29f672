"""Fixtures for pytest: one simulator for the run, and a world that is as before for each test.

They need nothing but Python and the program, which is snowglobe of the PATH unless SNOWGLOBE names it:

    def test_pay(world):
        world.rpc("eth_sendTransaction", {"from": world.alice, "to": world.bob, "value": "0x1"})
"""
import json
import os
import re
import subprocess
import urllib.request

import pytest

PROGRAM = os.environ.get("SNOWGLOBE", "snowglobe")
FLAGS = ["--db", ":memory:", "--profile", "tiny", "--addr", "127.0.0.1:0", "--fuji-addr", "off", "--quiet"]


class Snowglobe:
    """A simulator that runs. Its variables are those of snowglobe env: SNOWGLOBE_RPC_URL, SNOWGLOBE_ALICE_KEY and so on."""

    def __init__(self, url):
        exports = subprocess.check_output([PROGRAM, "env", "--addr", url.split("//")[1]], text=True)
        self.url, self.variables = url, dict(re.findall(r"^export (\w+)='(.*)'$", exports, re.M))
        self.alice, self.bob = (self.variables[f"SNOWGLOBE_{name}_ADDRESS"] for name in ("ALICE", "BOB"))

    def ask(self, path, body=None, method=None):
        """The answer of a path below the simulator's URL, or of a URL."""
        url = path if "://" in path else self.url + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def rpc(self, method, *params):
        """The result of a call of the C-Chain's JSON-RPC."""
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.ask(self.variables["SNOWGLOBE_RPC_URL"], call)
        assert "error" not in answer, answer["error"]
        return answer["result"]


@pytest.fixture(scope="session")
def snowglobe():
    with subprocess.Popen([PROGRAM, "serve", *FLAGS], stdout=subprocess.PIPE, text=True) as server:
        yield Snowglobe(json.loads(server.stdout.readline())["url"])
        server.terminate()


@pytest.fixture
def world(snowglobe):
    taken = snowglobe.ask("/sim/snapshots", method="POST")["id"]
    yield snowglobe
    snowglobe.ask(f"/sim/snapshots/{taken}:revert", method="POST")

"""The module snowglobe, installed from its wheel."""

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, Iterator

import pytest
import snowglobe
from snowglobe import SnowglobeError, World

COUNTER = "0x6001600c60003960016000f300"  # returns the code 00
pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def own() -> Iterator[World]:
    with snowglobe.start() as world:
        yield world


def balance(world: World, name: str) -> int:
    return int(world.rpc("eth_getBalance", world.personas[name].address, "latest"), 16)


def test_names(own: World) -> None:
    alice = own.personas["alice"]
    assert alice.key == "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
    assert alice.mainnet.P is not None and alice.mainnet.P.startswith("P-avax1")
    assert own.chains["C"].id == 43114 and own.chains["fujiC"].network == "fuji"
    token = own.chains["C"].contracts["usdc"].token
    assert token is not None and token.decimals == 6
    assert own.rpc("eth_chainId", chain="Icefall") == "0x1130b"
    assert own.ask("/v1/chains/43114")["chainId"] == "43114"
    assert own.rpc("eth_getTransactionReceipt", own.chains["C"].samples["failed"])["status"] == "0x0"


def test_funds_deploys_moves_time_reverts(own: World, tmp_path: Path) -> None:
    began, snapshot = own.now(), own.snapshot()
    own.fund(own.personas["nobody"].address, "2.5")
    assert balance(own, "nobody") == 25 * 10**17
    file = tmp_path / "Counter.json"
    file.write_text(json.dumps({"bytecode": {"object": COUNTER}}))
    codes: list[Any] = [COUNTER, file, str(file), {"bytecode": COUNTER}]
    for code in codes:
        assert own.rpc("eth_getCode", own.deploy(code), "latest") == "0x00"
    with pytest.raises(SnowglobeError, match="libraries are not linked"):
        own.deploy({"bytecode": "0x60__$a$__"})
    before = own.now()
    assert own.advance("36h") - before == timedelta(hours=36)
    assert own.advance(timedelta(minutes=1, milliseconds=5)) > before
    height = int(own.rpc("eth_blockNumber"), 16)
    own.mine(3)
    assert int(own.rpc("eth_blockNumber"), 16) == height + 3
    own.revert(snapshot)
    assert balance(own, "nobody") == 0 and own.now() == began
    own.fund(own.personas["nobody"].address)
    own.revert()
    assert own.ask("/sim/health")["digest"] == own.digest


def test_copies_are_apart(own: World) -> None:
    with own.copy("apart") as copy:
        copy.fund(copy.personas["nobody"].address)
        assert balance(copy, "nobody") == 10**18 and balance(own, "nobody") == 0
    with pytest.raises(SnowglobeError):
        copy.now()


def test_fails_on_purpose_and_remembers(own: World) -> None:
    own.ask("/sim/requests", method="DELETE")
    with own.fault({"status": 429}, match={"operation": "getChain"}, times={"first": 1}) as fault:
        with pytest.raises(SnowglobeError) as refusal:
            own.ask("/v1/chains/43114")
        assert refusal.value.code == 429
        own.ask("/v1/chains/43114")
    fault.remove()
    assert [one["status"] for one in own.journal(operation="getChain")] == [200, 429]
    assert own.verify_requests(operation="getChain", times={"exactly": 2}) == 2
    with pytest.raises(AssertionError, match="0 requests, expected at least 1; the closest are"):
        own.verify_requests(operation="getChain", status=503)


def test_explains(own: World) -> None:
    found = own.inspect(own.chains["C"].samples["failed"])
    assert found["failure"] and found["trace"]
    with pytest.raises(SnowglobeError, match="eth_call"):
        own.rpc("eth_call", {"to": own.chains["C"].contracts["usdc"].address, "data": "0xa9059cbb"})
    with pytest.raises(SnowglobeError, match="there is no chain D, only C, fujiC, Icefall"):
        own.rpc("eth_chainId", chain="D")


def test_starts_other_worlds_and_says_why_one_does_not(own: World, tmp_path: Path) -> None:
    with snowglobe.start(seed=2, file=tmp_path / "other.db") as other:
        assert other.digest != own.digest
    with snowglobe.start(file=str(tmp_path / "other.db"), digest=other.digest) as again:
        assert again.digest == other.digest
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"digest": other.digest}, "run snowglobe types again"), ({"profile": "enormous"}, r"(?s)exit code 2\): snowglobe: .*enormous"), ({"flags": ["--no-such-flag"]}, "no-such-flag"),
    ]
    for arguments, said in wrong:
        with pytest.raises(SnowglobeError, match=said):
            snowglobe.start(**arguments)
    same = snowglobe.connect(own.url + "/")
    same.stop()
    assert own.ask("/sim/health")["digest"] == same.digest


def test_finds_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = snowglobe.find_binary()
    assert program == str(Path(sys.executable).parent / "snowglobe")
    for command in ([program], [sys.executable, "-m", "snowglobe"]):
        assert subprocess.run([*command, "exec", "--", "sh", "-c", "exit 7"]).returncode == 7
    monkeypatch.setenv("SNOWGLOBE_BINARY", "nowhere")
    with pytest.raises(FileNotFoundError, match="SNOWGLOBE_BINARY names nowhere"):
        snowglobe.start()


@pytest.mark.parametrize("more,code", [("", 0), ("; import os; os.kill(os.getpid(), 9)", -9)], ids=["forgets to stop", "is killed"])
def test_the_server_of_a_script_ends_with_it(more: str, code: int) -> None:
    script = "import snowglobe; print(snowglobe.start().url, flush=True)" + more
    ended = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
    assert ended.returncode == code
    deadline = time.monotonic() + 10
    with pytest.raises(OSError):
        while time.monotonic() < deadline:
            snowglobe.connect(ended.stdout.strip())


def test_the_plugin_reverts_on_request(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import pytest\n@pytest.fixture(scope='session')\ndef snowglobe_options():\n    return {'seed': 7}\n")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("round", [1, 2])
        def test_nobody(world, round):
            assert world.ask("/sim/world")["seed"] == 7
            assert world.rpc("eth_getBalance", world.personas["nobody"].address, "latest") == "0x0"
            world.fund(world.personas["nobody"].address)

        def test_without_a_world():
            pass
    """)
    pytester.runpytest_subprocess().assert_outcomes(passed=2, failed=1)
    pytester.makeini("[pytest]\nsnowglobe_revert = true\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=3)

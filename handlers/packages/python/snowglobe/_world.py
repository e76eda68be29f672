import atexit
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

#: The well-known development phrase, as in fixtures.Mnemonic.
MNEMONIC = "test test test test test test test test test test test junk"


class SnowglobeError(Exception):
    """A request that the server refused, or a server that did not start.

    code is the HTTP status, or the code of a JSON-RPC error; data is that of a JSON-RPC error.
    """

    def __init__(self, message: str, code: Optional[int] = None, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Urls(NamedTuple):
    """URLs of JSON-RPC on mainnet's C-Chain, over HTTP and WebSocket, and base URLs of the Data and Metrics APIs."""

    rpc: str
    ws: str
    data: str
    metrics: str


class Addresses(NamedTuple):
    """An account's addresses on the chains of a network."""

    P: Optional[str] = None
    X: Optional[str] = None
    C: Optional[str] = None


class Persona(NamedTuple):
    """A named account. key (secp256k1, hex) and address apply to every EVM chain."""

    name: str
    purpose: str
    key: str
    address: str
    mainnet: Addresses
    fuji: Addresses


class Token(NamedTuple):
    """A token's own data."""

    standard: str
    name: str
    symbol: str
    decimals: Optional[int] = None


class Contract(NamedTuple):
    """A contract on a chain."""

    address: str
    token: Optional[Token] = None


class Chain(NamedTuple):
    """An EVM chain, with contracts by role and sample ids by what they show."""

    id: int
    name: str
    network: str
    blockchain_id: str
    subnet_id: str
    rpc_url: str
    ws_url: str
    native_token: str
    contracts: Mapping[str, Contract]
    samples: Mapping[str, str]


def start(
    *,
    profile: str = "tiny",
    seed: Optional[int] = None,
    file: Optional[Union[str, "os.PathLike[str]"]] = None,
    digest: Optional[str] = None,
    flags: Sequence[str] = (),
) -> "World":
    """Starts a simulator with its own world on a free port of this machine.

    profile is tiny, default, large, or a YAML file that describes a world; file is the world's file, which is opened or created, and stays
    (in memory unless given); digest is the one that the world must have, as snowglobe types wrote it; flags are further flags of snowglobe serve.
    The simulator stops with this process, if not before.
    """
    from ._binary import find_binary

    command = [find_binary(), "serve", "--quiet", "--with-stdin", "--addr", "127.0.0.1:0", "--fuji-addr", "off", "--db", ":memory:" if file is None else os.fspath(file)]
    if file is None or profile != "tiny":  # an existing file keeps its own
        command += ["--profile", profile]
    if seed is not None:
        command += ["--seed", str(seed)]
    environ = {name: value for name, value in os.environ.items() if name != "SNOWGLOBE_BINARY"}
    with tempfile.TemporaryFile() as errors:
        server = subprocess.Popen([*command, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environ)
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            server.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            raise SnowglobeError(f"Snowglobe did not start (exit code {server.returncode}): {said or 'it said nothing'}")

    def stop() -> None:
        atexit.unregister(stop)
        server.terminate()
        server.wait()
        for pipe in (server.stdin, server.stdout):
            assert pipe is not None
            pipe.close()

    atexit.register(stop)  # if this process is killed, the server stops because its stdin ends
    ready = json.loads(line)
    try:
        if digest is not None and digest != ready["digest"]:
            raise SnowglobeError(f"the world has the digest {ready['digest']}, not {digest} as expected: run snowglobe types again")
        return connect(ready["url"], stop)
    except BaseException:
        stop()
        raise


def connect(url: str, stop: Callable[[], None] = lambda: None) -> "World":
    """The world of a running server, such as one that snowglobe exec started. stop leaves it running."""
    url = url.rstrip("/")
    return World(url, _ask(url, "/sim/world?expected=false&abis=false"), stop)


def _ask(base: str, path: str, body: Any = None, method: Optional[str] = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(path if "://" in path else base + path, data, {"content-type": "application/json"}, method=method)
    try:
        with _opener.open(request) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refusal:
        text = refusal.read().decode(errors="replace")
        try:
            said = json.loads(text)["message"]
        except (ValueError, KeyError, TypeError):
            said = text.strip()
        if isinstance(said, list):
            said = "; ".join(said)
        raise SnowglobeError(f"{request.get_method()} {path}: {refusal.code} {said}", refusal.code) from None


#: Ignores the environment's proxy: the server is on this machine.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Fault:
    """A rule that makes responses fail, until remove or the end of a with block."""

    def __init__(self, world: "World", id: str) -> None:
        self.id = id
        self._world = world

    def remove(self) -> None:
        """Removes the rule; removing one twice is no error."""
        try:
            self._world.ask(f"/sim/faults/{self.id}", method="DELETE")
        except SnowglobeError as refusal:
            if refusal.code != 404:
                raise

    def __enter__(self) -> "Fault":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class World:
    """A running world. It stops at the end of a with block."""

    url: str  #: URL of the world, such as http://127.0.0.1:40001
    urls: Urls
    digest: str  #: SHA-256 of the world as it began, hex
    mnemonic: str  #: of the first ten personas
    personas: Mapping[str, Persona]  #: by name
    chains: Mapping[str, Chain]  #: EVM chains: C, fujiC, and L1s by name

    def __init__(self, url: str, described: Mapping[str, Any], stop: Callable[[], None]) -> None:
        self.url = url
        self.urls = Urls(f"{url}/ext/bc/C/rpc", f"ws{url[4:]}/ext/bc/C/ws", url, url)
        self.digest = described["digest"]
        self.mnemonic = MNEMONIC
        self.personas = {
            p["name"]: Persona(
                p["name"], p["purpose"], p.get("privateKey", ""), p.get("address", ""),
                **{network: Addresses(**on) for network, on in p["chainAddresses"].items()},
            )
            for p in described["personas"]
        }
        names = {n["cChainId"]: "C" if n["name"] == "mainnet" else n["name"] + "C" for n in described["networks"]}
        self.chains = {
            names.get(c["blockchainId"], c["name"]): Chain(
                int(c["chainId"]), c["name"], c["network"], c["blockchainId"], c["subnetId"], c["rpcUrl"], c["wsUrl"], c["networkToken"],
                {k["role"]: Contract(k["address"], Token(**k["token"]) if "token" in k else None) for k in c["contracts"]},
                c["samples"],
            )
            for c in described["chains"]
        }
        self._stop: Optional[Callable[[], None]] = stop

    def rpc(self, method: str, *params: Any, chain: str = "C") -> Any:
        """Calls a JSON-RPC method and returns its result. The chain is mainnet's C-Chain by default."""
        if chain not in self.chains:
            raise SnowglobeError(f"there is no chain {chain}, only {', '.join(self.chains)}")
        answer = self.ask(self.chains[chain].rpc_url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in answer:
            error = answer["error"]
            raise SnowglobeError(f"{method}: {error['message']}", error["code"], error.get("data"))
        return answer["result"]

    def ask(self, path: str, body: Any = None, method: Optional[str] = None) -> Any:
        """Requests a path below the world's URL and returns the answer. The method is POST with a body, GET without."""
        return _ask(self.url, path, body, method)

    def fund(self, address: str, amount: Union[str, int] = "1", *, chain: Optional[str] = None, token: Optional[str] = None) -> Any:
        """Pays an account from the faucet, in whole coins or tokens on the chain of the address. On P and X, token is an asset of the X-Chain."""
        body = {"address": address, "amount": str(amount), "chain": chain, "token": token}
        return self.ask("/sim/faucet", {name: value for name, value in body.items() if value is not None})

    def deploy(self, code: Union[str, "os.PathLike[str]", Mapping[str, Any]], *, args: str = "0x", sender: Optional[str] = None, value: int = 0, chain: str = "C") -> str:
        """Deploys a contract, as alice by default, and returns its address.

        code is its bytecode, or an artifact of Foundry or Hardhat or the file of one; args are encoded, hex.
        """
        if isinstance(code, os.PathLike) or isinstance(code, str) and not code.startswith("0x"):
            code = json.loads(Path(code).read_text())
        bytecode: Any = code if isinstance(code, str) else code["bytecode"]  # type: ignore[index]
        if isinstance(bytecode, Mapping):
            bytecode = bytecode["object"]
        if not isinstance(bytecode, str) or not re.fullmatch("(0x)?([0-9a-fA-F]{2})+", bytecode):
            raise SnowglobeError("deploy: no bytecode, or one whose libraries are not linked")
        data = "0x" + bytecode.removeprefix("0x") + args.removeprefix("0x")
        sent = self.rpc("eth_sendTransaction", {"from": sender or self.personas["alice"].address, "data": data, "value": hex(value)}, chain=chain)
        receipt = self.rpc("eth_getTransactionReceipt", sent, chain=chain)
        if receipt is None:
            raise SnowglobeError(f"deploy: {sent} waits in the pool: mine makes a block")
        if receipt["status"] != "0x1":
            raise SnowglobeError(f"deploy: {sent} failed: {self.inspect(sent).get('trace', 'it gives no reason')}")
        address: str = receipt["contractAddress"]
        return address

    def advance(self, span: Union[str, timedelta]) -> datetime:
        """Advances the clock by a duration such as 36h. Everything that falls due on the way happens."""
        if isinstance(span, timedelta):
            span = f"{span // timedelta(milliseconds=1)}ms"
        return _time(self.ask("/sim/clock", {"advance": span}))

    def now(self) -> datetime:
        """The world's time."""
        return _time(self.ask("/sim/clock"))

    def mine(self, blocks: int = 1, *, chain: str = "C") -> None:
        """Makes blocks."""
        self.rpc("anvil_mine", hex(blocks), chain=chain)

    def snapshot(self) -> str:
        """Takes a snapshot of the whole world: all chains, the clock, the pool, exports and webhooks."""
        taken: str = self.ask("/sim/snapshots", method="POST")["id"]
        return taken

    def revert(self, snapshot: Optional[str] = None) -> None:
        """Reverts to a snapshot and keeps it; deletes all later ones. Without one, reverts to the world as it began."""
        self.ask("/sim/reset" if snapshot is None else f"/sim/snapshots/{snapshot}:revert", method="POST")

    def copy(self, name: Optional[str] = None) -> "World":
        """Copies this world within the same process, for example for one test. stop deletes the copy."""
        made = self.ask("/sim/worlds", {} if name is None else {"name": name})

        def delete() -> None:
            self.ask("/sim/worlds/" + urllib.parse.quote(made["name"]), method="DELETE")

        return connect(made["url"], delete)

    def fault(self, action: Mapping[str, Any], *, match: Optional[Mapping[str, Any]] = None, times: Optional[Mapping[str, Any]] = None) -> Fault:
        """Makes responses fail, with a rule as in POST /sim/faults, until its remove is called."""
        rule = {"action": action, "match": match, "times": times}
        return Fault(self, self.ask("/sim/faults", {name: value for name, value in rule.items() if value is not None})["id"])

    def journal(self, **filter: Any) -> list[dict[str, Any]]:
        """The latest requests to the server and their responses, newest first, with the filters of GET /sim/requests."""
        found: list[dict[str, Any]] = self.ask("/sim/requests?" + urllib.parse.urlencode({"pageSize": 500, **filter}))["requests"]
        return found

    def verify_requests(self, *, times: Optional[Mapping[str, int]] = None, **criteria: Any) -> int:
        """Fails unless clients made the described requests, as in POST /sim/requests:verify: at least once, unless times says otherwise."""
        body = {**criteria, **({} if times is None else {"times": times})}
        found = self.ask("/sim/requests:verify", body)
        if not found["verified"]:
            near = "".join(f"\n  {json.dumps(miss)}" for miss in found.get("nearMisses", []))
            raise AssertionError(f"{json.dumps(body)}: {found['count']} requests, expected {found['expected']}" + (near and f"; the closest are{near}"))
        count: int = found["count"]
        return count

    def inspect(self, hash: str) -> Any:
        """What a transaction did: calls, events, console.log and, if it failed, why and where."""
        return self.ask(f"/sim/transactions/{hash}/trace")

    def stop(self) -> None:
        """Stops the simulator, or deletes a copy."""
        if self._stop is not None:
            stop, self._stop = self._stop, None
            stop()

    def __enter__(self) -> "World":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.stop()


def _time(state: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(state["time"].replace("Z", "+00:00"))

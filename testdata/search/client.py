"""Clients of the Data API and of webhooks. Each has a flaw; its repaired twin doesn't: client.py NAME [repaired]."""

import http.server
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ["SNOWGLOBE_URL"]
ALICE, BOB = os.environ["SNOWGLOBE_ALICE_ADDRESS"], os.environ["SNOWGLOBE_BOB_ADDRESS"]


def once(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def retry(path, body=None):
    """Retries after a transient failure, with growing delays or after the time that the server names."""
    for delay in (0.05, 0.1, 0.2, 0.4, None):
        try:
            return once(path, body)
        except urllib.error.HTTPError as e:
            if delay is None or e.code < 500 and e.code != 429:
                raise
            time.sleep(float(e.headers.get("Retry-After") or delay))
        except (OSError, ValueError, http.client.HTTPException):
            if delay is None:
                raise
            time.sleep(delay)


def rpc(method, *params):
    answer = retry("/ext/bc/C/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def no_retry(repaired):
    """Gives up after the first failure."""
    ask = retry if repaired else once
    assert ask("/v1/chains/43114")["chainId"] == "43114"
    assert ask(f"/v1/chains/43114/addresses/{ALICE}/balances:getNative")["nativeTokenBalance"]["balance"]


def last_page(repaired):
    """Takes a page with fewer items than requested for the last one."""
    size, path = 50, f"/v1/chains/43114/addresses/{ALICE}/transactions"
    while True:
        seen, token = [], ""
        try:
            while True:
                page = retry(f"{path}?pageSize={size}&pageToken={token}")
                seen += [t["nativeTransaction"]["txHash"] for t in page["transactions"]]
                token = page.get("nextPageToken", "")
                if not token or not repaired and len(page["transactions"]) < size:
                    break
            break
        except urllib.error.HTTPError as e:
            if e.code != 400:  # the token has expired
                raise
    assert len(seen) == len(set(seen)) and len(seen) > 60, f"{len(seen)} transactions"


def webhook_twice(repaired):
    """Credits a payment for each message, even if one comes twice."""
    credited, known, lock = [], set(), threading.Lock()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                if not repaired or message["messageId"] not in known:
                    known.add(message["messageId"])
                    credited.append(message["event"]["transaction"]["txHash"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    retry("/v1/webhooks", {
        "url": f"http://127.0.0.1:{server.server_port}/", "chainId": "43114", "eventType": "address_activity",
        "metadata": {"addresses": [BOB]}})
    nonce = int(rpc("eth_getTransactionCount", ALICE, "latest"), 16)
    sent = []
    for i in range(3):
        sent.append(send(nonce + i, BOB, 1 + i))
    end = time.time() + 10
    while time.time() < end and not set(sent) <= set(credited):
        time.sleep(0.02)
    time.sleep(0.05)
    with lock:
        assert sorted(credited) == sorted(sent), f"sent {sent}, credited {credited}"


def send(nonce, to, value):
    """Sends a payment. After a failure it checks whether the payment took the nonce."""
    transaction = {"from": ALICE, "to": to, "value": hex(value), "nonce": hex(nonce)}
    try:
        return rpc("eth_sendTransaction", transaction)
    except RuntimeError:
        for block in range(int(rpc("eth_blockNumber"), 16), 0, -1):
            for t in rpc("eth_getBlockByNumber", hex(block), True)["transactions"]:
                if t["from"].lower() == ALICE.lower() and int(t["nonce"], 16) == nonce:
                    return t["hash"]
        raise


CLIENTS = {"no-retry": no_retry, "last-page": last_page, "webhook-twice": webhook_twice}

if __name__ == "__main__":
    CLIENTS[sys.argv[1]](sys.argv[2:] == ["repaired"])

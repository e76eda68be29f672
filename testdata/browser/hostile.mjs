// Names that are scripts, that turn the direction of writing, and that are long, in what anyone can write to a world: nothing of it
// runs, and no page breaks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, base, launch, open, rpc, visit } from "./browser.mjs";

const world = await ask("/sim/world");
const [chain] = world.chains;
const path = new URL(chain.rpcUrl).pathname;
const alice = world.personas[0].address;
const { bytecode } = JSON.parse(readFileSync(new URL("../../fixtures/contracts/artifacts/Token.json", import.meta.url)));
const { abi } = JSON.parse(readFileSync(new URL("../../fixtures/contracts/artifacts/Token.json", import.meta.url)));
const inputs = abi.find((f) => f.type === "constructor").inputs;

const word = (n) => n.toString(16).padStart(64, "0");
const encoded = (s) => {
  const raw = Buffer.from(s);
  return word(raw.length) + raw.toString("hex").padEnd(Math.ceil(raw.length / 32) * 64, "0");
};
/** The arguments of a constructor: texts, addresses and numbers. */
const pack = (values) => {
  let head = "", tail = "";
  for (const v of values) {
    if (typeof v === "string" && !v.startsWith("0x")) {
      head += word(values.length * 32 + tail.length / 2);
      tail += encoded(v);
    } else head += typeof v === "string" ? v.slice(2).toLowerCase().padStart(64, "0") : word(v);
  }
  return head + tail;
};
const attack = [
  "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "\u202eevil\u202c'onmouseover=alert(1) ", "{{.}}</title><svg onload=alert(1)>", "<b>".repeat(3400),
];

/** Texts with marks of direction that turn what stands behind them: nothing isolates them from the rest of their line. */
const turning = (page) => page.evaluate(() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(node.data)) continue;
    let box = node.parentElement;
    for (; box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/isolate|plaintext/.test(style.unicodeBidi) || style.display !== "inline") break;
    }
    const rest = document.createRange();
    rest.setStartAfter(node);
    rest.setEnd(box, box.childNodes.length);
    if (rest.toString().trim() !== "" && box.checkVisibility()) found.push(`${box.tagName}: ${box.textContent.trim().slice(0, 80)}`);
  }
  return found;
});
let isolated = 0;

const browser = await launch();
const { page, trouble } = await open(browser, { viewport: { width: 1400, height: 900 } });
const snapshot = await rpc(path, "evm_snapshot", []).catch(() => null);
for (const name of attack) {
  // One text of 10 kB is as much as a block has gas for.
  const values = inputs.map((i) => i.type === "string" ? (i.name.startsWith("name") ? name : name.slice(0, 60)) : i.type === "address" ? alice : i.type === "uint8" ? 6 : 1000);
  const hash = await rpc(path, "eth_sendTransaction", [{ from: alice, data: bytecode + pack(values), gas: "0x989680" }]);
  const receipt = await rpc(path, "eth_getTransactionReceipt", [hash]);
  assert.equal(receipt.status, "0x1", name.slice(0, 60));
  const at = receipt.contractAddress;
  for (const where of [`/sim/explorer/${chain.chainId}/token/${at}`, `/sim/explorer/${chain.chainId}/address/${at}`, `/tx/${hash}`, `/address/${alice}?history=erc20`,
    `/sim/explorer/${chain.chainId}/address/${at}/contract?call=name()`, `/search?q=${encodeURIComponent(name.slice(0, 5000))}`, "/requests"]) {
    const response = await visit(page, where);
    if (response.status() === 404) trouble.length = 0; // a search for it finds nothing, which the browser notes
    assert.ok([200, 404].includes(response.status()), `${where}: ${response.status()}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${where}: ${over} pixels stick out`);
    const made = await page.evaluate(() => document.querySelectorAll("main img[src='x'], main svg[onload], main script, main b b").length);
    assert.equal(made, 0, `${where}: the name became markup`);
    assert.deepEqual(await turning(page), [], where);
    isolated += await page.evaluate(() => [...document.querySelectorAll("bdi")].filter((e) => /[\u202a-\u202e]/.test(e.textContent) && getComputedStyle(e).unicodeBidi === "isolate").length);
    assert.deepEqual(trouble, [], where);
  }
}

// The reference shows what the server answers.
await visit(page, "/docs#listErc20Balances");
await page.locator(".op[open] tr[data-param-name='pageSize'] input").fill("100");
await page.locator(".op[open] .execute").click();
await page.locator(".op[open] .live-responses-table", { hasText: "alert(1)" }).waitFor();
assert.equal(await page.evaluate(() => document.querySelectorAll("img[src='x'], svg[onload], .op b b, .op script").length), 0, "an answer became markup");
assert.deepEqual(trouble, [], "the reference");

// An item whose metadata and picture are scripts, and everything else that a client may write: requests, webhooks, faults, snapshots.
const collection = JSON.parse(readFileSync(new URL("../../fixtures/contracts/artifacts/Collection.json", import.meta.url)));
const send = async (to, data) => {
  const hash = await rpc(path, "eth_sendTransaction", [{ from: alice, ...(to && { to }), data, gas: "0x989680" }]);
  const receipt = await rpc(path, "eth_getTransactionReceipt", [hash]);
  assert.equal(receipt.status, "0x1");
  return receipt;
};
const turn = "\u202e", long = "é".repeat(5000);
for (const text of [`<img src=x onerror=alert(1)>${turn}<script>alert(1)</script>`, `"'><svg onload=alert(1)>` + long]) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><image href="http://evil.example/x.png"/></svg>`;
  const short = text.slice(0, 80);
  const metadata = { name: short, description: text.slice(0, 2000), image: "data:image/svg+xml;base64," + Buffer.from(svg).toString("base64"), external_url: "javascript:alert(1)",
    attributes: [{ trait_type: short, value: short }] };
  const { contractAddress: at } = await send(null, collection.bytecode + pack([short.replace(/^0x/, ""), short, alice]));
  const uri = "data:application/json;base64," + Buffer.from(JSON.stringify(metadata)).toString("base64");
  await send(at, "0xd3fc9864" + word(0).slice(0, 24) + alice.slice(2).toLowerCase() + word(7) + word(96) + encoded(uri));
  const item = `/v1/chains/${chain.chainId}/nfts/collections/${at}/tokens/7`;
  await ask(item + ":reindex", {});
  for (let i = 0; i < 600 && !(await ask(item)).metadata?.name; i++) await new Promise((resolve) => { setTimeout(resolve, 100); });
  assert.equal((await ask(item)).metadata.name, short);

  await fetch(`${base}/v1/chains/${encodeURIComponent(short)}?q=${encodeURIComponent(text.slice(0, 1000))}`, { headers: { "user-agent": "<script>alert(1)</script>", "x-hostile": "\"><img src=x onerror=alert(1)>" } });
  await fetch(`${base}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: short, method: "eth_call", params: [text, short] }) });
  const { requests } = await ask("/sim/requests?pageSize=2");
  const hook = await ask("/v1/webhooks", { eventType: "address_activity", url: "http://127.0.0.1:9/<script>alert(1)</script>", name: short, description: text.slice(0, 1000), chainId: chain.chainId, metadata: { addresses: [alice] } });
  const fault = await ask("/sim/faults", { match: { operation: "getVertex" }, action: { status: 503, message: text.slice(0, 1000) } });
  const { id: moment } = await ask("/sim/snapshots", { name: text.slice(0, 50) });
  await assert.rejects(ask("/sim/worlds", { name: short }), /400/);
  for (const where of [`/sim/explorer/${chain.chainId}/token/${at}`, `/sim/explorer/${chain.chainId}/token/${at}/7`, `/address/${alice}`, `/address/${alice}?history=erc721`, "/requests",
    ...requests.map((r) => `/requests/${r.id}`), "/webhooks", "/"]) {
    const response = await visit(page, where);
    assert.equal(response.status(), 200, where);
    await page.waitForSelector("#control button");
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${where}: ${over} pixels stick out`);
    assert.equal(await page.evaluate(() => document.querySelectorAll("body img[src='x'], body svg[onload], body script:not([src]), a[href^='javascript']").length), 0, `${where}: a text became markup`);
    assert.deepEqual(await turning(page), [], where);
    assert.deepEqual(trouble, [], where);
  }
  await ask(`/v1/webhooks/${hook.id}`, undefined, "DELETE");
  await ask(`/sim/faults/${fault.id}`, undefined, "DELETE");
  await ask(`/sim/snapshots/${moment}`, undefined, "DELETE");
}
if (snapshot) await rpc(path, "evm_revert", [snapshot]);

// A picture of this server runs nothing, even where it is opened by itself.
const logo = await fetch(base + "/sim/logo/%3Cscript%3E-ff0000.svg");
assert.match(logo.headers.get("content-security-policy") ?? "default-src 'none'", /default-src 'none'/);

// A page of another origin may not control the world.
const foreign = await fetch(base + "/sim/clock", { method: "POST", headers: { "content-type": "application/json", origin: "https://evil.example" }, body: '{"advance":"1h"}' });
assert.equal(foreign.status, 403);
assert.ok(isolated > 10, `${isolated} texts with marks of direction were seen`);
await browser.close();
console.log(`nothing of the hostile names ran; ${isolated} texts with marks of direction stand by themselves`);

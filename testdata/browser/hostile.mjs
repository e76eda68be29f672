// Names that are scripts, that turn the direction of writing, and that are long, in what anyone can write to a world: nothing of it
// runs, and no page breaks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, base, launch, open, rpc } from "./browser.mjs";

const world = await ask("/sim/world");
const [chain] = world.chains;
const path = new URL(chain.rpcUrl).pathname;
const alice = world.personas[0].address;
const { bytecode } = JSON.parse(readFileSync(new URL("../../fixtures/contracts/artifacts/Token.json", import.meta.url)));
const { abi } = JSON.parse(readFileSync(new URL("../../fixtures/contracts/artifacts/Token.json", import.meta.url)));
const inputs = abi.find((f) => f.type === "constructor").inputs;

const word = (n) => n.toString(16).padStart(64, "0");
const text = (s) => {
  const raw = Buffer.from(s);
  return word(raw.length) + raw.toString("hex").padEnd(Math.ceil(raw.length / 32) * 64, "0");
};
/** The arguments of a constructor: texts, addresses and numbers. */
const pack = (values) => {
  let head = "", tail = "";
  for (const v of values) {
    if (typeof v === "string" && !v.startsWith("0x")) {
      head += word(values.length * 32 + tail.length / 2);
      tail += text(v);
    } else head += typeof v === "string" ? v.slice(2).toLowerCase().padStart(64, "0") : word(v);
  }
  return head + tail;
};
const attack = [
  "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "\u202eevil\u202c'onmouseover=alert(1) ", "{{.}}</title><svg onload=alert(1)>", "<b>".repeat(3400),
];

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
    const response = await page.goto(base + where, { waitUntil: "load" });
    if (response.status() === 404) trouble.length = 0; // a search for it finds nothing, which the browser notes
    assert.ok([200, 404].includes(response.status()), `${where}: ${response.status()}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${where}: ${over} pixels stick out`);
    const made = await page.evaluate(() => document.querySelectorAll("main img[src='x'], main svg[onload], main script, main b b").length);
    assert.equal(made, 0, `${where}: the name became markup`);
    assert.deepEqual(trouble, [], where);
  }
}
if (snapshot) await rpc(path, "evm_revert", [snapshot]);

// A picture of this server runs nothing, even where it is opened by itself.
const logo = await fetch(base + "/sim/logo/%3Cscript%3E-ff0000.svg");
assert.match(logo.headers.get("content-security-policy") ?? "default-src 'none'", /default-src 'none'/);

// A page of another origin may not control the world.
const foreign = await fetch(base + "/sim/clock", { method: "POST", headers: { "content-type": "application/json", origin: "https://evil.example" }, body: '{"advance":"1h"}' });
assert.equal(foreign.status, 403);
await browser.close();
console.log("nothing of the hostile names ran");

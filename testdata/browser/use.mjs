// What people do on the pages, one after the other: the control bar, worlds beside each other, faults, tests that are copied, contracts,
// the search, the keyboard alone, lists without an end, the ways of outputs and of messages, charts, the reference.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { ask, base, findings, launch, open, rpc, visit as go } from "./browser.mjs";

const world = await ask("/sim/world");
const [chain] = world.chains, [network] = world.networks, [alice, bob] = world.personas;
const node = new URL(chain.rpcUrl).pathname;
const on = `/sim/explorer/${chain.chainId}`;
const usdc = chain.contracts.find((c) => c.role === "usdc").address;
const browser = await launch();
const { context, page, trouble } = await open(browser, { viewport: { width: 1400, height: 900 } });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);

const visit = async (path) => {
  await go(page, path);
  if (!/\/docs\b/.test(path)) await page.waitForSelector("#control button"); // which the reference has no use for
};
const button = (name) => page.getByRole("button", { name, exact: typeof name === "string" }).first();
/** Presses a button of the control bar; the page is read anew. */
const press = async (name) => {
  await Promise.all([page.waitForNavigation(), button(name).click()]);
  await page.waitForSelector("#control button");
};
const digest = async () => (await ask("/sim/health")).digest;
const clock = async () => (await ask("/sim/clock")).unix;
const height = async () => BigInt(await rpc(node, "eth_blockNumber", []));
const stories = {};

stories["every button of the control bar"] = async () => {
  await visit(on);
  const before = await digest(), since = await clock();
  await press("Snapshot");
  await press("+1 h");
  assert.equal(await clock() - since, 3600);
  await press("+1 day");
  assert.equal(await clock() - since, 90_000);
  const { events } = await ask("/sim/clock/events"), next = events.find((e) => e.unix > since + 90_000);
  await press(new RegExp(`^To ${next.kind}`));
  assert.equal(await clock(), next.unix);
  await press("Run");
  assert.equal((await ask("/sim/clock")).rate, 1);
  const shown = await page.locator("#clock").innerText();
  await page.waitForFunction((t) => document.getElementById("clock").textContent !== t, shown);
  await press("Freeze");
  assert.equal((await ask("/sim/clock")).rate, 0);
  const blocks = await height();
  await press("Mine");
  assert.equal(await height(), blocks + 1n);
  await press("Index lag");
  await press("Mine");
  assert.match(await page.locator("#control").innerText(), /index is behind/);
  await press("Catch up");
  assert.doesNotMatch(await page.locator("#control").innerText(), /index is behind/);
  await press(/^Revert to/);
  assert.equal(await digest(), before);
  await press("Mine");
  await page.evaluate(() => { window.confirm = () => true; });
  await press("Reset");
  assert.equal(await digest(), world.digest);
};

stories["the bar on a phone"] = async () => {
  await page.setViewportSize({ width: 360, height: 800 });
  await go(page, on);
  const bar = page.locator("#control");
  await bar.locator("button").first().waitFor({ state: "attached" });
  assert.ok(await page.locator("#clock").isVisible() && !(await bar.isVisible()));
  await button("Change the world").click();
  const since = await clock();
  await Promise.all([page.waitForNavigation(), button("+1 h").click()]);
  assert.equal(await clock() - since, 3600);
  await button("Change the world").click();
  assert.ok(await bar.isVisible());
  await button("Change the world").click();
  assert.ok(!(await bar.isVisible()));
  await page.setViewportSize({ width: 1400, height: 900 });
};

stories["a world beside the main one"] = async () => {
  await visit("/");
  const before = await digest();
  await press("New world");
  const inside = new URL(page.url()).pathname;
  assert.match(inside, /^\/w\/[^/]+\/$/);
  const name = inside.split("/")[2];
  assert.match(await page.locator("#control [aria-current]").innerText(), new RegExp(name));
  const leaves = () => page.locator("a[href], form[action], [hx-get], link[href], script[src], img[src]").evaluateAll((all, at) => all
    .filter((e) => !e.closest("[aria-label=Worlds], [aria-label=World], .skip"))
    .map((e) => e.getAttribute("href") ?? e.getAttribute("action") ?? e.getAttribute("hx-get") ?? e.getAttribute("src"))
    .filter((u) => !u.startsWith("#") && !u.startsWith("data:") && !new URL(u, location.href).pathname.startsWith(at)), inside);
  for (const path of ["", on.slice(1), `${on.slice(1)}/address/${alice.address}`, "p/mainnet", "x/fuji", "messages", "charts", "requests", "webhooks", "docs", "docs/worlds",
    "search?q=usd", `address/${alice.address}`, `tx/${chain.samples.crossChainSource}`, `token/${usdc}`]) {
    await visit(inside + path);
    assert.ok(page.url().startsWith(base + inside), page.url());
    assert.deepEqual(await leaves(), [], path);
  }
  await visit(`${inside}address/${alice.address}`);
  await page.getByLabel("To", { exact: true }).fill("bob");
  await button("Send").click();
  await page.waitForURL(/\/tx\/0x[0-9a-f]{64}$/);
  assert.ok(page.url().startsWith(base + inside));
  await press("+1 day");
  assert.equal(await digest(), before, "the main world has changed");
  assert.notEqual((await ask(inside + "sim/health")).digest, before);
  // Each has a journal of its own.
  await visit(inside + "requests");
  assert.match(await page.locator("#requests").innerText(), /eth_sendTransaction/);
  await page.locator("[aria-label=World] a", { hasText: "main" }).click();
  await page.waitForURL(base + "/requests");
  await visit(inside);
  await page.evaluate(() => { window.confirm = () => true; });
  await press("End this world");
  assert.equal(page.url(), base + "/");
  assert.equal((await fetch(base + inside + "sim/health")).status, 404);
};

stories["a request that fails the next time, and is copied as a test"] = async () => {
  await fetch(`${base}/v1/chains/${chain.chainId}`);
  await visit("/requests?operation=getChain");
  await page.locator("#requests a").first().click();
  await page.waitForURL(/\/requests\/\d+$/);
  await page.getByRole("tab", { name: "Vitest" }).click();
  const panel = page.getByRole("tabpanel").filter({ visible: true });
  await panel.getByRole("button", { name: "Copy" }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(text, await panel.locator("pre").textContent());
  // vitest and node's own runner agree about what the test uses.
  const run = () => spawnSync("node", ["--input-type=module", "--eval", text.replace(/^import .*vitest";$/m,
    "import { test } from 'node:test'; import assert from 'node:assert'; const expect = (v) => ({ toBe: (w) => assert.equal(v, w), toEqual: (w) => assert.deepEqual(v, w) });")]);
  assert.equal(run().status, 0);
  await press("Make the next one fail");
  assert.match(await page.locator("#control").innerText(), /1 faults on/);
  assert.equal(run().status, 1);
  assert.equal(run().status, 0);
  await visit("/requests?failed=true");
  assert.match(await page.locator("#requests").innerText(), /503/);
  await press("Turn off");
  assert.match(await page.locator("#control").innerText(), /no faults/);
};

stories["a contract is called by its page"] = async () => {
  await visit(`${on}/address/${usdc}`);
  await page.getByRole("link", { name: "Source, read and write" }).click();
  await page.getByRole("link", { name: "transfer(address,uint256)" }).click();
  const fields = page.locator("form.fields input:not([type=hidden])");
  await fields.nth(0).fill(bob.address);
  await fields.nth(1).fill("5");
  await page.getByLabel("From").selectOption("alice");
  await button("Try").click();
  await page.getByText("It would answer").waitFor();
  const call = { to: usdc, data: "0x70a08231" + bob.address.slice(2).toLowerCase().padStart(64, "0") };
  const before = BigInt(await rpc(node, "eth_call", [call, "latest"]));
  await button("Send as alice").click();
  await page.waitForURL(/\/tx\/0x[0-9a-f]{64}$/);
  assert.match(await page.locator(".words").innerText(), /succeeded.*alice.*called transfer/s);
  assert.match(await page.locator("[aria-labelledby=moved]").innerText(), /ERC-20.*alice.*bob/s);
  assert.equal(BigInt(await rpc(node, "eth_call", [call, "latest"])), before + 5n);
  // The same facts side by side.
  const [name, data, rpcValue, raw] = await page.locator(".compare tr", { hasText: "Gas limit" }).locator("td").allInnerTexts();
  assert.equal(name, "Gas limit");
  assert.equal(BigInt(data), BigInt(rpcValue));
  assert.equal(data, raw);
};

stories["a search for anything"] = async () => {
  const block = await ask(`/v1/chains/${chain.chainId}/blocks/10`);
  const subnet = network.subnets[0], l1 = network.nodes.find((n) => n.role === "l1-active"), popular = network.nodes.find((n) => n.role === "popular");
  for (const [query, leads] of [
    ["alice", /\/address\/0x/], [alice.address, /\/address\/0x/], [alice.address.toLowerCase(), /\/address\/0x/], [alice.addresses.mainnet, /\/p\/mainnet\/address\/avax1/],
    ["P-" + alice.addresses.mainnet, /\/p\/mainnet\/address/], ["X-" + alice.addresses.fuji, /\/x\/fuji\/address/], [chain.samples.failed, /\/tx\/0x/], [block.blockHash, /\/block\/0x/],
    [chain.samples.crossChainMessage, /\/messages\/0x/], [popular.nodeId, /\/p\/mainnet\/node\/NodeID/], [network.samples["P.BaseTx"], /\/p\/mainnet\/tx\//],
    [network.samples["X.CreateAssetTx"], /\/x\/mainnet\/tx\/|\/search/], [network.samples["C.ExportTx"], /\/c\/mainnet\/tx\//], [subnet.subnetId, /\/p\/mainnet\/(subnet|tx)|\/search/],
    [l1.validationId, /\/p\/mainnet\/node\/|\/search/], [chain.blockchainId, /\/sim\/explorer\/|\/search/], [chain.chainId, /\/search|\/sim\/explorer/], ["10", /\/search/], ["usdc", /\/search|\/token\//],
    ["  alice  ", /\/address\/0x/], ["Icefall", /\/search|\/sim\/explorer\//],
  ]) {
    await go(page, "/docs/worlds");
    await page.getByRole("searchbox", { name: "Search" }).fill(query);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    assert.match(page.url(), leads, query);
    assert.doesNotMatch(await page.locator("main").innerText(), /Nothing matches/, query);
  }
};

stories["the keyboard alone"] = async () => {
  const reach = async (what) => {
    for (let i = 0; i < 400; i++) {
      if (await page.evaluate((s) => document.activeElement.matches(s), what)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`the keyboard does not reach ${what}`);
  };
  await visit("/");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.keyboard.press("/");
  await page.keyboard.type("alice");
  await Promise.all([page.waitForURL(/\/address\/0x/), page.keyboard.press("Enter")]);
  await page.waitForSelector("#control button");
  for (let i = 0; i < 30 && !(await page.locator("details.api[open]").count()); i++) { // a panel that comes late takes the focus with it
    await reach("details.api summary");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(300);
  }
  await reach("[role=tab][aria-selected=true]");
  const first = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.evaluate(() => document.activeElement.textContent), first);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("details.api[open]").count(), 0);
  await reach("input[name=to]");
  await page.keyboard.type("bob");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("0.25");
  await Promise.all([page.waitForURL(/\/tx\/0x/), page.keyboard.press("Enter")]);
  await page.waitForSelector("#control button");
  await reach("[data-do]");
  const since = await clock();
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Space")]);
  assert.equal(await clock() - since, 3600);
};

stories["a list without an end"] = async () => {
  for (const [path, row, total] of [[on, "[aria-labelledby=txs] tbody tr:not(.more)", chain.transactions], ["/p/mainnet?list=transactions", "[aria-labelledby=lists] tbody tr:not(.more)", 60],
    [`${on}/token/${chain.contracts.find((c) => c.role === "collection").address}`, ".gallery .card:not(.more)", 24]]) {
    await visit(path);
    for (let last = -1, n = await page.locator(row).count(); n < Math.min(total, 110) && n !== last;) {
      last = n;
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await page.waitForFunction(([s, k]) => document.querySelectorAll(s).length > k || !document.querySelector(".more"), [row, n]);
      n = await page.locator(row).count();
    }
    const ids = await page.locator(row).evaluateAll((all) => all.map((e) => (e.querySelector("a") ?? e).href || e.href));
    assert.ok(ids.length >= Math.min(total, 60), `${path}: ${ids.length} rows`);
    assert.equal(new Set(ids).size, ids.length, `${path}: a row comes twice`);
  }
};

stories["timelines line up"] = async () => {
  for (const path of ["/p/mainnet", "/p/mainnet?list=delegators", `/p/mainnet/node/${network.nodes.find((n) => n.role === "popular").nodeId}`,
    `/p/mainnet/subnet/${network.subnets.find((s) => !s.isL1).subnetId}`]) {
    await visit(path);
    const edges = await page.locator(".axis").locator("xpath=ancestor::table").locator(".axis, svg.bar").evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).map((r) => `${r.left} ${r.right}`));
    assert.ok(edges.length > 1, path);
    assert.equal(new Set(edges).size, 1, `${path}: ${edges}`);
  }
};

stories["the way of an output"] = async () => {
  const made = page.locator(".flow ul[aria-label=Consumed] a[href*='/tx/']");
  for (const [kind, id] of Object.entries(network.samples)) {
    if (!kind.startsWith("P.")) continue;
    await visit(`/p/mainnet/tx/${id}`);
    if (await made.count() > 0) break; // what it consumed is not of the genesis
  }
  const here = page.url().split("/").pop();
  await made.first().click();
  await page.waitForURL((url) => !url.pathname.endsWith(here));
  assert.equal(await page.locator(`.flow ul[aria-label=Made] a[href$="${here}"]`).count() > 0, true, "what made it does not say who consumed it");
};

stories["the way of a message"] = async () => {
  await visit(`/messages/${chain.samples.crossChainMessage}`);
  assert.match(await page.locator(".steps").innerText(), /Sent.*Delivered.*(Executed|Execution failed).*(Receipt returned|No receipt yet)/s);
  await visit(`/search?q=${chain.samples.crossChainPending}`);
  assert.match(await page.locator(".steps").innerText(), /Sent.*On its way.*Not executed yet.*No receipt yet/s);
  await page.locator(".steps a").first().click();
  await page.waitForURL(/\/tx\/0x/);
  assert.match(await page.locator("[aria-labelledby=message]").innerText(), /On its way/);
};

stories["every chart"] = async () => {
  const spans = { hour: 3600, day: 86_400, week: 7 * 86_400, month: 31 * 86_400 };
  await visit("/charts");
  const sources = await page.locator("[aria-label='Metrics'] a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  const now = await clock();
  let charts = 0;
  for (const source of sources) {
    for (const interval of Object.keys(spans)) {
      await go(page, `${source}${source.includes("?") ? "&" : "?"}interval=${interval}`);
      for (const box of await page.locator(".chart").all()) {
        const [times, values] = JSON.parse(await box.getAttribute("data-points")), label = `${source} ${interval}: ${await box.getAttribute("aria-label")}`;
        await box.locator("canvas").waitFor();
        charts++;
        assert.ok(times.every((t, i) => i === 0 || t > times[i - 1]), `${label}: not in order`);
        assert.ok(values.every((v) => Number.isFinite(Number(v))), label);
        // The last point is the latest whole interval: neither one to come nor one long ago.
        assert.ok(times.at(-1) <= now && times.at(-1) > now - 2 * spans[interval] - 86_400, `${label}: ends at ${times.at(-1)}, the clock is ${now}`);
      }
      assert.equal(await page.locator(".trouble").count(), 0, `${source} ${interval}`);
      if ((await page.locator("[aria-label=Interval]").count()) === 0) break;
    }
  }
  assert.ok(charts > 60, `${charts} charts`);
};

stories["an export of each kind"] = async () => {
  await visit("/webhooks");
  const forms = page.locator("form[data-path$='transactions:export']");
  const started = async (form, kind) => {
    await form.getByRole("button", { name: "Export" }).click();
    await page.locator("#exports tr", { hasText: kind }).first().getByText("transactions.csv").waitFor();
  };
  await started(forms.first(), "evm");
  for (const [what, kind] of [["Every transaction", "primary network"], ["Every transaction, in fewer columns", "primary network simple"], ["Stakes and their rewards", "primary network staking"]]) {
    await forms.last().getByLabel("What").selectOption(what);
    await forms.last().getByLabel("Chains").selectOption("All three");
    await started(forms.last(), kind);
  }
  const file = await page.locator("#exports a").first().getAttribute("href");
  assert.match(await (await fetch(new URL(file, base))).text(), /^[^\n]*,[^\n]*/, file);
};

stories["the reference"] = async () => {
  let bytes = 0;
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
  await visit("/docs");
  assert.ok(bytes < 60_000, `${bytes} bytes`);
  await page.getByLabel("Find").fill("erc20 balances");
  await page.waitForFunction(() => document.querySelectorAll(".op:not([hidden])").length < 5);
  await page.keyboard.press("Enter");
  await page.locator(".op[open] .execute").click();
  await page.locator(".live-responses-table", { hasText: "erc20TokenBalances" }).waitFor();
  assert.match(await page.locator(".op[open] .live-responses-table").innerText(), /200/);
  assert.ok(bytes < 300_000, `${bytes} bytes with the library for an operation`);
  await page.locator(".op[open] button.tablinks", { hasText: "Schema" }).first().click();
  await page.locator(".op[open] .json-schema-2020-12-accordion", { hasText: "erc20TokenBalances" }).first().waitFor(); // by a reference
  await page.getByLabel("Find").fill("eth_getBalance");
  await page.keyboard.press("Enter");
  const method = page.locator("[id='eth_getBalance']");
  await method.locator(".execute").click();
  await method.locator(".live-responses-table", { hasText: '"result": "0x' }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole("link", { name: "For the published SDKs" }).click();
  await page.locator("[id='startTransactionExport'] summary").click();
  await page.locator(".responses-table td", { hasText: "201" }).first().waitFor();
};

const start = await rpc(node, "evm_snapshot", []);
for (const [name, story] of Object.entries(stories)) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  const since = Date.now();
  await story().catch((e) => { throw new Error(`${name}, at ${page.url()}: ${e.message}`, { cause: e }); });
  // The browser itself notes the statuses that faults and worlds that ended have.
  assert.deepEqual(trouble.filter((t) => !/status of (404|503)/.test(t)), [], name);
  trouble.length = 0;
  if (process.argv[2]) console.log(name, Date.now() - since, "ms");
}
await rpc(node, "evm_revert", [start]).catch(() => null); // the world may have been reset
await browser.close();
console.log(`${Object.keys(stories).length} stories of use`);

// A story: find alice, send from her, see the request, the block and the webhook, move the clock a day, see the chart, go back: all
// is as before.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { ask, base, launch, open, visit } from "./browser.mjs";

const before = await ask("/sim/health");
const told = [];
const listener = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => { body += part; }).on("end", () => { told.push(JSON.parse(body)); response.end("ok"); });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => { listener.on("listening", resolve); });

const browser = await launch();
const { page, trouble } = await open(browser, { viewport: { width: 1400, height: 900 } });
const press = async (name) => Promise.all([page.waitForNavigation(), page.getByRole("button", { name, exact: typeof name === "string" }).click()]);
const clock = () => page.locator("#clock").getAttribute("datetime");

await visit(page, "/");
await press("Snapshot");

// Somebody is told of what alice does.
await visit(page, "/webhooks");
await page.getByLabel("Address of your server").fill(`http://127.0.0.1:${listener.address().port}/`);
await press("Create");

// Find her.
await page.getByRole("searchbox", { name: "Search" }).fill("alice");
await Promise.all([page.waitForNavigation(), page.getByRole("button", { name: "Search" }).click()]);
await page.waitForURL(/\/address\/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266$/);
assert.equal(await page.locator("h1").innerText().then((t) => /alice/.test(t)), true);

// Send.
await page.getByLabel("To", { exact: true }).fill("bob");
await page.getByLabel("AVAX", { exact: true }).fill("1.5");
await page.getByRole("button", { name: "Send", exact: true }).click();
await page.waitForURL(/\/tx\/0x[0-9a-f]{64}$/);
const hash = page.url().split("/").pop();
assert.match(await page.locator(".words").innerText(), /alice.*sent.*1\.5.*bob/s);

// The block.
await page.locator("dl a.num").first().click();
await page.waitForURL(/\/block\/\d+$/);
assert.equal(await page.locator(`a[title="${hash}"]`).count(), 1);

// The request.
await visit(page, "/requests?operation=eth_sendTransaction");
assert.match(await page.locator("#requests").innerText(), /eth_sendTransaction/);
await page.locator("#requests a").first().click();
await page.waitForURL(/\/requests\/\d+$/);
assert.match(await page.locator("main").innerText(), new RegExp(hash));

// It comes in live.
await visit(page, "/requests");
await page.locator("#live").filter({ hasText: "live" }).waitFor();
await fetch(base + "/v1/chains/424242");
await page.locator("#requests").filter({ hasText: "424242" }).waitFor();

// The webhook.
for (let i = 0; i < 600 && told.length === 0; i++) await new Promise((resolve) => { setTimeout(resolve, 100); });
assert.ok(JSON.stringify(told[0] ?? {}).includes(hash), `the webhook was told ${JSON.stringify(told).slice(0, 300)}`);
await visit(page, "/webhooks");
await page.locator("main .badge", { hasText: "delivered" }).first().waitFor();

// A day later.
await visit(page, "/");
const then = Date.parse(await clock());
await page.getByRole("button", { name: "+1 day" }).waitFor();
await press("+1 day");
assert.equal(Date.parse(await clock()) - then, 24 * 3600 * 1000);

// The chart.
await visit(page, "/charts");
await page.locator(".chart canvas").first().waitFor();
const [times, values] = JSON.parse(await page.locator("#chart-txCount").locator("xpath=ancestor::section").locator(".chart").getAttribute("data-points"));
assert.ok(values.length > 0 && times.length === values.length && values.some((v) => Number(v) > 0));

// A contract is read and written.
const world = await ask("/sim/world");
const greeter = world.chains[0].contracts.find((c) => c.role === "usdc").address;
await visit(page, `/sim/explorer/${world.chains[0].chainId}/address/${greeter}/contract?call=transfer(address,uint256)&a0=${world.personas[1].address}&a1=1&from=alice`);
await page.getByRole("button", { name: "Send as alice" }).click();
await page.waitForURL(/\/tx\/0x[0-9a-f]{64}$/);
assert.match(await page.locator(".words").innerText(), /alice.*called.*transfer/s);

// The call behind a panel, in the languages of those who make it, reached by the keyboard.
await page.locator("details.api summary").first().focus();
await page.keyboard.press("Enter");
await page.getByRole("tab", { name: "chainkit" }).first().click();
assert.match(await page.getByRole("tabpanel").filter({ visible: true }).first().innerText(), /avalanche\.data\.evm\.transactions\.get/);

// Back again.
await visit(page, "/");
await page.getByRole("button", { name: /^Revert to/ }).first().waitFor();
await press(/^Revert to/);
assert.equal((await ask("/sim/health")).digest, before.digest);
assert.deepEqual(trouble, []);
await visit(page, `/tx/${hash}`);
assert.match(await page.locator("main").innerText(), /nothing in this world/);
await browser.close();
listener.close();
console.log("the story ends as it began");

// Each page in both colour schemes, on a telephone and on a wide screen: no error, no request to another host, nothing serious
// for axe, nothing that sticks out at the side.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { ask, base, findings, launch, open, visit } from "./browser.mjs";

const world = await ask("/sim/world");
const [chain] = world.chains, [network] = world.networks;
const alice = world.personas.find((p) => p.name === "alice"), collector = world.personas.find((p) => p.name === "collector");
const contract = (role) => chain.contracts.find((c) => c.role === role).address;
const on = `/sim/explorer/${chain.chainId}`;
const pages = {
  home: "/", chain: on, block: `${on}/block/10`, transaction: `/tx/${chain.samples.crossChainSource}`, failed: `/tx/${chain.samples.failed}`,
  deployment: `/tx/${chain.samples.deployment}`, alice: `/address/${alice.address}`, collector: `${on}/address/${collector.address}`,
  token: `${on}/token/${contract("usdc")}`, collection: `${on}/token/${contract("collection")}`, item: `${on}/token/${contract("collection")}/1`,
  contract: `${on}/address/${contract("usdc")}/contract?call=balanceOf(address)&a0=${alice.address}`,
  "p-chain": "/p/mainnet", delegators: "/p/mainnet?list=delegators", l1: "/p/mainnet?list=l1", subnets: "/p/fuji?list=subnets",
  "p-transactions": "/p/mainnet?list=transactions", "p-blocks": "/p/mainnet?list=blocks", "p-block": "/p/mainnet/block/7",
  "p-transaction": `/search?q=${network.samples["P.ConvertSubnetToL1Tx"]}`, "p-address": `/p/mainnet/address/${alice.addresses.mainnet}`,
  node: `/search?q=${network.nodes.find((n) => n.role === "popular").nodeId}`, subnet: `/p/mainnet/subnet/${network.subnets[0].subnetId}`,
  "x-chain": "/x/mainnet", "x-transaction": `/search?q=${network.samples["X.OperationTx"]}`, "c-transaction": `/search?q=${network.samples["C.ExportTx"]}`,
  messages: "/messages", message: `/messages/${chain.samples.crossChainMessage}`, metrics: "/charts", staking: "/charts?of=mainnet",
  requests: "/requests", session: "/session", webhooks: "/webhooks", search: "/search?q=usd", nothing: "/search?q=no+such+thing", reference: "/docs", manual: "/docs/coverage", operation: "/docs#listErc20Balances", method: "/docs?dialect=upstream#eth_call",
};
const folder = process.env.SCREENSHOTS;
mkdirSync(folder, { recursive: true });
await fetch(base + "/v1/chains/999");

const browser = await launch();
const wrong = [];
const look = async (colorScheme, width) => {
  const { context, page, trouble } = await open(browser, { colorScheme, viewport: { width, height: 900 } });
  for (const [name, path] of Object.entries(pages)) {
    trouble.length = 0;
    const response = await visit(page, path);
    if (/docs.*#/.test(path)) await page.waitForSelector(".opblock .execute");
    if (path.startsWith("/docs")) assert.equal(await page.locator("#control").count(), 0, path); // changes nothing there
    else {
      await page.waitForSelector("#control button", { state: "attached" });
      assert.equal(await page.locator("#control").isVisible(), width > 800, `${path}, ${width}`); // folded on phones
    }
    const where = `${name} (${colorScheme}, ${width})`;
    if (response.status() !== (name === "nothing" ? 404 : 200)) wrong.push(`${where}: status ${response.status()}`);
    if (name === "nothing") trouble.length = 0; // the browser itself notes the status
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) wrong.push(`${where}: ${over} pixels stick out`);
    wrong.push(...trouble.map((t) => `${where}: ${t}`));
    wrong.push(...(await findings(page)).map((f) => `${where}: ${f}`));
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png` });
  }
  await context.close();
};
await Promise.all([look("light", 360), look("light", 1400), look("dark", 360), look("dark", 1400)]);
await browser.close();
assert.deepEqual(wrong, []);
console.log(`${Object.keys(pages).length} pages, each in two colour schemes and two widths: screenshots in ${folder}`);

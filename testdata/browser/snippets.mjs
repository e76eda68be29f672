// What a reader can copy from a page does what it says: the snippets of the first page and those of the panels are run as they stand, by
// node, go, python and sh. The clients' packages are those of testdata/clients.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ask, base, launch, open, visit } from "./browser.mjs";

const world = await ask("/sim/world");
const [chain] = world.chains, [network] = world.networks, [alice] = world.personas;
const contract = (role) => chain.contracts.find((c) => c.role === role).address;
const on = `/sim/explorer/${chain.chainId}`;
const pages = ["/", on, `${on}/block/10`, `/tx/${chain.samples.crossChainSource}`, `/address/${alice.address}?history=erc20`, `${on}/token/${contract("usdc")}`,
  `${on}/token/${contract("collection")}`, `${on}/token/${contract("collection")}/1`, `${on}/address/${contract("usdc")}/contract?call=symbol()`, "/p/mainnet",
  "/p/mainnet?list=l1", "/p/mainnet?list=delegators", "/p/mainnet?list=subnets", `/search?q=${network.samples["P.BaseTx"]}`, `/p/mainnet/address/${alice.addresses.mainnet}`,
  `/search?q=${network.nodes.find((n) => n.role === "popular").nodeId}`, "/x/mainnet", "/messages", `/messages/${chain.samples.crossChainMessage}`, "/charts", "/charts?of=mainnet",
  "/charts?of=icm", `/charts?of=${network.subnets[0].subnetId}`, "/p/mainnet/block/7", `/p/mainnet/subnet/${network.subnets[0].subnetId}`, "/webhooks", "/requests",
  `/x/mainnet/asset/${network.samples["X.CreateAssetTx"]}`];

// All snippets, each once: of one language those that differ in more than the ids.
const snippets = new Map();
const note = (language, text) => {
  const shape = language + text.replace(/0x[0-9a-fA-F]{6,}|NodeID-\w+|(avax|fuji)1\w+|\b[1-9A-HJ-NP-Za-km-z]{40,}\b/g, "*").replace(/metrics\/\w+|metric: "\w+"/g, "*");
  if (!snippets.has(shape)) snippets.set(shape, { language, text });
};
const browser = await launch();
const { page, trouble } = await open(browser, { viewport: { width: 1400, height: 900 } });
for (const path of pages) {
  await visit(page, path);
  const found = await page.evaluate(async () => {
    const all = [];
    for (const details of document.querySelectorAll("details.api")) {
      details.open = true;
      await new Promise((resolve) => { setTimeout(resolve); });
      const names = [...details.querySelectorAll("[role=tab]")].map((t) => t.textContent);
      [...details.querySelectorAll("[role=tabpanel] code")].forEach((code, i) => all.push([names[i], code.textContent]));
    }
    for (const section of document.querySelectorAll("#connect, [aria-labelledby=connect] [data-tab]"))
      if (section.dataset.tab && section.querySelector("code") && section.dataset.tab !== "MetaMask") all.push([section.dataset.tab, section.querySelector("pre").textContent]);
    return all;
  });
  for (const [language, text] of found) note(language, text);
}
assert.deepEqual(trouble, []);
await browser.close();

const of = (...languages) => [...snippets.values()].filter((s) => languages.includes(s.language)).map((s) => s.text);
const fails = (answer) => /"statusCode":|^\{"(jsonrpc|error).*"error":\{/m.test(answer) || answer.trim() === "";

// Programs of node run one after the other in one process.
const folder = fileURLToPath(new URL("../clients/node_modules/.snippets/", import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const programs = of("viem", "ethers", "chainkit", "avalanchejs", "JavaScript");
programs.forEach((text, i) => writeFileSync(`${folder}${i}.mjs`, text));
writeFileSync(folder + "all.mjs", programs.map((text, i) =>
  `await import("./${i}.mjs").catch((e) => { console.error(${JSON.stringify(text)}, e); process.exitCode = 1; });`).join("\n"));
const ran = spawnSync("node", [folder + "all.mjs"], { encoding: "utf8", maxBuffer: 1 << 28, timeout: 600_000 });
assert.equal(ran.status, 0, ran.stderr.slice(0, 4000));
assert.ok(!/statusCode:/.test(ran.stdout), ran.stdout.slice(0, 2000));

for (const text of of("curl")) {
  const answer = execFileSync("sh", ["-c", text], { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok(!fails(answer), `${text}\n${answer.slice(0, 500)}`);
}
const all = `import json, sys\nfor text in json.load(sys.stdin):\n    try: exec(text, {})\n    except Exception as e: sys.exit(text + str(e))`;
const python = spawnSync("python3", ["-c", all], { encoding: "utf8", maxBuffer: 1 << 28, input: JSON.stringify(of("Python")) });
assert.equal(python.status, 0, python.stderr);
// Compiling takes time: one program of each form.
const forms = new Map(of("Go").map((text) => [text.match(/ethclient|rpc\.Dial|http\.\w+\(/)[0], text]));
assert.equal(forms.size, 4, [...forms.keys()].join());
for (const text of forms.values()) {
  writeFileSync(folder + "main.go", text);
  const done = spawnSync("go", ["run", folder + "main.go"], { encoding: "utf8", cwd: fileURLToPath(new URL("../..", import.meta.url)), maxBuffer: 1 << 28 });
  assert.ok(done.status === 0 && !fails(done.stdout), `${text}\n${done.stderr}${done.stdout.slice(0, 500)}`);
}
rmSync(folder, { recursive: true });
const counted = ["viem", "ethers", "chainkit", "avalanchejs", "JavaScript", "curl", "Python", "Go"].map((l) => `${of(l).length} ${l}`);
console.log(`snippets that work: ${counted.join(", ")}`);

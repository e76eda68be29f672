// Runs every operation of the Data API and of the Metrics API through @avalanche-sdk/chainkit, which validates each answer,
// and follows every list to its end, in pages small enough to have several. The SDK ignores a server URL given to its
// constructor, so each call carries it.
//
//   SNOWGLOBE_URL=http://127.0.0.1:9650 node chainkit.mjs
import { Avalanche } from "@avalanche-sdk/chainkit";
import { exportAll } from "./exports.mjs";
import { account } from "./account.mjs";
import { aggregator } from "./aggregator.mjs";
import { messages } from "./messages.mjs";
import { readMetrics } from "./metrics.mjs";
import { primary } from "./primary.mjs";

const serverURL = process.env.SNOWGLOBE_URL ?? "http://127.0.0.1:9650";
const options = { serverURL };
const called = new Set();
const sdk = noted(new Avalanche({ enableTelemetry: false, retryConfig: { strategy: "none" } }), "");
const { evm, nfts } = sdk.data;

// The accounts of the well-known mnemonic that a world gives parts to.
const people = {
  alice: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  whale: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  deployer: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  collector: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  clumsy: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  spammed: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  nobody: "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
};

let calls = 0;
let items = 0;
const failures = [];

// noted is the SDK, or a part of it, which takes down what is called.
function noted(part, path) {
  return new Proxy(part, {
    get(target, name) {
      const value = target[name];
      if (typeof value === "function") return (...args) => (called.add(`${path}${name}`), value.apply(target, args));
      return value !== null && typeof value === "object" && typeof name === "string" && !name.startsWith("_") ? noted(value, `${path}${name}.`) : value;
    },
  });
}

// operations are the names of all calls that the SDK, or a part of it, has.
function operations(part, path) {
  return Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(part))).flatMap(([name, { get, value }]) => {
    if (get) return operations(part[name], `${path}${name}.`);
    return typeof value === "function" && name !== "constructor" ? [`${path}${name}`] : [];
  });
}

// one makes a call and reports what the SDK rejects.
async function one(what, call) {
  calls++;
  try {
    return await call();
  } catch (error) {
    failures.push(`${what}: ${error.name}: ${String(error.pretty?.() ?? error.message).slice(0, 500)}`);
    return undefined;
  }
}

// all follows a list to its end; nothing may come twice.
async function all(what, key, call) {
  const found = [];
  const seen = new Set();
  await one(what, async () => {
    for await (const page of await call()) {
      calls++;
      for (const item of page.result[key]) {
        const text = JSON.stringify(item);
        if (seen.has(text)) failures.push(`${what}: ${text.slice(0, 200)} comes twice`);
        seen.add(text);
        found.push(item);
      }
    }
  });
  items += found.length;
  return found;
}

async function person(chainId, name, address) {
  const at = `${name} on ${chainId}`;
  const request = { chainId, address, pageSize: 25 };
  const { balances, transactions, contracts, chains } = evm.address;
  for (const kind of ["listNative", "listErc20", "listErc721", "listErc1155", "listInternal", "list"]) {
    await all(`transactions.${kind} of ${at}`, "transactions", () => transactions[kind](request, options));
  }
  await all(`transactions.list of ${at}, oldest first`, "transactions", () => transactions.list({ ...request, sortOrder: "asc" }, options));
  await all(`transactions.listNative of ${at} in blocks 10 to 40`, "transactions", () =>
    transactions.listNative({ ...request, startBlock: 10, endBlock: 40 }, options));
  await one(`balances.getNative of ${at}`, () => balances.getNative({ chainId, address, currency: "eur" }, options));
  const shown = await all(`balances.listErc20 of ${at}`, "erc20TokenBalances", () => balances.listErc20({ ...request, pageSize: 3 }, options));
  const every = await all(`balances.listErc20 of ${at} with spam`, "erc20TokenBalances", () =>
    balances.listErc20({ ...request, filterSpamTokens: false, currency: "jpy" }, options));
  if (name === "spammed" && every.length <= shown.length) failures.push(`${at}: the spam filter hides nothing`);
  await all(`balances.listErc20 of ${at} at block 20`, "erc20TokenBalances", () => balances.listErc20({ ...request, blockNumber: "20" }, options));
  await all(`balances.listErc721 of ${at}`, "erc721TokenBalances", () => balances.listErc721(request, options));
  await all(`balances.listErc1155 of ${at}`, "erc1155TokenBalances", () => balances.listErc1155(request, options));
  await all(`balances.listCollectibles of ${at}`, "collectibleBalances", () => balances.listCollectibles(request, options));
  await all(`contracts.listDeployments of ${at}`, "contracts", () => contracts.listDeployments(request, options));
  await one(`chains of ${name}`, () => chains.list({ address }, options));
  await one(`chains of ${name}, the older way`, () => evm.chains.getAddressChains({ address }, options));
}

async function contract(chainId, address) {
  const what = `contract ${address} on ${chainId}`;
  const metadata = await one(`getMetadata of ${what}`, () => evm.contracts.getMetadata({ chainId, address }, options));
  await one(`getDeploymentTransaction of ${what}`, () => evm.contracts.getDeploymentTransaction({ chainId, address, currency: "chf" }, options));
  if (metadata?.ercType === "UNKNOWN") return;
  await all(`listTransfers of ${what}`, "transfers", () => evm.contracts.listTransfers({ chainId, address, pageSize: 100 }, options));
  if (metadata?.ercType === "ERC-20") return;
  const tokens = await all(`nfts.list of ${what}`, "tokens", () => nfts.list({ chainId, address, pageSize: 20 }, options));
  for (const token of tokens.slice(0, 20)) {
    await one(`nfts.get ${token.tokenId} of ${what}`, () => nfts.get({ chainId, address, tokenId: token.tokenId }, options));
  }
}

async function chain(chainId) {
  await one(`chains.get ${chainId}`, () => evm.chains.get({ chainId }, options));
  const blocks = await all(`blocks.listLatest ${chainId}`, "blocks", () => evm.blocks.listLatest({ chainId, pageSize: 100 }, options));
  for (const block of blocks.slice(0, 3)) {
    for (const blockId of [block.blockNumber, block.blockHash]) {
      await one(`blocks.get ${blockId}`, () => evm.blocks.get({ chainId, blockId }, options));
      const held = await one(`blocks.listTransactions ${blockId}`, () => evm.blocks.listTransactions({ chainId, blockId }, options));
      if (held && held.transactions.length !== block.txCount) failures.push(`block ${blockId} of ${chainId}: ${held.transactions.length} transactions, not ${block.txCount}`);
    }
  }
  const transactions = await all(`transactions.listLatest ${chainId}`, "transactions", () => evm.transactions.listLatest({ chainId, pageSize: 100 }, options));
  for (const status of ["failed", "success"]) {
    await all(`transactions.listLatest ${chainId} ${status}`, "transactions", () => evm.transactions.listLatest({ chainId, status, pageSize: 100 }, options));
  }
  for (const { txHash } of transactions.slice(0, 150)) {
    await one(`transactions.get ${txHash}`, () => evm.transactions.get({ chainId, txHash }, options));
  }
  for (const [name, address] of Object.entries(people)) await person(chainId, name, address);
  const made = await all(`contracts on ${chainId}`, "contracts", () =>
    evm.address.contracts.listDeployments({ chainId, address: people.deployer, pageSize: 100 }, options));
  for (const { address } of made) await contract(chainId, address);
}

await one("healthCheck", () => sdk.data.healthCheck(options));
await one("liveCheck", () => sdk.data.liveCheck(options));
const listed = await one("chains.list", () => evm.chains.list({}, options));
await one("chains.list by feature", () => evm.chains.list({ feature: "nftIndexing", network: "fuji" }, options));
for (const network of ["mainnet", "fuji"]) {
  await all(`blocks of ${network}`, "blocks", () => evm.blocks.listLatestAllChains({ network, pageSize: 100 }, options));
  await all(`latest blocks of ${network}`, "blocks", () => evm.chains.listAllLatestBlocks({ network, pageSize: 100 }, options));
  await all(`latest transactions of ${network}`, "transactions", () => evm.chains.listAllLatestTransactions({ network, pageSize: 100 }, options));
  await all(`transactions of ${network}`, "transactions", () => evm.transactions.listLatestAllChains({ network, pageSize: 100 }, options));
}
// A C-Chain and an L1 of each network, as far as the world has them.
const chosen = new Map();
for (const c of listed?.chains ?? []) {
  const key = `${c.isTestnet} ${c.chainId === "43114" || c.chainId === "43113"}`;
  if (!chosen.has(key)) chosen.set(key, c.chainId);
}
for (const chainId of chosen.values()) await chain(chainId);
await readMetrics({ sdk, options, one, all, failures });

await one("avaxSupply.get", () => sdk.avaxSupply.get(options));
for (const network of ["mainnet", "fuji"]) {
  await primary({ sdk, options, one, all, failures }, network);
  await aggregator({ sdk, options, one, failures }, network, listed.chains);
  await messages({ sdk, options, one, all, failures }, network);
}
await exportAll({ sdk, options, one, failures }, Object.values(people), [...chosen.values()]);

await account({ sdk, options, one, all, failures }, people.alice, listed.chains);

// validateWebhook asks nothing: it verifies a signature, though not as the service documents it. webhooks.mjs does.
const everything = operations(new Avalanche({ enableTelemetry: false }), "");
for (const name of everything) if (!called.has(name) && name !== "validateWebhook") failures.push(`nothing calls ${name}`);
if (everything.length < 95) failures.push(`the SDK has only ${everything.length} operations`);

for (const failure of failures) console.error(failure);
console.log(`chainkit: ${everything.length} operations, ${calls} calls, ${items} items on chains ${[...chosen.values()].join(", ")}: ${failures.length} rejected`);
process.exit(failures.length === 0 ? 0 : 1);

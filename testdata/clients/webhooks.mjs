// Receives webhooks with an Express application that verifies them as the service documents it, while payments, token transfers, an NFT,
// an internal transfer, a delegation and the ends of validators happen, the receiver fails and goes away, and the simulator is killed.
//
//   BINARY=./snowglobe FOLDER=$(mktemp -d) node webhooks.mjs
import { spawn } from "node:child_process";
import crypto from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import express from "express";
import { Interface } from "ethers";
import { canonicalize } from "json-canonicalize";
import { Avalanche } from "@avalanche-sdk/chainkit";
import { validateSignature } from "@avalanche-sdk/chainkit/utils/index.js";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import tokenListSchema from "@uniswap/token-lists/src/tokenlist.schema.json" with { type: "json" };

const free = async () => {
  const s = createServer().listen(0, "127.0.0.1");
  await once(s, "listening");
  const { port } = s.address();
  s.close();
  return port;
};
const port = await free(), receiverPort = await free();
const serverURL = `http://127.0.0.1:${port}`, options = { serverURL };
process.env.SNOWGLOBE_URL = serverURL;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const failures = [];
const check = (what, ok, detail) => ok || failures.push(`${what}: ${JSON.stringify(detail)?.slice(0, 600)}`);

let server;
process.on("exit", () => server?.kill("SIGKILL"));
async function start() {
  server = spawn(process.env.BINARY, ["serve", "--quiet", "--db", `${process.env.FOLDER}/webhooks.db`, "--profile", "tiny", "--addr", `127.0.0.1:${port}`], { stdio: "inherit" });
  for (let i = 0; ; i++) {
    if ((await fetch(`${serverURL}/sim/health`).catch(() => null))?.ok) return;
    if (i > 300) throw new Error("the simulator does not answer");
    await sleep(50);
  }
}
async function kill() {
  server.kill("SIGKILL");
  await once(server, "exit");
}

// The receiver takes a message for delivered when it has answered 200, and tells a message that comes again by its messageId.
let secret = "", failing = 0, attempts = 0, again = 0, killing = false;
const got = [];
const app = express();
app.post("/hook", express.json({ limit: "10mb" }), (req, res) => {
  attempts++;
  const digest = crypto.createHmac("sha256", Buffer.from(secret, "hex")).update(canonicalize(req.body)).digest("base64");
  check("the signature", digest === req.headers["x-signature"], req.body);
  if (failing > 0) {
    failing--;
    return res.status(500).send("not now");
  }
  if (got.some((m) => m.messageId === req.body.messageId)) {
    again++;
    check("a message comes twice", killing, req.body);
  } else {
    got.push(req.body);
  }
  res.sendStatus(200);
});
let listener = app.listen(receiverPort, "127.0.0.1");

async function ask(path, body, method = body ? "POST" : "GET") {
  const answer = await fetch(serverURL + path, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
  const read = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(read)}`);
  return read;
}
async function rpc(method, ...params) {
  const answer = await ask("/ext/bc/C/rpc", { jsonrpc: "2.0", id: 1, method, params });
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

await start();
const { world, persona, abi } = await import("./world.mjs");
const sdk = new Avalanche({ enableTelemetry: false, retryConfig: { strategy: "none" } });
const chain = world.chains.find((c) => Number(c.chainId) === 43114);
const url = `http://127.0.0.1:${receiverPort}/hook`;
const watched = "0x00000000000000000000000000000000000c0ffe", wei = (n) => `0x${n.toString(16)}`;

// chainkit calls every operation about webhooks.
const hook = await sdk.webhooks.create({ eventType: "address_activity", url, chainId: "43114", name: "all", includeLogs: true, includeInternalTxs: true, metadata: { addresses: [watched] } }, options);
({ secret } = await sdk.webhooks.generateOrRotateSharedSecret(options));
check("the secret", (await sdk.webhooks.getSharedSecret(options)).secret === secret, secret);
await sdk.webhooks.addresses.add({ id: hook.id, addressesChangeRequest: { addresses: [persona.bob.address] } }, options);
await sdk.webhooks.addresses.remove({ id: hook.id, addressesChangeRequest: { addresses: [persona.bob.address] } }, options);
for await (const page of await sdk.webhooks.addresses.list({ id: hook.id, pageSize: 1 }, options)) check("addresses", page.result.totalAddresses === 1, page.result);
const spare = await sdk.webhooks.create({ eventType: "address_activity", url, chainId: "70411", metadata: { addresses: [] } }, options);
await sdk.webhooks.update({ id: spare.id, updateWebhookRequest: { description: "of no use" } }, options);
check("deactivated", (await sdk.webhooks.deactivate({ id: spare.id }, options)).status === "inactive", spare);
check("read", (await sdk.webhooks.get({ id: hook.id }, options)).name === "all", hook);
const P = { network: "mainnet" };
const whaleP = persona.whale.chainAddresses.mainnet.P.slice(2);
await sdk.webhooks.create({ eventType: "primary_network_address_activity", url, chainId: "p-chain", ...P, metadata: { keyType: "addresses", keys: [whaleP], subEvents: { addressActivitySubEvents: ["balance_change"] } } }, options);
await sdk.webhooks.create({ eventType: "validator_activity", url, ...P, metadata: { keyType: "subnetId", keys: ["11111111111111111111111111111111LpoYY"],
  subEvents: { validatorActivitySubEvents: ["delegator_stake", "reward_distribution"] } } }, options);
let listed = 0;
for await (const page of await sdk.webhooks.list({ pageSize: 2 }, options)) listed += page.result.webhooks.length;
check("webhooks", listed === 4, listed);

const expected = []; // hashes of the transactions on the C-Chain, in their order
const send = async (from, to, value, data) => expected.push(await rpc("eth_sendTransaction", { from: persona[from].address, to, value, data }));
const encode = (name, method, ...args) => new Interface(abi(name)).encodeFunctionData(method, args);

// Everything once, and what does not match in between.
await send("alice", watched, wei(1));
await rpc("eth_sendTransaction", { from: persona.alice.address, to: persona.bob.address, value: "0x1" });
await send("deployer", chain.of("usdx"), "0x0", encode("Token", "transfer", watched, 5n));
await send("deployer", chain.of("collection"), "0x0", encode("Collection", "mint", watched, 987654n, "data:application/json,{}"));
await send("alice", chain.of("multicall"), wei(7), encode("Multicall3", "aggregate3Value", [{ target: watched, allowFailure: false, value: 7n, callData: "0x" }]));

// A failure, a receiver that is away, and a simulator that is killed while it delivers.
failing = 1;
for (let i = 0; i < 5; i++) await send("bob", watched, wei(100 + i));
const settled = async (all) => {
  for (let i = 0; ; i++) {
    const { deliveries } = await ask(`/sim/webhooks/${hook.id}/deliveries?pageSize=100`);
    if (deliveries.length === all && deliveries.every((d) => d.status === "delivered")) return deliveries;
    if (i > 600) throw new Error(`not delivered: ${JSON.stringify(deliveries[0])}`);
    await sleep(50);
  }
};
const told = await settled(9);
check("attempts of the one that failed", told.filter((d) => d.attempts.length === 2).length === 1, told);
killing = true;
for (let round = 0; round < 3; round++) {
  if (round === 1) {
    await new Promise((resolve) => { listener.close(resolve); listener.closeAllConnections(); });
  }
  for (let i = 0; i < 10; i++) await send("bob", watched, wei(1000 * round + i));
  await kill();
  if (round === 1) listener = app.listen(receiverPort, "127.0.0.1");
  await start();
}
await settled(9 + 30);
killing = false;

// A delegation, and the ends of validators.
const { createAvalancheWalletClient } = await import("@avalanche-sdk/client");
const { privateKeyToAvalancheAccount } = await import("@avalanche-sdk/client/accounts");
const { avalanche } = await import("@avalanche-sdk/client/chains");
const wallet = createAvalancheWalletClient({ account: privateKeyToAvalancheAccount(persona.whale.privateKey), chain: avalanche, transport: { type: "http", url: `${serverURL}/ext/bc/C/rpc` } });
const { validators } = await ask("/v1/networks/mainnet/validators?validationStatus=active&pageSize=100");
const now = BigInt((await ask("/sim/clock")).unix), day = 86_400n;
const host = validators.find((v) => BigInt(v.endTimestamp) > now + 20n * day && BigInt(v.delegationCapacity ?? 0) > 30_000_000_000n);
const prepared = await wallet.pChain.prepareAddPermissionlessDelegatorTxn({ nodeId: host.nodeId, stakeInAvax: 25_000_000_000n, end: now + 15n * day, rewardAddresses: [whaleP] });
const { txHash: delegated } = await wallet.sendXPTransaction(prepared);
const { unix } = await ask("/sim/clock", { until: "next-validator-end" });
await ask("/sim/clock", { advance: "10d" });
const rewarded = [];
for (let token = ""; token !== undefined;) {
  const page = await ask(`/v1/networks/mainnet/blockchains/p-chain/transactions?txTypes=RewardValidatorTx,RewardAutoRenewedValidatorTx&startTimestamp=${now}&pageSize=100&pageToken=${token}`);
  // A renewed validator restakes its reward, for which there is no UTXO.
  for (const tx of page.transactions) if (tx.txType === "RewardAutoRenewedValidatorTx" || tx.emittedUtxos.some((u) => u.rewardType)) rewarded.push(tx.txHash);
  token = page.nextPageToken;
}
check("rewards by then", rewarded.length > 0 && unix > now, rewarded);
const events = (kind) => got.filter((m) => m.event.eventType === kind).map((m) => m.event.transaction.txHash);
for (let i = 0; i < 200 && events("reward_distribution").length < rewarded.length; i++) await sleep(50);
const same = (what, have, want) => check(what, JSON.stringify(have) === JSON.stringify(want), { have, want });
same("rewards", events("reward_distribution").sort(), rewarded.sort());
same("delegations", events("delegator_stake"), [delegated]);
check("the whale's balance", events("balance_change").filter((h) => h === delegated).length === 1, events("balance_change"));

const payments = got.filter((m) => m.eventType === "address_activity");
same("transactions", payments.map((m) => m.event.transaction.txHash), expected);
check("validateSignature", validateSignature(secret, crypto.createHmac("sha256", Buffer.from(secret, "hex")).update(canonicalize(payments[0])).digest("base64"), payments[0]), payments[0]);
const [, token, nft, internal] = payments.map((m) => m.event.transaction);
check("the token", token.erc20Transfers[0].to.toLowerCase() === watched && token.erc20Transfers[0].value === "5", token);
check("the NFT", nft.erc721Transfers[0].tokenId === "987654", nft);
check("the internal transfer", internal.internalTransactions.some((t) => t.to.toLowerCase() === watched && t.value === "7"), internal);

// What else this version has of the live API.
for (const method of ["getUsage", "getLogs", "getSubnetRpcUsage", "getRpcUsageMetrics"]) {
  const answer = await sdk.data.usageMetrics[method]({ startTimestamp: method === "getLogs" ? undefined : Number(now - 7n * day) }, options);
  for await (const page of answer[Symbol.asyncIterator] ? answer : [{ result: answer }]) {
    check(method, (page.result.metrics ?? page.result.logs).length > 0, page.result);
    break;
  }
}
await sdk.data.nfts.reindex({ chainId: "43114", address: chain.of("collection"), tokenId: "14" }, options);
check("indexed again", (await sdk.data.nfts.get({ chainId: "43114", address: chain.of("collection"), tokenId: "14" }, options)).metadata.indexStatus === "INDEXED");
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
check("the token list", ajv.validate(tokenListSchema, await ask("/sim/tokenlist.json")), ajv.errors);

listener.close();
server.kill("SIGTERM");
await once(server, "exit");
for (const failure of failures) console.error(failure);
console.log(`webhooks: ${got.length} messages in ${attempts} attempts, ${again} of them a second time after a kill: ${failures.length} problems`);
process.exit(failures.length === 0 ? 0 : 1);

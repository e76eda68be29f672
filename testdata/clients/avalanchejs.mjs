// Moves value between the chains, stakes, makes an L1 and renews validators with avalanchejs, as its own examples do.
import { Context, L1Validator, PChainOwner, TransferableOutput, addTxSignatures, avm, evm, pvm, pvmSerial, secp256k1, utils } from "@avalabs/avalanchejs";

import { createHash } from "node:crypto";

import { Manager } from "./manager.mjs";
import { node } from "./proof.mjs";

const url = process.env.SNOWGLOBE_URL;
const world = await (await fetch(`${url}/sim/world`)).json();
const persona = world.personas.find((p) => p.name === "whale");
const key = Buffer.from(persona.privateKey.replace("0x", ""), "hex");
const address = (chain) => persona.chainAddresses.mainnet.P.replace("P-", `${chain}-`);
const bytes = utils.bech32ToBytes(address("P"));
const account = Buffer.from(persona.address.replace("0x", ""), "hex");

const context = await Context.getContextFromURI(url);
const p = new pvm.PVMApi(url), x = new avm.AVMApi(url), c = new evm.EVMApi(url);
const AVAX = 1_000_000_000n;
let issued = 0;

const time = async () => BigInt(Math.floor(Date.parse((await (await fetch(`${url}/sim/world`)).json()).clock.time) / 1000));

function check(what, ok, detail = "") {
  if (!ok) throw new Error(`${what}: ${detail}`);
}

const output = (amount, to = bytes) => TransferableOutput.fromNative(context.avaxAssetID, amount, [to]);
const utxos = async (api, chain, sourceChain) => (await api.getUTXOs({ addresses: [address(chain)], ...(sourceChain && { sourceChain }) })).utxos;

async function send(api, tx, owned = false) {
  await addTxSignatures({ unsignedTx: tx, privateKeys: [key] });
  if (owned) tx.addSignatureAt(await secp256k1.sign(tx.toBytes(), key), tx.getCredentials().length - 1, 0); // the last one is of who may change the subnet
  const { txID } = await api.issueSignedTx(tx.getSignedTx());
  issued++;
  return txID;
}

async function ethereum(method, params) {
  const answer = await fetch(`${url}/ext/bc/C/rpc`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
  return (await answer.json()).result;
}

// issueP builds a transaction of the P-Chain with what all of them need, and sends it.
async function issueP(build, props) {
  const common = { feeState: await p.getFeeState(), fromAddressesBytes: [bytes], utxos: await utxos(p, "P") };
  const txID = await send(p, build({ ...common, ...props }, context), Boolean(props.subnetAuth || props.disableAuth || props.auth));
  const { status } = await p.getTxStatus({ txID });
  check(`${build.name} ${txID}`, status === "Committed", status);
  return txID;
}

// X→P→C→X
const paid = await issueP(pvm.newBaseTx, { outputs: [output(2n * AVAX)] });
check("a payment in the Data API", (await (await fetch(`${url}/v1/networks/mainnet/blockchains/p-chain/transactions/${paid}`)).json()).txType === "BaseTx");
await send(x, avm.newExportTx(context, context.pBlockchainID, [bytes], await utxos(x, "X"), [output(3n * AVAX)]));
const came = await utxos(p, "P", "X");
check("exported from X to P", came.length > 0);
await issueP(pvm.newImportTx, { utxos: came, sourceChainId: context.xBlockchainID, toAddressesBytes: [bytes] });
await issueP(pvm.newExportTx, { destinationChainId: context.cBlockchainID, outputs: [output(AVAX)] });
const gwei = 1_000_000_000n, baseFee = (await c.getBaseFee()) / gwei + 1n; // in nAVAX
const atomic = await send(c, evm.newImportTxFromBaseFee(context, account, [bytes], await utxos(c, "C", "P"), context.pBlockchainID, baseFee));
check("imported to C", (await c.getAtomicTxStatus(atomic)).status === "Accepted");
check("its bytes", (await c.getAtomicTx({ txID: atomic })).blockHeight > 0n);
for (const [to, destination] of [["X", context.xBlockchainID], ["P", context.pBlockchainID]]) {
  const nonce = BigInt(await ethereum("eth_getTransactionCount", [persona.address, "latest"]));
  await send(c, evm.newExportTxFromBaseFee(context, baseFee, AVAX, destination, account, [bytes], nonce));
  check(`exported from C to ${to}`, (await utxos(to === "X" ? x : p, to, "C")).length > 0);
}
await send(x, avm.newImportTx(context, context.cBlockchainID, await utxos(x, "X", "C"), [bytes], [bytes]));
await issueP(pvm.newImportTx, { utxos: await utxos(p, "P", "C"), sourceChainId: context.cBlockchainID, toAddressesBytes: [bytes] });

// a validator, a delegator
const now = await time(), day = 86_400n;
const validator = node("a validator of avalanchejs");
const stake = { nodeId: validator.id, subnetId: "11111111111111111111111111111111LpoYY", start: 0n, rewardAddresses: [bytes] };
await issueP(pvm.newAddPermissionlessValidatorTx, {
  ...stake, end: now + 30n * day, weight: 2000n * AVAX, delegatorRewardsOwner: [bytes], publicKey: validator.publicKey, signature: validator.signature, shares: 20_000,
});
await issueP(pvm.newAddPermissionlessDelegatorTx, { ...stake, end: now + 20n * day, weight: 25n * AVAX });
const current = await p.getCurrentValidators({ nodeIDs: [validator.id] });
check("the validator", current.validators.length === 1 && current.validators[0].delegatorWeight === String(25n * AVAX), JSON.stringify(current));

// a subnet with a validator and a chain, and then an L1
const subnetId = await issueP(pvm.newCreateSubnetTx, { subnetOwners: [bytes] });
const auth = { subnetId, subnetAuth: [0] };
await issueP(pvm.newAddSubnetValidatorTx, { ...auth, nodeId: validator.id, start: 0n, end: now + 20n * day, weight: 5n });
await issueP(pvm.newRemoveSubnetValidatorTx, { ...auth, nodeId: validator.id });
await issueP(pvm.newTransferSubnetOwnershipTx, { ...auth, subnetOwners: [bytes] });
await issueP(pvm.newCreateChainTx, { ...auth, chainName: "made by avalanchejs", fxIds: [], genesisData: { config: {} }, vmId: "srEXiWaHuhNyGwPUi444Tu47ZEDwxTWrbQiuD7FmgSAQ6X7Dy" });
const first = node("an L1 validator of avalanchejs");
const owner = PChainOwner.fromNative([bytes], 1);
await issueP(pvm.newConvertSubnetToL1Tx, {
  ...auth, chainId: context.cBlockchainID, address: account,
  validators: [L1Validator.fromNative(first.id, 100n, AVAX, new pvmSerial.ProofOfPossession(first.publicKey, first.signature), owner, owner)],
});
const l1 = (await (await fetch(`${url}/v1/networks/mainnet/l1Validators?subnetId=${subnetId}`)).json()).validators;
check("the L1's validator", l1.length === 1 && l1[0].nodeId === first.id, JSON.stringify(l1));
const validationId = l1[0].validationId;
await issueP(pvm.newIncreaseL1ValidatorBalanceTx, { validationId, balance: AVAX });
await issueP(pvm.newDisableL1ValidatorTx, { validationId, disableAuth: [0] });
check("its balance", Number((await p.getL1Validator(validationId)).balance) === 0);

// another validator comes, weighs more and goes, as the manager's account asks for by warp messages
const manager = new Manager(url, world.chains.find((chain) => chain.blockchainId === context.cBlockchainID), persona.privateKey);
const second = node("a second L1 validator of avalanchejs");
const request = await manager.register({ subnetId, node: second, owner: bytes, expiry: (await time()) + 3600n, weight: 10n });
await issueP(pvm.newRegisterL1ValidatorTx, { balance: AVAX, blsSignature: second.signature, message: utils.hexToBuffer(request) });
const registered = (await (await fetch(`${url}/v1/networks/mainnet/l1Validators?subnetId=${subnetId}`)).json()).validators.find((v) => v.nodeId === second.id);
check("the second L1 validator", registered?.weight === 10, JSON.stringify(registered));
await issueP(pvm.newSetL1ValidatorWeightTx, { message: utils.hexToBuffer(await manager.weigh(registered.validationId, 0n, 20n)) });
check("its weight", (await p.getL1Validator(registered.validationId)).weight === 20n);
await issueP(pvm.newSetL1ValidatorWeightTx, { message: utils.hexToBuffer(await manager.weigh(registered.validationId, 1n, 0n)) });

// A validator renews itself after each of three cycles and leaves after the fourth; a delegator is there for the first. Its rewards go to addresses that
// nobody else uses, so their outputs are exactly what it did not restake.
const get = async (path) => (await fetch(`${url}/v1/networks/mainnet/${path}`)).json();
const same = (what, ...pairs) => check(what, pairs.every((v, i) => i % 2 || String(v) === String(pairs[i + 1])), pairs.join(" "));
async function post(path, body) {
  const answer = await fetch(`${url}/sim/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  check(`${path} ${JSON.stringify(body)}`, answer.ok, await answer.text());
}
const until = async (unix) => post("clock", { advance: `${BigInt(unix) - (await time())}s` });
const fresh = (name) => createHash("sha256").update(`owner of ${name}`).digest().subarray(0, 20);
const sum = (all) => all.reduce((total, amount) => total + BigInt(amount), 0n);
const amounts = (all) => sum(all.map((u) => u.output.amount()));
const owned = async (to) => amounts((await p.getUTXOs({ addresses: [utils.format("P", "avax", to)] })).utxos);
const validating = async (id) => (await p.getCurrentValidators({ nodeIDs: [id] })).validators?.[0];

// addRenewed adds a validator that renews itself. It returns the node, the transaction's id, and who gets its rewards and those of its delegators.
async function addRenewed(name, period, autoCompoundRewardShares) {
  const { id, publicKey, signature } = node(name), [rewards, fees] = [fresh(name), fresh(`${name}'s fees`)];
  const txID = await issueP(pvm.newAddAutoRenewedValidatorTx, {
    nodeId: id, publicKey, signature, weight: 2000n * AVAX, shares: 100_000, rewardAddresses: [rewards], delegatorRewardsOwner: [fees], ownerAddresses: [bytes],
    autoCompoundRewardShares, period,
  });
  return { id, txID, rewards, fees };
}
const configure = ({ txID }, period, autoCompoundRewardShares) =>
  issueP(pvm.newSetAutoRenewedValidatorConfigTx, { validatorTxId: txID, auth: [0], period, autoCompoundRewardShares });

// endCycle goes to the end of a node's cycle. It returns the node as the P-Chain shows it before and after, and what the cycle's reward transaction paid.
async function endCycle(id) {
  const before = await validating(id);
  await until(before.endTime);
  const after = await validating(id);
  const cycle = (await get(`validators/${id}`)).validators[after ? 1 : 0];
  same("a cycle in the Data API", cycle.endTimestamp, before.endTime, cycle.amountStaked, before.weight);
  const { rewardTxHash } = cycle.rewards, shown = await get(`blockchains/p-chain/transactions/${rewardTxHash}`);
  const paid = amounts((await p.getRewardUTXOs({ txID: rewardTxHash, encoding: "hex" })).utxos);
  same("a reward in the Data API", shown.txType, "RewardAutoRenewedValidatorTx", sum(shown.emittedUtxos.map((u) => u.asset.amount)), paid);
  return { before, after, paid };
}

const long = 14n * day + 3600n, short = 2n * day;
const renewed = await addRenewed("a renewed validator of avalanchejs", long, 500_000);
const start = await validating(renewed.id);
same("its configuration", start.nextPeriod, long, start.autoCompoundRewardShares, 500_000, start.validatorAuthority.addresses, address("P"));
same("its first cycle", BigInt(start.endTime) - BigInt(start.startTime), long);
const delegator = fresh("a delegator"), end = BigInt(start.endTime) - 60n;
await issueP(pvm.newAddPermissionlessDelegatorTx, { ...stake, nodeId: renewed.id, rewardAddresses: [delegator], end, weight: 25n * AVAX });
await configure(renewed, short, 500_000); // from the next cycle on
const delegated = (await validating(renewed.id)).delegators[0];
await until(delegated.endTime);
const fee = BigInt((await validating(renewed.id)).accruedDelegateeReward);
same("what the delegator has", await owned(delegator), BigInt(delegated.potentialReward) * 9n / 10n, fee, BigInt(delegated.potentialReward) - (await owned(delegator)));

let earned = fee;
for (let i = 0; i < 3; i++) {
  const { before, after, paid } = await endCycle(renewed.id);
  const reward = BigInt(before.potentialReward), fees = BigInt(before.accruedDelegateeReward), withdrawn = reward / 2n + fees / 2n;
  same(`cycle ${i}`, after.txID, renewed.txID, after.startTime, before.endTime, BigInt(after.endTime) - BigInt(after.startTime), short, after.accruedDelegateeReward, 0);
  const restaked = BigInt(after.restakedValidationRewards) + BigInt(after.restakedDelegateeRewards);
  same(`what cycle ${i} earned`, paid, withdrawn, BigInt(after.weight) - BigInt(before.weight), reward + fees - withdrawn, after.weight, 2000n * AVAX + restaked);
  earned += reward;
  same(`outputs after cycle ${i}`, (await owned(renewed.rewards)) + (await owned(renewed.fees)) + restaked, earned);
}
await configure(renewed, 0n, 1_000_000);
const leaving = await validating(renewed.id);
same("what it leaves with", leaving.nextPeriod, 0, leaving.autoCompoundRewardShares, 1_000_000);
const left = await endCycle(renewed.id);
earned += BigInt(left.before.potentialReward);
same("the end", left.after, undefined, (await owned(renewed.rewards)) + (await owned(renewed.fees)), earned, await owned(renewed.fees), fee);
const rewards = (await get(`rewards?addresses=${[renewed.rewards, renewed.fees].map((to) => utils.format("P", "avax", to))}`)).historicalRewards;
same("its rewards in the Data API", sum(rewards.map((r) => r.reward.amount)), earned, new Set(rewards.map((r) => r.rewardTxHash)).size, 4);
const back = (await utxos(p, "P")).filter((u) => u.utxoId.txID.toString() === renewed.txID && u.output.amount() === 2000n * AVAX);
same("outputs with its stake", back.length, 1);

// Another one restakes everything, is up for too little of its second cycle, and leaves with the reward of the first alone.
const failing = await addRenewed("a failing validator of avalanchejs", short, 1_000_000);
const kept = await endCycle(failing.id);
same("all is restaked", kept.paid, 0, kept.after.restakedValidationRewards, kept.before.potentialReward);
await post("node", { network: "mainnet", uptimes: [{ nodeId: failing.id, percent: 85 }] });
same("its uptime", Number((await validating(failing.id)).uptime), 85);
const lost = await endCycle(failing.id);
same("what it restaked", lost.after, undefined, lost.paid, kept.before.potentialReward, await owned(failing.rewards), kept.before.potentialReward);

// what is refused is refused with the node's words
const twice = await p.issueTx({ tx: "0x00" }).then(() => "taken", (e) => e.message);
check("a refusal", /problem decoding transaction/.test(twice), twice);
console.log(`avalanchejs: ${issued} transactions`);

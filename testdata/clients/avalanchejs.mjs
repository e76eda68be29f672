// Moves value between the chains, stakes and makes an L1 with avalanchejs, as its own examples do.
import { Context, L1Validator, PChainOwner, TransferableOutput, addTxSignatures, avm, evm, pvm, pvmSerial, secp256k1, utils } from "@avalabs/avalanchejs";

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
  const txID = await send(p, build({ ...common, ...props }, context), Boolean(props.subnetAuth || props.disableAuth));
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

// what is refused is refused with the node's words
const twice = await p.issueTx({ tx: "0x00" }).then(() => "taken", (e) => e.message);
check("a refusal", /problem decoding transaction/.test(twice), twice);
console.log(`avalanchejs: ${issued} transactions`);

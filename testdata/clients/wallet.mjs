// Stakes, makes an L1 and moves value between the chains with the wallets of @avalanche-sdk/client.
import { createAvalancheWalletClient } from "@avalanche-sdk/client";
import { privateKeyToAvalancheAccount } from "@avalanche-sdk/client/accounts";
import { avalanche } from "@avalanche-sdk/client/chains";
import { utils } from "@avalabs/avalanchejs";

import { Manager } from "./manager.mjs";
import { hex, node } from "./proof.mjs";

const url = process.env.SNOWGLOBE_URL;
const world = await (await fetch(`${url}/sim/world`)).json();
const persona = world.personas.find((p) => p.name === "whale");
const account = privateKeyToAvalancheAccount(persona.privateKey);
const wallet = createAvalancheWalletClient({ account, chain: avalanche, transport: { type: "http", url: `${url}/ext/bc/C/rpc` } });
const AVAX = 1_000_000_000n;
const here = account.getXPAddress("P", "mainnet");
let issued = 0;

function check(what, ok, detail) {
  if (!ok) throw new Error(`${what}: ${JSON.stringify(detail)}`);
}

async function send(what, prepared) {
  const { txHash } = await wallet.sendXPTransaction(await prepared).catch((e) => { throw new Error(`${what}: ${e.message}`); });
  await wallet.waitForTxn({ txHash, chainAlias: (await prepared).chainAlias });
  issued++;
  return txHash;
}

const { pChain: p, xChain: x } = wallet;
await send("pay", p.prepareBaseTxn({ outputs: [{ addresses: [here], amount: 2n * AVAX }] }));
await send("pay on X", x.prepareBaseTxn({ outputs: [{ addresses: [account.getXPAddress("X", "mainnet")], amount: AVAX }] }));
await send("export from X", x.prepareExportTxn({ destinationChain: "P", exportedOutputs: [{ addresses: [here], amount: 3n * AVAX }] }));
await send("import to P", p.prepareImportTxn({ sourceChain: "X", importedOutput: { addresses: [here] } }));
await send("export from P", p.prepareExportTxn({ destinationChain: "X", exportedOutputs: [{ addresses: [here], amount: AVAX }] }));
await send("import to X", x.prepareImportTxn({ sourceChain: "P", importedOutput: { addresses: [account.getXPAddress("X", "mainnet")] } }));

const { cChain: c } = wallet;
await send("export from P to C", p.prepareExportTxn({ destinationChain: "C", exportedOutputs: [{ addresses: [here], amount: AVAX }] }));
await send("import to C", c.prepareImportTxn({ sourceChain: "P", toAddress: account.getEVMAddress() }));
for (const destinationChain of ["X", "P"]) {
  const to = account.getXPAddress(destinationChain, "mainnet");
  await send(`export from C to ${destinationChain}`, c.prepareExportTxn({ destinationChain, fromAddress: account.getEVMAddress(), exportedOutput: { addresses: [to], amount: AVAX } }));
  await send(`import from C to ${destinationChain}`, wallet[`${destinationChain.toLowerCase()}Chain`].prepareImportTxn({ sourceChain: "C", importedOutput: { addresses: [to] } }));
}
for (const [sourceChain, destinationChain, to] of [["P", "C", account.getEVMAddress()], ["C", "P", here], ["P", "P", here], ["C", "C", account.getEVMAddress()]]) {
  await wallet.send({ sourceChain, destinationChain, to, amount: AVAX * AVAX });
}

const now = BigInt(Math.floor(Date.parse(world.clock.time) / 1000)), day = 86_400n;
const validator = node("a validator of the wallets");
const proof = { publicKey: hex(validator.publicKey), signature: hex(validator.signature) };
await send("validate", p.prepareAddPermissionlessValidatorTxn({
  nodeId: validator.id, stakeInAvax: 2000n * AVAX, end: now + 30n * day, rewardAddresses: [here], delegatorRewardAddresses: [here], delegatorRewardPercentage: 2, ...proof,
}));
await send("delegate", p.prepareAddPermissionlessDelegatorTxn({ nodeId: validator.id, stakeInAvax: 25n * AVAX, end: now + 20n * day, rewardAddresses: [here] }));
const shown = await (await fetch(`${url}/v1/networks/mainnet/validators/${validator.id}`)).json();
check("the validator", shown.validators?.[0]?.delegatorCount === 1, shown);

const subnetId = await send("create a subnet", p.prepareCreateSubnetTxn({ subnetOwners: { addresses: [here] } }));
const auth = { subnetId, subnetAuth: [0] };
await send("add a subnet validator", p.prepareAddSubnetValidatorTxn({ ...auth, nodeId: validator.id, weight: 5n, end: now + 20n * day }));
await send("remove it", p.prepareRemoveSubnetValidatorTxn({ ...auth, nodeId: validator.id }));
await send("create a chain", p.prepareCreateChainTxn({ ...auth, vmId: "srEXiWaHuhNyGwPUi444Tu47ZEDwxTWrbQiuD7FmgSAQ6X7Dy", chainName: "made by a wallet", genesisData: { config: {} }, fxIds: [] }));
const first = node("an L1 validator of the wallets");
const owner = { addresses: [here], threshold: 1 };
const cChain = world.networks.find((n) => n.name === "mainnet").cChainId;
await send("convert", p.prepareConvertSubnetToL1Txn({
  ...auth, blockchainId: cChain, managerContractAddress: account.getEVMAddress(),
  validators: [{
    nodeId: first.id, nodePoP: { publicKey: hex(first.publicKey), proofOfPossession: hex(first.signature) }, weight: 100n,
    initialBalanceInAvax: AVAX, remainingBalanceOwner: owner, deactivationOwner: owner,
  }],
}));
const [l1] = (await (await fetch(`${url}/v1/networks/mainnet/l1Validators?subnetId=${subnetId}`)).json()).validators;
check("the L1's validator", l1?.nodeId === first.id, l1);
await send("top up", p.prepareIncreaseL1ValidatorBalanceTxn({ validationId: l1.validationId, balanceInAvax: AVAX }));
const manager = new Manager(url, world.chains.find((chain) => chain.blockchainId === cChain), persona.privateKey);
const second = node("a second L1 validator of the wallets");
const message = await manager.register({ subnetId, node: second, owner: utils.bech32ToBytes(here), expiry: now + 3600n, weight: 10n });
await send("register", p.prepareRegisterL1ValidatorTxn({ initialBalanceInAvax: AVAX, blsSignature: hex(second.signature), message }));
const registered = (await (await fetch(`${url}/v1/networks/mainnet/l1Validators?subnetId=${subnetId}`)).json()).validators.find((v) => v.nodeId === second.id);
check("the second L1 validator", registered, registered);
await send("weigh", p.prepareSetL1ValidatorWeightTxn({ message: await manager.weigh(registered.validationId, 0n, 20n) }));
await send("remove it", p.prepareSetL1ValidatorWeightTxn({ message: await manager.weigh(registered.validationId, 1n, 0n) }));
await send("disable", p.prepareDisableL1ValidatorTxn({ validationId: l1.validationId, disableAuth: [0] }));
console.log(`@avalanche-sdk/client: ${issued} transactions`);

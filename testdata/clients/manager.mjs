import { BigIntPr, BlsPublicKey, Id, NodeId, PChainOwner, pvmSerial, utils } from "@avalabs/avalanchejs";
import { createPublicClient, createWalletClient, decodeAbiParameters, defineChain, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";

import { hex } from "./proof.mjs";

const { AddressedCallPayloads, codec } = pvmSerial.warp;
const warp = { address: "0x0200000000000000000000000000000000000005", abi: parseAbi(["function sendWarpMessage(bytes payload) returns (bytes32)"]) };

// Manager manages an L1 from an account of the C-Chain: it sends messages to the P-Chain through the warp precompile, and the
// aggregator collects the signatures of the validators.
export class Manager {
  constructor(url, chain, privateKey) {
    const transport = http(`${url}/ext/bc/C/rpc`);
    const network = defineChain({ id: Number(chain.chainId), name: chain.name, nativeCurrency: { name: "AVAX", symbol: "AVAX", decimals: 18 }, rpcUrls: { default: { http: [] } } });
    this.url = url;
    this.reader = createPublicClient({ chain: network, transport, pollingInterval: 50 });
    this.writer = createWalletClient({ chain: network, transport, account: privateKeyToAccount(privateKey) });
  }

  // register asks the P-Chain for a validator; the answer is the signed request.
  register({ subnetId, node, owner, expiry, weight }) {
    const who = PChainOwner.fromNative([owner], 1);
    return this.#send(new AddressedCallPayloads.RegisterL1ValidatorMessage(
      Id.fromString(subnetId), NodeId.fromString(node.id), BlsPublicKey.fromBytes(node.publicKey)[0], new BigIntPr(expiry), who, who, new BigIntPr(weight)));
  }

  weigh(validationId, nonce, weight) {
    return this.#send(new AddressedCallPayloads.L1ValidatorWeightMessage(Id.fromString(validationId), new BigIntPr(nonce), new BigIntPr(weight)));
  }

  async #send(message) {
    const hash = await this.writer.writeContract({ ...warp, functionName: "sendWarpMessage", args: [hex(utils.concatBytes(message.codecId.toBytes(), message.toBytes(codec)))] });
    const { logs } = await this.reader.waitForTransactionReceipt({ hash });
    const [unsigned] = decodeAbiParameters([{ type: "bytes" }], logs[0].data);
    const answer = await fetch(`${this.url}/v1/signatureAggregator/mainnet/aggregateSignatures`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message: unsigned, quorumPercentage: 67 }),
    });
    const { signedMessage } = await answer.json();
    if (!signedMessage) throw new Error(`the aggregator answers ${answer.status}`);
    return signedMessage.replace(/^(0x)?/, "0x");
  }
}

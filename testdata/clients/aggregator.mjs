// Asks the signature aggregator for a message of a network's C-Chain and for the message of a conversion to an L1.

const networks = { mainnet: { number: 1, chainId: "43114" }, fuji: { number: 5, chainId: "43113" } };

// unsigned is a cross-chain message of a network's C-Chain that says hi: codec version, network, source, payload.
function unsigned(number, source) {
  const word = (value, bytes) => Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex");
  return Buffer.concat([word(0, 2), word(number, 4), source, word(2, 4), Buffer.from("hi")]).toString("hex");
}

// decode reads the 32 bytes of an id in cb58.
function decode(id) {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let number = 0n;
  for (const digit of id) number = number * 58n + BigInt(alphabet.indexOf(digit));
  return Buffer.from(number.toString(16).padStart(72, "0"), "hex").subarray(0, 32);
}

export async function aggregator({ sdk, options, one, failures }, network, chains) {
  const { signatureAggregator } = sdk.data;
  const { number, chainId } = networks[network];
  const source = chains.find((c) => c.chainId === chainId).platformChainId;
  const message = unsigned(number, decode(source));
  const signatureAggregatorRequest = { message, quorumPercentage: 50, quorumPercentageBuffer: 10 };
  const answer = await one(`signatureAggregator.aggregate on ${network}`, () => signatureAggregator.aggregate({ network, signatureAggregatorRequest }, options));
  if (answer && !answer.signedMessage.startsWith(message)) failures.push(`signatureAggregator on ${network}: another message was signed`);
  const subnets = await one(`subnets of ${network}`, () => sdk.data.primaryNetwork.listSubnets({ network }, options));
  const l1 = subnets?.result.subnets.find((s) => s.isL1);
  await one(`signatureAggregator.get on ${network}`, () => signatureAggregator.get({ network, txHash: l1?.l1ConversionTransactionHash }, options));
}

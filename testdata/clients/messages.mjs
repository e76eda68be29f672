// Reads the cross-chain messages under both of their names, with every filter, and the transactions at both of their ends.
export async function messages({ sdk, options, one, all, failures }, network) {
  const request = { network, pageSize: 3 };
  const found = await all(`icm.list on ${network}`, "messages", () => sdk.data.icm.list(request, options));
  if (found.length === 0) failures.push(`icm.list on ${network}: no messages`);
  const count = (what, expected, list) => {
    if (list.length !== expected) failures.push(`${what} on ${network}: ${list.length} messages, not ${expected}`);
  };
  for (const field of ["sourceBlockchainId", "destinationBlockchainId", "from", "to"]) {
    const value = found[0]?.[field];
    const same = found.filter((m) => m[field] === value).length;
    count(`icm.list by ${field}`, same, await all(`icm.list by ${field} on ${network}`, "messages", () => sdk.data.icm.list({ ...request, [field]: value }, options)));
  }
  const blockchainId = found[0]?.sourceBlockchainId;
  const touching = found.filter((m) => m.sourceBlockchainId === blockchainId || m.destinationBlockchainId === blockchainId).length;
  count("icm.list by blockchainId", touching, await all(`icm.list by blockchainId on ${network}`, "messages", () => sdk.data.icm.list({ ...request, blockchainId }, options)));
  const address = found[0]?.from;
  const his = found.filter((m) => m.from === address || m.to === address).length;
  const page = await one(`icm.listByAddress on ${network}`, () => sdk.data.icm.listByAddress({ network, address, pageSize: 100 }, options));
  count("icm.listByAddress", Math.min(his, 100), page?.messages ?? []);
  for (const message of found) {
    await one(`icm.get ${message.messageId}`, () => sdk.data.icm.get({ messageId: message.messageId }, options));
    for (const end of ["source", "destination"]) {
      const txHash = message[`${end}Transaction`]?.txHash;
      if (!txHash) continue;
      const chainId = message[`${end}EvmChainId`];
      const tx = await one(`transactions.get ${txHash}`, () => sdk.data.evm.transactions.get({ chainId, txHash }, options));
      const info = tx?.teleporterMessageInfo;
      if (info?.teleporterMessageId !== message.messageId || info?.direction !== `${end.toUpperCase()}_TRANSACTION`) {
        failures.push(`transaction ${txHash} on ${chainId}: ${JSON.stringify(info)} is not the ${end} of ${message.messageId}`);
      }
    }
  }
  const { teleporter } = sdk.data;
  await all(`teleporter.list on ${network}`, "messages", () => teleporter.listTeleporterMessages(request, options));
  await one(`teleporter.listByAddress on ${network}`, () => teleporter.listTeleporterMessagesByAddress({ network, address }, options));
  await one(`teleporter.get on ${network}`, () => teleporter.getTeleporterMessage({ messageId: found[0]?.messageId }, options));
}

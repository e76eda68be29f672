// Calls what belongs to an account of the service through @avalanche-sdk/chainkit: webhooks, the secret, usage figures, metadata that is
// read again. Nothing is delivered: webhooks.mjs has a receiver.

export async function account({ sdk, options, one, all, failures }, address, chains) {
  const { webhooks, data } = sdk;
  const url = "http://127.0.0.1:1/hook";
  const made = [];
  for (const request of [
    { eventType: "address_activity", url, chainId: chains[0].chainId, includeLogs: true, includeInternalTxs: true, metadata: { addresses: [address] } },
    { eventType: "primary_network_address_activity", url, chainId: "p-chain", network: "fuji",
      metadata: { keyType: "addresses", keys: [await owner(options)], subEvents: { addressActivitySubEvents: ["balance_change", "balance_threshold", "reward_distribution"] },
        balanceThresholdFilter: { balanceType: "unlockedUnstaked", balanceThreshold: "5500000000" } } },
    { eventType: "validator_activity", url, network: "mainnet",
      metadata: { keyType: "subnetId", keys: ["11111111111111111111111111111111LpoYY"], subEvents: { validatorActivitySubEvents: ["validator_stake", "l1_validator_balance_threshold"] },
        l1ValidatorFeeBalanceThreshold: "1000000000" } },
  ]) {
    const hook = await one(`webhooks.create ${request.eventType}`, () => webhooks.create(request, options));
    if (!hook) continue;
    made.push(hook.id);
    const read = await one(`webhooks.get ${request.eventType}`, () => webhooks.get({ id: hook.id }, options));
    if (JSON.stringify(read) !== JSON.stringify(hook)) failures.push(`webhook ${hook.id} is ${JSON.stringify(read)}, not ${JSON.stringify(hook)}`);
    await one(`webhooks.update ${request.eventType}`, () => webhooks.update({ id: hook.id, updateWebhookRequest: { name: "other" } }, options));
  }
  const [id] = made;
  const change = { id, addressesChangeRequest: { addresses: ["0x00000000000000000000000000000000000c0ffe"] } };
  await one("webhooks.addresses.add", () => webhooks.addresses.add(change, options));
  await all("webhooks.addresses.list", "addresses", () => webhooks.addresses.list({ id, pageSize: 1 }, options));
  await one("webhooks.addresses.remove", () => webhooks.addresses.remove(change, options));
  const { secret } = (await one("webhooks.generateOrRotateSharedSecret", () => webhooks.generateOrRotateSharedSecret(options))) ?? {};
  const same = await one("webhooks.getSharedSecret", () => webhooks.getSharedSecret(options));
  if (same?.secret !== secret) failures.push(`the secret is ${same?.secret}, not ${secret}`);
  for (const id of made) await one("webhooks.deactivate", () => webhooks.deactivate({ id }, options));
  const listed = await all("webhooks.list", "webhooks", () => webhooks.list({ pageSize: 2, status: "inactive" }, options));
  if (listed.length !== made.length) failures.push(`${listed.length} webhooks are inactive`);

  for (const groupBy of ["requestPath", "responseCode", "chainId", "apiKeyId", "requestType"]) {
    const { metrics } = (await one(`usageMetrics.getUsage by ${groupBy}`, () => data.usageMetrics.getUsage({ groupBy, timeInterval: "daily" }, options))) ?? {};
    if (!metrics?.length) failures.push(`there is no usage by ${groupBy}`);
  }
  await one("usageMetrics.getSubnetRpcUsage", () => data.usageMetrics.getSubnetRpcUsage({ groupBy: "rpcMethod" }, options));
  await one("usageMetrics.getRpcUsageMetrics", () => data.usageMetrics.getRpcUsageMetrics({ timeInterval: "weekly" }, options));
  await one("usageMetrics.getLogs", async () => {
    for await (const page of await data.usageMetrics.getLogs({ pageSize: 10 }, options)) {
      if (page.result.logs.length !== 10) failures.push(`${page.result.logs.length} requests are in the log`);
      break; // each page is a request more
    }
  });
  const collection = (await (await fetch(`${options.serverURL}/sim/world`)).json()).chains[0].contracts.find((c) => c.role === "collection").address;
  await one("nfts.reindex", () => data.nfts.reindex({ chainId: chains[0].chainId, address: collection, tokenId: "1" }, options));
}

// owner is an address of the P-Chain of fuji.
async function owner(options) {
  const { personas } = await (await fetch(`${options.serverURL}/sim/world`)).json();
  return personas[0].addresses.fuji;
}

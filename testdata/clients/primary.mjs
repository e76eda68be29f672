// Runs every Data API operation of the primary network through @avalanche-sdk/chainkit: both networks, every chain, every
// status, every order, to the last page.

const aliases = ["p-chain", "x-chain", "c-chain"];
const statuses = ["completed", "active", "pending", "removed"];

// primary makes the calls; one makes a call and reports what the SDK rejects, all follows a list to its end.
export async function primary({ sdk, options, one, all, failures }, network) {
  const api = sdk.data.primaryNetwork;
  const at = (request) => ({ network, ...request });

  await one(`${network}: details`, () => api.getNetworkDetails(at({}), options));
  const subnets = await all(`${network}: subnets`, "subnets", () => api.listSubnets(at({ pageSize: 3 }), options));
  await all(`${network}: subnets, oldest first`, "subnets", () => api.listSubnets(at({ sortOrder: "asc" }), options));
  for (const { subnetId } of subnets) await one(`${network}: subnet ${subnetId}`, () => api.getSubnetById(at({ subnetId }), options));
  const chains = await all(`${network}: blockchains`, "blockchains", () => api.listBlockchains(at({ pageSize: 3 }), options));
  for (const { blockchainId } of chains) {
    await one(`${network}: blockchain ${blockchainId}`, () => api.getBlockchainById(at({ blockchainId }), options));
  }

  const stakers = await validators({ api, at, one, all, failures, options }, network, subnets);
  await rewards({ api, at, all, options }, network, stakers);
  await l1({ api, at, all, failures, options }, network);

  const owners = new Set();
  for (const chain of aliases) {
    await blocks({ api, at, one, all, options }, network, chain, stakers.nodes);
    for (const owner of await transactions({ api, at, one, all, failures, options }, network, chain)) owners.add(owner);
  }
  const some = [...owners].slice(0, 12);
  await one(`${network}: chain ids`, () => api.getChainIdsForAddresses(at({ addresses: some.map((a) => `P-${a}`).join(",") }), options));
  for (const chain of aliases) await outputs({ api, at, one, all, failures, options }, network, chain, some);
}

async function validators({ api, at, one, all, failures, options }, network, subnets) {
  const list = (what, request) => all(`${network}: validators ${what}`, "validators", () => api.listValidators(at(request), options));
  const every = await list("all", { pageSize: 7 });
  let sum = 0;
  for (const validationStatus of statuses) {
    const some = await list(validationStatus, { validationStatus, pageSize: 5 });
    if (some.length === 0) failures.push(`${network}: no validator is ${validationStatus}`);
    for (const v of some) if (v.validationStatus !== validationStatus) failures.push(`${network}: ${v.txHash} is ${v.validationStatus}`);
    sum += some.length;
  }
  if (sum !== every.length) failures.push(`${network}: ${every.length} validators, ${sum} by status`);
  for (const sortBy of ["blockIndex", "delegationCapacity", "timeRemaining", "uptimePerformance"]) {
    for (const sortOrder of ["asc", "desc"]) {
      const sorted = await list(`by ${sortBy} ${sortOrder}`, { sortBy, sortOrder, pageSize: 11 });
      if (sorted.length !== every.length) failures.push(`${network}: ${sorted.length} validators by ${sortBy}, not ${every.length}`);
    }
  }
  if (network === "mainnet") await list("by fee", { sortBy: "delegationFee", subnetId: "11111111111111111111111111111111LpoYY", pageSize: 9 });
  await list("filtered", {
    minDelegationCapacity: "0", maxDelegationCapacity: "720000000000000000", minTimeRemaining: 0, maxTimeRemaining: 2147483647,
    minFeePercentage: 2, maxFeePercentage: 100, minUptimePerformance: 0, maxUptimePerformance: 100, nodeIds: "NodeID-,x",
  });
  for (const { subnetId } of subnets) await list(`of ${subnetId}`, { subnetId });
  const nodes = [...new Set(every.map((v) => v.nodeId))];
  for (const nodeId of nodes) {
    await all(`${network}: validations of ${nodeId}`, "validators", () => api.getValidatorDetails(at({ nodeId, pageSize: 1 }), options));
  }
  for (const delegationStatus of [undefined, "completed", "active", "pending"]) {
    await all(`${network}: delegators ${delegationStatus}`, "delegators", () => api.listDelegators(at({ delegationStatus, pageSize: 9 }), options));
  }
  const delegators = await all(`${network}: delegators, oldest first`, "delegators", () => api.listDelegators(at({ sortOrder: "asc", pageSize: 20 }), options));
  const addresses = [...new Set(delegators.flatMap((d) => d.rewardAddresses))].slice(0, 10);
  for (const a of addresses) {
    await all(`${network}: delegators of ${a}`, "delegators", () => api.listDelegators(at({ rewardAddresses: `P-${a}` }), options));
  }
  return { nodes, addresses };
}

async function rewards({ api, at, all, options }, network, { nodes, addresses }) {
  for (let i = 0; i < nodes.length; i += 20) {
    const nodeIds = nodes.slice(i, i + 20).join(",");
    await all(`${network}: pending rewards`, "pendingRewards", () => api.rewards.listPendingRewards(at({ nodeIds, pageSize: 9 }), options));
    await all(`${network}: paid rewards`, "historicalRewards", () => api.rewards.listHistoricalRewards(at({ nodeIds, pageSize: 9, currency: "eur" }), options));
  }
  const owners = addresses.join(",");
  if (owners) await all(`${network}: rewards of delegators`, "historicalRewards", () => api.rewards.listHistoricalRewards(at({ addresses: owners }), options));
}

async function l1({ api, at, all, failures, options }, network) {
  const list = (what, request) => all(`${network}: L1 validators ${what}`, "validators", () => api.listL1Validators(at(request), options));
  const active = await list("active", { pageSize: 3 });
  const every = await list("all", { includeInactiveL1Validators: true, pageSize: 3 });
  if (every.length <= active.length) failures.push(`${network}: no L1 validator is inactive`);
  for (const v of every) {
    for (const l1ValidationId of [v.validationId, v.validationIdHex]) {
      const same = await list(`with ${l1ValidationId}`, { l1ValidationId, includeInactiveL1Validators: true });
      if (same.length !== 1) failures.push(`${network}: ${l1ValidationId} is ${same.length} L1 validators`);
    }
    const about = await all(`${network}: transactions about ${v.validationId}`, "transactions", () =>
      api.transactions.listLatest(at({ blockchainId: "p-chain", l1ValidationId: v.validationId, pageSize: 2 }), options));
    if (about.length === 0) failures.push(`${network}: no transaction is about ${v.validationId}`);
  }
}

async function blocks({ api, at, one, all, options }, network, blockchainId, nodes) {
  const found = await all(`${network}: blocks of ${blockchainId}`, "blocks", () => api.blocks.listLatest(at({ blockchainId, pageSize: 100 }), options));
  for (const block of found.slice(0, 5)) {
    for (const blockId of [block.blockNumber, block.blockHash]) {
      await one(`${network}: block ${blockId} of ${blockchainId}`, () => api.blocks.get(at({ blockchainId, blockId }), options));
    }
  }
  const [newest, oldest] = [found[0].blockTimestamp, found.at(-1).blockTimestamp];
  await all(`${network}: blocks of ${blockchainId} by time`, "blocks", () =>
    api.blocks.listLatest(at({ blockchainId, startTimestamp: oldest, endTimestamp: newest, pageSize: 100 }), options));
  for (const nodeId of nodes.slice(0, 5)) {
    await all(`${network}: blocks of ${blockchainId} by ${nodeId}`, "blocks", () => api.blocks.listByNodeId(at({ blockchainId, nodeId }), options));
  }
}

// transactions answers who owned what the newest transactions of a chain made or spent.
async function transactions({ api, at, one, all, failures, options }, network, blockchainId) {
  const list = (what, request) => all(`${network}: transactions of ${blockchainId} ${what}`, "transactions", () =>
    api.transactions.listLatest(at({ blockchainId, pageSize: 100, ...request }), options));
  const found = await list("all", {});
  const back = await list("oldest first", { sortOrder: "asc" });
  if (back.length !== found.length) failures.push(`${network}: ${back.length} transactions of ${blockchainId} backwards, not ${found.length}`);
  const kinds = new Map();
  for (const t of found) kinds.set(t.txType, [...(kinds.get(t.txType) ?? []), t.txHash]);
  for (const [kind, hashes] of kinds) {
    const some = await list(kind, { txTypes: [kind] });
    if (some.length !== hashes.length) failures.push(`${network}: ${some.length} ${kind} of ${blockchainId}, not ${hashes.length}`);
    await one(`${network}: a ${kind} of ${blockchainId}`, () => api.transactions.get(at({ blockchainId, txHash: hashes[0] }), options));
  }
  const owners = new Set(found.flatMap((t) => [...(t.consumedUtxos ?? []), ...(t.emittedUtxos ?? [])]).flatMap((u) => u.addresses));
  for (const addresses of [...owners].slice(0, 5)) await list(`of ${addresses}`, { addresses: `X-${addresses}`, pageSize: 10 });
  if (blockchainId === "p-chain") {
    const staking = await all(`${network}: staking transactions`, "transactions", () =>
      api.transactions.listActiveStakingTransactions(at({ blockchainId, pageSize: 20 }), options));
    if (staking.length === 0) failures.push(`${network}: nobody stakes`);
  }
  if (blockchainId === "x-chain") await assets({ api, at, one, all, options }, network, found);
  return owners;
}

async function assets({ api, at, one, all, options }, network, found) {
  const blockchainId = "x-chain";
  const made = found.filter((t) => t.assetCreated).map((t) => t.assetCreated.assetId);
  for (const assetId of made) {
    await one(`${network}: asset ${assetId}`, () => api.getAssetDetails(at({ blockchainId, assetId }), options));
    await all(`${network}: transactions of asset ${assetId}`, "transactions", () =>
      api.transactions.listAssetTransactions(at({ blockchainId, assetId, pageSize: 10 }), options));
  }
  await all(`${network}: vertices`, "vertices", () => api.vertices.listLatest(at({ blockchainId }), options));
  const none = await api.vertices.getByHash(at({ blockchainId, vertexHash: "11111111111111111111111111111111LpoYY" }), options).catch((error) => error);
  if (none.statusCode !== 404) failures.push(`${network}: a vertex that is not there: ${none}`);
  await all(`${network}: vertices of a height`, "vertices", () => api.vertices.listByHeight(at({ blockchainId, vertexHeight: 1 }), options));
}

async function outputs({ api, at, one, all, failures, options }, network, blockchainId, owners) {
  const addresses = owners.join(",");
  const list = (what, request) => all(`${network}: outputs on ${blockchainId} ${what}`, "utxos", () =>
    api.utxos.listByAddresses(at({ blockchainId, addresses, pageSize: 50, ...request }), options));
  const unspent = await list("unspent", {});
  const every = await list("all", { includeSpent: true });
  if (every.length < unspent.length) failures.push(`${network}: fewer outputs with the spent ones on ${blockchainId}`);
  for (const sortOrder of ["asc", "desc"]) await list(`by amount ${sortOrder}`, { sortBy: "amount", sortOrder, minUtxoAmount: 1000000 });
  const more = await all(`${network}: outputs on ${blockchainId} by body`, "utxos", () =>
    api.utxos.listByAddressesV2(at({ blockchainId, pageSize: 60, primaryNetworkAddressesBodyDto: { addresses } }), options));
  if (more.length !== unspent.length) failures.push(`${network}: ${more.length} outputs on ${blockchainId} by body, not ${unspent.length}`);
  await one(`${network}: balances on ${blockchainId}`, () => api.balances.listByAddresses(at({ blockchainId, addresses }), options));
  await one(`${network}: balances on ${blockchainId} before`, () => api.balances.listByAddresses(at({ blockchainId, addresses, blockTimestamp: 1780000000 }), options));
  await one(`${network}: last activity on ${blockchainId}`, () => api.utxos.getLastActivityTimestampByAddresses(at({ blockchainId, addresses }), options));
  await one(`${network}: last activity on ${blockchainId} by body`, () =>
    api.utxos.getLastActivityTimestampByAddressesV2(at({ blockchainId, primaryNetworkAddressesBodyDto: { addresses } }), options));
}

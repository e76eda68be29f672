// Every operation of the SDK's metrics part that a simulator serves, each list to its end. It takes the SDK and what
// chainkit.mjs makes calls with.
const chainMetrics = ["activeAddresses", "activeSenders", "cumulativeTxCount", "cumulativeAddresses", "cumulativeContracts",
  "cumulativeDeployers", "contracts", "deployers", "gasUsed", "txCount", "avgGps", "maxGps", "avgTps", "maxTps", "avgGasPrice",
  "maxGasPrice", "feesPaid"];
const intervals = { activeAddresses: "hour", activeSenders: "week", gasUsed: "month", txCount: "hour" };
const networkMetrics = ["validatorCount", "validatorWeight", "delegatorCount", "delegatorWeight"];
const primaryNetwork = "11111111111111111111111111111111LpoYY";

export async function readMetrics({ sdk, options, one, all, failures }) {
  const { metrics } = sdk;

  // falling checks that points come newest first, none twice.
  function falling(what, points) {
    if (points.length === 0) failures.push(`${what}: there are no points`);
    for (let i = 1; i < points.length; i++) {
      if (points[i].timestamp >= points[i - 1].timestamp) failures.push(`${what}: point ${i} is not older than the one before`);
    }
    return points;
  }

  async function scope(chainId) {
    for (const metric of chainMetrics) {
      const what = `metrics.chains.getMetrics ${metric} of ${chainId}`;
      const days = falling(what, await all(what, "results", () => metrics.chains.getMetrics({ chainId, metric, pageSize: 13 }, options)));
      const [first, last] = [days.at(-1), days[0]];
      const inner = await all(`${what}, between`, "results", () => metrics.chains.getMetrics(
        { chainId, metric, timeInterval: "day", startTimestamp: first?.timestamp + 86400, endTimestamp: last?.timestamp }, options));
      if (inner.length !== days.length - 2) failures.push(`${what}: ${inner.length} of ${days.length} points are between the first and the last`);
      if (intervals[metric]) {
        const finer = `${what} by ${intervals[metric]}`;
        falling(finer, await all(finer, "results", () => metrics.chains.getMetrics(
          { chainId, metric, timeInterval: intervals[metric], pageSize: intervals[metric] === "hour" ? 1000 : 3 }, options)));
      }
      if (!metric.startsWith("cumulative")) {
        const rolled = await one(`metrics.chains.getRollingWindowMetrics ${metric} of ${chainId}`, () =>
          metrics.chains.getRollingWindowMetrics({ chainId, metric }, options));
        if (rolled && Object.keys(rolled.result).length !== 7) failures.push(`${what}: rolling windows are ${Object.keys(rolled.result)}`);
      }
    }
  }

  async function network(network) {
    await all(`validators of the primary network on ${network}`, "addresses", () =>
      metrics.subnets.getValidators({ subnetId: primaryNetwork, network, pageSize: 100 }, options));
    await all("holders of bridged BTC", "addresses", () => metrics.chains.listBTCbBridgersAboveThreshold({ threshold: "1", pageSize: 100 }, options));
    const subnets = await all(`subnets of ${network}`, "subnets", () => sdk.data.primaryNetwork.listSubnets({ network, pageSize: 100 }, options));
    for (const subnetId of [undefined, primaryNetwork, ...subnets.map((s) => s.subnetId)]) {
      for (const metric of networkMetrics) {
        const what = `metrics.networks.getStakingMetrics ${metric} of ${subnetId ?? "the primary network"} on ${network}`;
        falling(what, await all(what, "results", () => metrics.networks.getStakingMetrics({ network, metric, subnetId, pageSize: 20 }, options)));
      }
    }
    const validators = await all(`L1 validators of ${network}`, "validators", () =>
      sdk.data.primaryNetwork.listL1Validators({ network, includeInactiveL1Validators: true, pageSize: 100 }, options));
    for (const { validationId, nodeId, subnetId } of validators.slice(0, 12)) {
      for (const metric of ["validationCumulativeFeesDaily", "validationFeesDaily"]) {
        await one(`${metric} of ${validationId}`, () => metrics.l1Validators.getMetricsByValidationId({ metric, l1ValidationId: validationId }, options));
      }
      for (const metric of ["perNodeCumulativeFeesPaid", "perNodeDailyFeesPaid"]) {
        await one(`${metric} of ${nodeId}`, () => metrics.l1Validators.getMetricsByNodeId({ metric, nodeId }, options));
      }
      for (const metric of ["perSubnetDailyFeesPaid", "perSubnetCumulativeFeesPaid", "perSubnetPayingValidators"]) {
        await one(`${metric} of ${subnetId}`, () => metrics.l1Validators.getMetricsBySubnetId({ metric, subnetId }, options));
      }
    }
  }

  // refused expects the SDK to understand a refusal.
  async function refused(what, call, name, text) {
    try {
      await call();
      failures.push(`${what}: was answered`);
    } catch (error) {
      if (error.name !== name || !JSON.stringify(error.body ?? error.data$ ?? error.message).includes(text)) failures.push(`${what}: ${error}`);
    }
  }

  await one("metrics.healthCheck", () => metrics.healthCheck(options));
  await one("metrics.liveCheck", () => metrics.liveCheck(options));
  const chains = await all("metrics.chains.list", "chains", () => metrics.chains.list({}, options));
  await all("metrics.chains.list of testnet", "chains", () => metrics.chains.list({ network: "testnet" }, options));
  for (const { evmChainId } of chains) await one(`metrics.chains.get ${evmChainId}`, () => metrics.chains.get({ chainId: String(evmChainId) }, options));
  for (const chainId of ["total", "mainnet", "testnet", ...chains.map((c) => String(c.evmChainId))]) await scope(chainId);
  for (const name of ["mainnet", "fuji", "testnet"]) await network(name);
  for (const network of [undefined, "mainnet", "testnet"]) {
    const of = network ?? "both networks";
    for (const groupBy of [undefined, "srcBlockchainId", "destBlockchainId", "srcBlockchainId,destBlockchainId"]) {
      const what = `metrics.chains.getICMTimeseries of ${of} by ${groupBy ?? "nothing"}`;
      const points = [];
      for (let pageToken, more = true; more; more = pageToken !== undefined) { // the SDK does not page this list itself
        const page = await one(what, () => metrics.chains.getICMTimeseries({ network, groupBy, timeInterval: "week", pageSize: 7, pageToken }, options));
        points.push(...(page?.results ?? []));
        pageToken = page?.nextPageToken;
      }
      if (!points.some((p) => p.value > 0)) failures.push(`${what}: there are no messages`);
      const by = `metrics.chains.getICMSummary of ${of} by ${groupBy ?? "nothing"}`;
      const summary = await one(by, () => metrics.chains.getICMSummary({ network, groupBy }, options));
      if (summary && !(summary.result.allTime > 0)) failures.push(`${by}: there are no messages`);
    }
  }
  for (const metric of ["totalCumulativeFeesDaily", "totalValidatorFeesDaily", "totalPayingValidatorsDaily"]) {
    const answer = await one(`metrics.l1Validators.listMetrics ${metric}`, () => metrics.l1Validators.listMetrics({ metric }, options));
    if (answer) falling(metric, answer.results);
  }
  await refused("feesPaid by hour", () => metrics.chains.getMetrics({ chainId: "43114", metric: "feesPaid", timeInterval: "hour" }, options),
    "BadRequestError", "the only interval of feesPaid");
  await refused("metrics of chain 1", () => metrics.chains.getMetrics({ chainId: "1", metric: "txCount" }, options), "NotFoundError", "does not exist");
}

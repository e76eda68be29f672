// Starts exports of every type through @avalanche-sdk/chainkit, polls them to their end and reads their files.

const kinds = ["TRANSACTION_EXPORT_PRIMARY_NETWORK", "TRANSACTION_EXPORT_PRIMARY_NETWORK_SIMPLE", "TRANSACTION_EXPORT_PRIMARY_NETWORK_STAKING"];

// exportAll makes the calls; one makes a call and reports what the SDK rejects.
export async function exportAll({ sdk, options, one, failures }, addresses, chains) {
  const { operations } = sdk.data;
  const known = await (await fetch(`${options.serverURL}/sim/world`)).json();
  const owners = known.personas.flatMap((p) => Object.values(p.addresses));
  const requests = [
    { type: "TRANSACTION_EXPORT_EVM", firstDate: "2026-08-01", lastDate: "2026-10-31", options: { addresses, includeChains: chains } },
    { type: "TRANSACTION_EXPORT_EVM", startDate: "2026-10-01", endDate: "2026-10-31", options: { addresses, includeChains: chains } },
    ...kinds.map((type) => ({ type, options: { addresses: owners, cChainEvmAddresses: known.personas.map((p) => p.address), includeChains: ["p-chain", "x-chain", "c-chain"] } })),
  ];
  for (const request of requests) {
    const what = `export ${request.type}`;
    let now = await one(`${what}: start`, () => operations.exportTransactions(request, options));
    if (!now) continue;
    if (now.operationStatus !== "RUNNING") failures.push(`${what}: it begins ${now.operationStatus}`);
    for (let i = 0; i < 600 && now?.operationStatus === "RUNNING"; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      now = await one(`${what}: state`, () => operations.getResult({ operationId: now.operationId }, options));
    }
    if (now?.operationStatus !== "COMPLETED" || !now.metadata?.downloadUrl) {
      failures.push(`${what}: ${JSON.stringify(now)}`);
      continue;
    }
    const file = await fetch(now.metadata.downloadUrl); // asks for gzip
    const text = await file.text();
    const lines = text.split("\r\n");
    if (!file.ok || file.headers.get("content-encoding") !== "gzip" || !lines[0].startsWith("ChainName,TxHash,") || lines.length < 10 || lines.at(-1) !== "") {
      failures.push(`${what}: its file has status ${file.status} and begins ${text.slice(0, 200)}`);
    }
  }
  // A day that has not come.
  const future = { type: "TRANSACTION_EXPORT_EVM", firstDate: "2099-01-01", options: { addresses, includeChains: chains } };
  let failed = await one("export of the future: start", () => operations.exportTransactions(future, options));
  for (let i = 0; i < 600 && failed?.operationStatus === "RUNNING"; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    failed = await one("export of the future: state", () => operations.getResult({ operationId: failed.operationId }, options));
  }
  if (failed?.operationStatus !== "FAILED" || failed.metadata?.code !== "ErrInvalidRequest") failures.push(`export of the future: ${JSON.stringify(failed)}`);
}

// Compares three replicas with each other and with the proxy in front of them; then kills the one whose process id is given while many
// requests are under way: none may be lost.
const proxy = "http://127.0.0.1:19750";
const replicas = [1, 2, 3].map((n) => `http://127.0.0.1:1975${n}`);
const victim = Number(process.argv[2]);
const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const fail = (text) => {
  console.error(text);
  process.exit(1);
};

const rpc = (path, method, params) => ({
  path,
  init: { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) },
});
const questions = [
  { path: "/v1/chains/43114" },
  { path: `/v1/chains/43114/addresses/${alice}/transactions?pageSize=5` },
  { path: `/v1/chains/43114/addresses/${alice}/balances:listErc20` },
  { path: "/v1/chains/43114/blocks?pageSize=10" },
  { path: "/v1/networks/mainnet/validators?pageSize=10" },
  { path: "/v2/chains/43114/metrics/txCount?timeInterval=day" },
  { path: "/sim/health" },
  { path: "/sim/world?expected=false&abis=false" },
  rpc("/ext/bc/C/rpc", "eth_blockNumber", []),
  rpc("/ext/bc/C/rpc", "eth_getProof", [alice, [], "latest"]),
  rpc("/ext/bc/P", "platform.getCurrentValidators", {}),
  rpc("/ext/bc/C/rpc", "eth_getBlockByNumber", ["latest", true]),
];
const ask = async (base, q, headers = {}) => {
  const r = await fetch(base + q.path, { ...q.init, headers: { ...q.init?.headers, ...headers } });
  return { status: r.status, body: await r.text() };
};

// The same bytes from each, reached by one name.
for (const q of questions) {
  const forwarded = { "x-forwarded-host": "globe.test", "x-forwarded-proto": "https" };
  const answers = await Promise.all(replicas.map((base) => ask(base, q, forwarded)));
  if (answers[0].status !== 200) fail(`${q.path}: ${answers[0].status} ${answers[0].body}`);
  if (answers.some((a) => a.body !== answers[0].body)) fail(`${q.path}: replicas differ`);
}
const { body: chain } = await ask(proxy, questions[0]);
if (!JSON.parse(chain).rpcUrl.startsWith(`${proxy}/ext/`)) fail(`the proxy is not in ${chain}`);

// As much as a node takes goes through the proxy, too.
const large = rpc("/ext/bc/C/rpc", "eth_chainId", []);
large.init.body += " ".repeat(4 << 20);
const { status: taken, body: id } = await ask(proxy, large);
if (taken !== 200 || JSON.parse(id).result !== "0xa86a") fail(`4 MiB: ${taken} ${id}`);

// Each page from another replica.
const pages = async (turn) => {
  const items = [];
  let token = "";
  for (let n = 0; n === 0 || token; n++) {
    const path = `/v1/chains/43114/addresses/${alice}/transactions?pageSize=7${token && `&pageToken=${encodeURIComponent(token)}`}`;
    const { status, body } = await ask(turn(n), { path });
    if (status !== 200) fail(`page ${n}: ${body}`);
    const page = JSON.parse(body);
    items.push(...page.transactions.map((t) => t.nativeTransaction.txHash));
    token = page.nextPageToken;
  }
  return items;
};
const [whole, shared] = [await pages(() => replicas[0]), await pages((n) => replicas[n % 3])];
if (whole.length < 20 || whole.join() !== shared.join()) fail(`${shared.length} transactions by turns, ${whole.length} from one`);

// What would change the world is refused in words, in each interface's shape.
const json = { "content-type": "application/json" };
for (const q of [
  rpc("/ext/bc/C/rpc", "evm_mine", []),
  { path: "/sim/clock", init: { method: "POST", headers: json, body: JSON.stringify({ advance: "1h" }) } },
  {
    path: "/v1/operations/transactions:export",
    init: {
      method: "POST",
      headers: json,
      body: JSON.stringify({ type: "TRANSACTION_EXPORT_EVM", firstDate: "2026-10-20", options: { addresses: [alice], includeChains: ["43114"] } }),
    },
  },
  {
    path: "/v1/webhooks",
    init: {
      method: "POST",
      headers: json,
      body: JSON.stringify({ url: "http://127.0.0.1:1/", chainId: "43114", eventType: "address_activity", metadata: { addresses: [alice] } }),
    },
  },
]) {
  const { status, body } = await ask(proxy, q);
  if (!body.includes("--read-only") || status >= 500) fail(`${q.path}: ${status} ${body}`);
}

// Load from many clients, one of whom wants faults, and one replica less in the middle of it.
const expected = await Promise.all(questions.map((q) => ask(proxy, q)));
let [sent, lost] = [0, 0];
const until = Date.now() + 4000;
const client = async (n) => {
  for (let i = n; Date.now() < until; i++) {
    const k = i % questions.length;
    sent++;
    try {
      const { status, body } = await ask(proxy, questions[k]);
      if (status !== 200 || body !== expected[k].body) lost++;
    } catch (e) {
      lost++;
    }
  }
};
const faulty = async () => {
  while (Date.now() < until) {
    const { status } = await ask(proxy, questions[0], { "x-sim-fault": "503" });
    if (status < 502) fail(`a fault that was asked for is ${status}`); // 503, or 502 where nginx asks the one that is gone last
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
setTimeout(() => process.kill(victim, "SIGKILL"), 1500);
await Promise.all([faulty(), ...Array.from({ length: 16 }, (_, n) => client(n))]);
if (lost > 0 || sent < 100) fail(`${lost} of ${sent} requests were lost`);
console.log(`replicas: ${sent} requests, one replica killed, none lost`);

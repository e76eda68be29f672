// Runs the MCP inspector's command line against a server: node inspect.mjs [--own] TARGET...
// With --own, each command starts a world of its own, so no call can rely on an earlier one.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const own = process.argv[2] === "--own";
const target = process.argv.slice(own ? 3 : 2);
const inspect = (...args) => {
  try {
    return JSON.parse(execFileSync("node_modules/.bin/mcp-inspector", ["--cli", ...target, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 26 }));
  } catch (e) {
    throw new Error(`${args.join(" ")}: ${e.message}\n${e.stdout}${e.stderr}`);
  }
};
const call = (name, args = {}) => {
  const pairs = Object.entries(args).flatMap(([k, v]) => ["--tool-arg", `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`]);
  const { content, isError } = inspect("--method", "tools/call", "--tool-name", name, ...pairs);
  assert.ok(!isError && content.length === 1 && content[0].type === "text", `${name}: ${JSON.stringify(content)}`);
  called.add(name);
  return content[0].text;
};
const called = new Set();

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const nobody = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720";
const { tools } = inspect("--method", "tools/list", "--strict"); // fails on schemas that some agents cannot read
const { resources } = inspect("--method", "resources/list");
const { resourceTemplates } = inspect("--method", "resources/templates/list");
assert.ok(resources.length > 30 && resourceTemplates.length === 2, `${resources.length} resources, ${resourceTemplates.length} templates`);
for (const uri of ["snowglobe://manual/agents", "snowglobe://openapi", "snowglobe://openrpc", "snowglobe://methods/eth_call", "snowglobe://operations/getChain"]) {
  const { contents } = inspect("--method", "resources/read", "--uri", uri);
  assert.ok(contents[0].text.length > 500, uri);
}

const world = JSON.parse(call("describe_world"));
assert.ok(world.personas.some((p) => p.address === alice && p.purpose.includes("everyday")));
const failed = JSON.parse(call("find", { query: "failed" })).results.find((r) => r.where.startsWith("C-Chain mainnet"));
const explained = JSON.parse(call("explain_transaction", { hash: failed.where.split(", ")[1] }));
assert.ok(explained.execution.failure && explained.gas.feePaid);
assert.match(call("search_documentation", { query: "erc20 balances" }), /listErc20Balances/);
assert.match(call("read_documentation", { name: "faucet" }), /^# The faucet/);
assert.match(call("call_api", { path: `/v1/chains/43114/addresses/${alice}/balances:getNative` }), /nativeTokenBalance/);
assert.equal(JSON.parse(call("call_rpc", { method: "eth_getTransactionCount", params: [nobody, "latest"] })), "0x0");
assert.match(call("decode", { data: "0x70a08231" + "0".repeat(24) + alice.slice(2) }), /balanceOf\(address\)/);
const snapshot = JSON.parse(call("take_snapshot", { name: "before" })).id;
const paid = JSON.parse(call("request_funds", { address: nobody, amount: "2.5" }));
assert.equal(paid.status, "accepted");
const head = Number(JSON.parse(call("mine", { blocks: 2 })));
assert.ok(head >= 2);
assert.match(call("move_clock", { advance: "1h" }), /"unix":/);
assert.match(call("add_fault", { id: "busy", match: { operation: "getChain" }, action: { status: 429 } }), /busy/);
const journal = call("list_requests", { limit: 5 });
if (own) {
  tools.filter((t) => t.name === "revert").forEach((t) => called.add(t.name)); // a new world has no snapshot
  assert.match(call("delete_faults"), /"deleted":0/);
} else {
  assert.equal(JSON.parse(call("call_rpc", { method: "eth_getBalance", params: [nobody, "latest"] })), "0x22b1c8c1227a0000");
  assert.match(journal, /addFault/);
  assert.match(call("delete_faults", { id: "busy" }), /"deleted":1/);
  assert.equal(JSON.parse(call("revert", { id: snapshot })).digest, world.digest);
  assert.equal(JSON.parse(call("call_rpc", { method: "eth_getBalance", params: [nobody, "latest"] })), "0x0");
}
assert.deepEqual(tools.map((t) => t.name).filter((name) => !called.has(name)), [], "tools that were not called");
console.log(`${tools.length} tools, ${resources.length} resources: ${target.at(-1)}`);

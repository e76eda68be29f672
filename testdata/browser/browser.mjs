// What the scripts here share: a Chromium, pages that note what goes wrong, and the simulator's APIs.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const base = process.env.SNOWGLOBE_URL;
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

/** A page that counts as trouble: errors on the console, exceptions, requests to other hosts, dialogs. */
export async function open(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(120_000); // other suites may run beside this one
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (m) => { if (m.type() === "error") trouble.push("console: " + m.text()); });
  page.on("pageerror", (e) => trouble.push("exception: " + e.message));
  page.on("dialog", (d) => { trouble.push("dialog: " + d.message()); d.dismiss(); });
  page.on("request", (r) => {
    if (!r.url().startsWith(base + "/") && !r.url().startsWith("data:")) trouble.push("outside: " + r.url());
  });
  return { context, page, trouble };
}

/** Opens a page. On a busy machine the end of the navigation before may abort this one, which is then begun again. */
export const visit = (page, path) => {
  const go = () => page.goto(base + path, { waitUntil: "load" });
  return go().catch((e) => { if (!/ERR_ABORTED/.test(e.message)) throw e; return page.waitForLoadState("load").then(go); });
};

/** The serious findings of axe. It comes in by the debugger's door, which no Content-Security-Policy closes. */
export async function findings(page) {
  const session = await page.context().newCDPSession(page);
  const run = axe + ";axe.run({resultTypes:['violations']}).then((r) => JSON.stringify(r.violations" +
    ".filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`)))";
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", { expression: run, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  await session.detach();
  return JSON.parse(result.value);
}

export async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const response = await fetch(base + path, {
    method, headers: body === undefined ? {} : { "content-type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

export const rpc = async (path, method, params) => {
  const answer = await ask(path, { jsonrpc: "2.0", id: 1, method, params });
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
};

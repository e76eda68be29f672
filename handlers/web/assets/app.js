"use strict";
(() => {
  const body = document.body;
  const base = body.dataset.base, origin = body.dataset.origin;

  const toast = (text) => {
    const t = document.getElementById("toast");
    t.textContent = text;
    t.classList.add("on");
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => t.classList.remove("on"), 4000);
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    toast("Copied");
  };

  // Colours: remember the user's choice.
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it lasts for this page */ }
    dispatchEvent(new Event("themechange"));
  });

  // The call behind a panel, in several languages.
  const q = JSON.stringify;
  const shell = (s) => "'" + s.replaceAll("'", "'\\''") + "'";
  const languages = (c) => {
    const url = origin + c.path;
    if (c.rpc) {
      const params = JSON.stringify(c.params, null, 0);
      const evm = /\/rpc$/.test(c.path);
      const all = {
        curl: `curl -s ${shell(url)} \\\n  -H 'content-type: application/json' \\\n  -d ${shell(q({ jsonrpc: "2.0", id: 1, method: c.rpc, params: c.params }))}`,
      };
      if (evm) {
        all.viem = `import { createPublicClient, http } from "viem";\n\nconst client = createPublicClient({ transport: http(${q(url)}) });\nconsole.log(await client.request({ method: ${q(c.rpc)}, params: ${params} }));`;
        all.ethers = `import { JsonRpcProvider } from "ethers";\n\nconst provider = new JsonRpcProvider(${q(url)});\nconsole.log(await provider.send(${q(c.rpc)}, ${params}));`;
        all.Go = goProgram(["encoding/json", "fmt", "log", "", "github.com/ethereum/go-ethereum/rpc"],
          `client, err := rpc.Dial(${q(url)})`, `var answer json.RawMessage\n\tif err := client.Call(&answer, ${[c.rpc, ...c.params].map(goValue).join(", ")}); err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(string(answer))`);
      } else {
        all.JavaScript = `const response = await fetch(${q(url)}, {\n  method: "POST",\n  headers: { "content-type": "application/json" },\n  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: ${q(c.rpc)}, params: ${params} }),\n});\nconsole.log(await response.json());`;
        all.Go = goProgram(["io", "log", "net/http", "os", "strings"],
          `response, err := http.Post(${q(url)}, "application/json", strings.NewReader(${q(q({ jsonrpc: "2.0", id: 1, method: c.rpc, params: c.params }))}))`, goPrint);
      }
      all.Python = `import json\nfrom urllib.request import Request, urlopen\n\ncall = {"jsonrpc": "2.0", "id": 1, "method": ${q(c.rpc)}, "params": ${pyValue(c.params)}}\nrequest = Request(${q(url)}, json.dumps(call).encode(), {"content-type": "application/json"})\nprint(json.load(urlopen(request))["result"])`;
      return all;
    }
    const all = {
      curl: `curl -s ${shell(url)}`,
    };
    const kit = chainkit(c.path);
    if (kit) all.chainkit = `import { Avalanche } from "@avalanche-sdk/chainkit";\n\nconst avalanche = new Avalanche({ enableTelemetry: false });\nconst options = { serverURL: ${q(origin)} };\nconsole.log(await avalanche.${kit[0]}(${JSON.stringify(kit[1], null, 2).replace(/"(\w+)":/g, "$1:")}, options));`;
    all.JavaScript = `const response = await fetch(${q(url)});\nconsole.log(await response.json());`;
    all.Go = goProgram(["io", "log", "net/http", "os"], `response, err := http.Get(${q(url)})`, goPrint);
    all.Python = `import json\nfrom urllib.request import urlopen\n\nprint(json.load(urlopen(${q(url)})))`;
    return all;
  };
  const goProgram = (imports, call, rest) => `package main\n\nimport (\n${imports.map((i) => i && "\t" + q(i)).join("\n")}\n)\n\nfunc main() {\n\t${call}\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\t${rest}\n}`;
  const goPrint = `defer response.Body.Close()\n\t_, _ = io.Copy(os.Stdout, response.Body)`;
  const goValue = (v) => typeof v === "string" ? q(v) : v !== null && typeof v === "object" ? (Array.isArray(v) ? `[]any{${v.map(goValue).join(", ")}}` : `map[string]any{${Object.entries(v).map(([k, x]) => `${q(k)}: ${goValue(x)}`).join(", ")}}`) : v === null ? "nil" : String(v);
  const pyValue = (v) => v === true ? "True" : v === false ? "False" : v === null ? "None" : Array.isArray(v) ? `[${v.map(pyValue).join(", ")}]` : typeof v === "object" ? `{${Object.entries(v).map(([k, x]) => `${q(k)}: ${pyValue(x)}`).join(", ")}}` : q(v);

  // chainkit's methods by the paths of the operations that pages show.
  const kits = [
    [/^\/v1\/chains\/([^/]+)$/, "data.evm.chains.get", ["chainId"]],
    [/^\/v1\/chains\/([^/]+)\/blocks$/, "data.evm.blocks.listLatest", ["chainId"]],
    [/^\/v1\/chains\/([^/]+)\/blocks\/([^/]+)$/, "data.evm.blocks.get", ["chainId", "blockId"]],
    [/^\/v1\/chains\/([^/]+)\/blocks\/([^/]+)\/transactions$/, "data.evm.blocks.listTransactions", ["chainId", "blockId"]],
    [/^\/v1\/chains\/([^/]+)\/transactions$/, "data.evm.transactions.listLatest", ["chainId"]],
    [/^\/v1\/chains\/([^/]+)\/transactions\/([^/]+)$/, "data.evm.transactions.get", ["chainId", "txHash"]],
    [/^\/v1\/chains\/([^/]+)\/addresses\/([^/]+)\/transactions$/, "data.evm.address.transactions.list", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/addresses\/([^/]+)\/transactions:list(\w+)$/, (m) => "data.evm.address.transactions.list" + m[3].replace("Internals", "Internal"), ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/addresses\/([^/]+)\/balances:getNative$/, "data.evm.address.balances.getNative", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/addresses\/([^/]+)\/balances:list(\w+)$/, (m) => "data.evm.address.balances.list" + m[3], ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/addresses\/([^/]+)$/, "data.evm.contracts.getMetadata", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/contracts\/([^/]+)\/transactions:getDeployment$/, "data.evm.contracts.getDeploymentTransaction", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/tokens\/([^/]+)\/transfers$/, "data.evm.contracts.listTransfers", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/nfts\/collections\/([^/]+)\/tokens$/, "data.nfts.list", ["chainId", "address"]],
    [/^\/v1\/chains\/([^/]+)\/nfts\/collections\/([^/]+)\/tokens\/([^/]+)$/, "data.nfts.get", ["chainId", "address", "tokenId"]],
    [/^\/v1\/networks\/([^/]+)\/validators$/, "data.primaryNetwork.listValidators", ["network"]],
    [/^\/v1\/networks\/([^/]+)\/validators\/([^/]+)$/, "data.primaryNetwork.getValidatorDetails", ["network", "nodeId"]],
    [/^\/v1\/networks\/([^/]+)\/delegators$/, "data.primaryNetwork.listDelegators", ["network"]],
    [/^\/v1\/networks\/([^/]+)\/l1Validators$/, "data.primaryNetwork.listL1Validators", ["network"]],
    [/^\/v1\/networks\/([^/]+)\/subnets$/, "data.primaryNetwork.listSubnets", ["network"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/balances$/, "data.primaryNetwork.balances.listByAddresses", ["network", "blockchainId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/blocks$/, "data.primaryNetwork.blocks.listLatest", ["network", "blockchainId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/transactions$/, "data.primaryNetwork.transactions.listLatest", ["network", "blockchainId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/transactions\/([^/]+)$/, "data.primaryNetwork.transactions.get", ["network", "blockchainId", "txHash"]],
    [/^\/v1\/chains$/, "data.evm.chains.list", []],
    [/^\/v1\/blocks$/, "data.evm.blocks.listLatestAllChains", []],
    [/^\/v1\/transactions$/, "data.evm.transactions.listLatestAllChains", []],
    [/^\/v1\/address\/([^/]+)\/chains$/, "data.evm.address.chains.list", ["address"]],
    [/^\/v1\/networks\/([^/]+)\/subnets\/([^/]+)$/, "data.primaryNetwork.getSubnetById", ["network", "subnetId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/utxos$/, "data.primaryNetwork.utxos.listByAddresses", ["network", "blockchainId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/blocks\/([^/]+)$/, "data.primaryNetwork.blocks.get", ["network", "blockchainId", "blockId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/nodes\/([^/]+)\/blocks$/, "data.primaryNetwork.blocks.listByNodeId", ["network", "blockchainId", "nodeId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/assets\/([^/]+)$/, "data.primaryNetwork.getAssetDetails", ["network", "blockchainId", "assetId"]],
    [/^\/v1\/networks\/([^/]+)\/blockchains\/([^/]+)\/assets\/([^/]+)\/transactions$/, "data.primaryNetwork.transactions.listAssetTransactions", ["network", "blockchainId", "assetId"]],
    [/^\/v1\/webhooks$/, "webhooks.list", []],
    [/^\/v2\/icm\/timeseries$/, "metrics.chains.getICMTimeseries", []],
    [/^\/v2\/icm\/summary$/, "metrics.chains.getICMSummary", []],
    [/^\/v2\/subnet\/([^/]+)\/metrics\/([^/]+)$/, "metrics.l1Validators.getMetricsBySubnetId", ["subnetId", "metric"]],
    [/^\/v1\/icm\/messages$/, "data.icm.list", []],
    [/^\/v1\/icm\/messages\/([^/]+)$/, "data.icm.get", ["messageId"]],
    [/^\/v1\/icm\/addresses\/([^/]+)\/messages$/, "data.icm.listByAddress", ["address"]],
    [/^\/v2\/chains\/([^/]+)\/metrics\/([^/]+)$/, "metrics.chains.getMetrics", ["chainId", "metric"]],
    [/^\/v2\/networks\/([^/]+)\/metrics\/([^/]+)$/, "metrics.networks.getStakingMetrics", ["network", "metric"]],
  ];
  const chainkit = (path) => {
    const url = new URL(path, location.href);
    for (const [shape, method, names] of kits) {
      const m = shape.exec(url.pathname.slice(base.length && url.pathname.startsWith(base) ? base.length : 0));
      if (!m) continue;
      const args = {};
      names.forEach((n, i) => { args[n] = decodeURIComponent(m[i + 1]); });
      for (const [k, v] of url.searchParams) args[k] = /^\d{1,9}$/.test(v) ? Number(v) : v === "true" || v === "false" ? v === "true" : v;
      return [typeof method === "function" ? method(m) : method, args];
    }
    return null;
  };

  const tabs = (box, entries) => {
    const list = document.createElement("div");
    list.className = "tablist";
    list.setAttribute("role", "tablist");
    const choose = (i, focus) => entries.forEach(({ tab, panel }, j) => {
      tab.setAttribute("aria-selected", String(i === j));
      tab.tabIndex = i === j ? 0 : -1;
      panel.hidden = i !== j;
      if (i === j && focus) tab.focus();
    });
    entries.forEach((e, i) => {
      e.tab = document.createElement("button");
      e.tab.type = "button";
      e.tab.textContent = e.name;
      e.tab.setAttribute("role", "tab");
      e.tab.id = "tab" + (tabs.count = (tabs.count || 0) + 1);
      e.panel.id = e.panel.id || e.tab.id + "-panel";
      e.tab.setAttribute("aria-controls", e.panel.id);
      e.panel.setAttribute("role", "tabpanel");
      e.panel.setAttribute("aria-labelledby", e.tab.id);
      e.tab.addEventListener("click", () => choose(i));
      e.tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) choose((i + step + entries.length) % entries.length, true);
      });
      list.append(e.tab);
    });
    box.prepend(list);
    choose(0);
    return list;
  };

  const withCopy = (pre) => {
    if (pre.parentElement.classList.contains("copyable")) return;
    const wrap = document.createElement("div");
    wrap.className = "copyable";
    pre.replaceWith(wrap);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy text";
    button.textContent = "Copy";
    button.addEventListener("click", () => copy(pre.textContent));
    wrap.append(pre, button);
  };

  const openCall = (details) => {
    if (details.dataset.ready) return;
    details.dataset.ready = "1";
    const c = { method: details.dataset.method, path: details.dataset.path, rpc: details.dataset.rpc };
    if (c.rpc) c.params = JSON.parse(details.dataset.params);
    const box = details.querySelector(".api-box");
    box.textContent = "";
    const entries = Object.entries(languages(c)).map(([name, text]) => {
      const panel = document.createElement("div"), pre = document.createElement("pre"), code = document.createElement("code");
      code.textContent = text;
      pre.tabIndex = 0;
      pre.append(code);
      panel.append(pre);
      withCopy(pre);
      box.append(panel);
      return { name, panel };
    });
    tabs(box, entries);
  };
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details.api") || !event.target.open) return;
    for (const other of document.querySelectorAll("details.api[open]")) if (other !== event.target) other.open = false;
    openCall(event.target);
  }, true);

  const prepare = (root) => {
    for (const box of root.querySelectorAll("[data-tabs]")) {
      if (box.dataset.ready) continue;
      box.dataset.ready = "1";
      tabs(box, [...box.querySelectorAll(":scope > [data-tab]")].map((panel) => ({ name: panel.dataset.tab, panel })));
      for (const pre of box.querySelectorAll("pre")) withCopy(pre);
    }
  };
  prepare(document);
  document.addEventListener("htmx:load", (event) => prepare(event.target));

  document.addEventListener("click", async (event) => {
    const copier = event.target.closest("[data-copy]");
    if (copier) return copy(copier.dataset.copy);
    const shower = event.target.closest("[data-show]");
    if (shower) {
      for (const e of document.querySelectorAll("." + shower.dataset.show)) e.classList.remove(shower.dataset.show);
      shower.remove();
      return;
    }
    const wallet = event.target.closest("[data-wallet]");
    if (wallet) {
      const chain = JSON.parse(wallet.dataset.wallet);
      if (!window.ethereum) return toast("This browser has no wallet");
      try {
        await window.ethereum.request({
          method: "wallet_addEthereumChain",
          params: [{
            chainId: "0x" + Number(chain.chainId).toString(16), chainName: chain.chainName, rpcUrls: [chain.rpc], blockExplorerUrls: [chain.explorer],
            nativeCurrency: { name: chain.symbol, symbol: chain.symbol, decimals: 18 },
          }],
        });
      } catch (e) { toast(e.message); }
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      document.querySelector(".search input").focus();
    }
    if (event.key === "Escape") for (const d of document.querySelectorAll("details.api[open]")) d.open = false;
  });

  // On narrow screens the bar is folded to the clock.
  document.getElementById("fold")?.addEventListener("click", (event) => {
    const fold = event.currentTarget;
    fold.setAttribute("aria-expanded", fold.getAttribute("aria-expanded") === "true" ? "false" : "true");
  });

  // What changes the world: a button makes the call itself, and the page is read anew.
  const later = (text) => { try { sessionStorage.setItem("toast", text); } catch { /* nothing to say then */ } };
  try {
    const said = sessionStorage.getItem("toast");
    if (said) { sessionStorage.removeItem("toast"); toast(said); }
  } catch { /* storage may be off */ }

  const change = async (method, path, content) => {
    const response = await fetch(base + path, {
      method,
      headers: content === undefined && method !== "POST" ? {} : { "content-type": "application/json" },
      body: content,
    });
    const answer = response.status === 204 ? null : await response.json().catch(() => null);
    if (!response.ok) throw new Error([].concat(answer?.message ?? response.statusText).join("; "));
    if (answer?.error) throw new Error(answer.error.message);
    return answer;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-do]");
    if (!button || button.disabled) return;
    if (button.dataset.sure && !confirm(button.dataset.sure)) return;
    button.disabled = true;
    try {
      const answer = await change(button.dataset.method, button.dataset.path, button.dataset.body);
      later(button.dataset.done || "Done");
      if (button.dataset.tx && answer?.result) location.href = button.dataset.tx + answer.result;
      else if (button.dataset.into && answer) location.href = new URL(answer[button.dataset.into]).pathname + "/";
      else if (button.dataset.to) location.href = button.dataset.to;
      else location.reload();
    } catch (e) {
      toast(e.message);
      button.disabled = false;
    }
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("[data-send]");
    if (!form) return;
    event.preventDefault();
    const given = form.elements.to.value.trim();
    const option = [...form.querySelectorAll("option")].find((o) => o.value === given);
    const [whole, part = ""] = form.elements.amount.value.trim().split(".");
    try {
      const value = "0x" + (BigInt(whole) * 10n ** 18n + BigInt((part + "0".repeat(18)).slice(0, 18))).toString(16);
      const answer = await change("POST", form.dataset.rpc, q({
        jsonrpc: "2.0", id: 1, method: "eth_sendTransaction",
        params: [{ from: form.dataset.from, to: option ? option.dataset.address : given, value }],
      }));
      later("Sent");
      location.href = form.dataset.tx + answer.result;
    } catch (e) { toast(e.message); }
  });

  // On a narrow screen, scroll the menu to the current entry.
  const menu = document.querySelector(".menu"), here = menu?.querySelector("[aria-current]");
  if (here) menu.scrollLeft = here.offsetLeft - menu.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;

  // Forms whose fields are the members of a JSON body: a.b is a nested member, a[] a list separated by commas. Empty fields are omitted.
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("[data-json]");
    if (!form) return;
    event.preventDefault();
    const content = {};
    for (const [name, value] of new FormData(form)) {
      if (value === "") continue;
      const path = name.split("."), last = path.pop();
      const at = path.reduce((o, part) => (o[part] ??= {}), content);
      if (last.endsWith("[]")) at[last.slice(0, -2)] = value.split(",").map((s) => s.trim());
      else at[last] = value;
    }
    try {
      const answer = await change(form.dataset.method, form.dataset.path, q(content));
      const page = answer?.[form.dataset.into];
      later(answer?.note || form.dataset.done);
      if (page) location.href = new URL(page).pathname;
      else location.reload();
    } catch (e) { toast(e.message); }
  });

  // Let a running clock run on the page too.
  const clock = document.getElementById("clock");
  const rate = Number(clock?.dataset.rate);
  if (rate > 0) {
    const from = Number(clock.dataset.ms), since = performance.now();
    const form = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false, timeZone: "UTC" });
    setInterval(() => {
      const p = Object.fromEntries(form.formatToParts(from + (performance.now() - since) * rate).map((x) => [x.type, x.value]));
      clock.textContent = `${p.weekday} ${p.day} ${p.month} ${p.year}, ${p.hour}:${p.minute}:${p.second} UTC`;
    }, 250);
  }

  // Requests as they arrive.
  const live = document.getElementById("requests");
  if (live) {
    const say = document.getElementById("live");
    const stream = new EventSource(base + "/sim/events?kind=request");
    let waiting = false;
    stream.addEventListener("open", () => { say.textContent = "live"; });
    stream.addEventListener("error", () => { say.textContent = "not connected"; });
    stream.addEventListener("request", () => {
      if (waiting) return;
      waiting = true;
      setTimeout(async () => {
        waiting = false;
        const response = await fetch(live.dataset.live, { headers: { "HX-Request": "true" } });
        if (!response.ok) return;
        live.innerHTML = await response.text();
        window.htmx?.process(live);
      }, 250);
    });
    addEventListener("pagehide", () => stream.close());
  }

  // Charts.
  const charts = [...document.querySelectorAll(".chart")];
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const probe = document.createElement("span");
    body.append(probe);
    const color = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    const [ink, line, accent] = [color("--soft"), color("--line"), color("--accent")];
    probe.remove();
    for (const box of charts) {
      box.textContent = "";
      const points = JSON.parse(box.dataset.points);
      const font = "12px " + style.getPropertyValue("--sans");
      const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }), hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
      const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font };
      new uPlot({
        width: box.clientWidth, height: 190, tzDate: (s) => uPlot.tzDate(new Date(s * 1000), "Etc/UTC"),
        legend: { show: false }, cursor: { y: false },
        axes: [{ ...axis, values: (_, all) => all.map((s) => (s % 86400 ? hours : days).format(s * 1000)) }, { ...axis, size: 58, values: (_, all) => all.map((v) => compact.format(v)) }],
        series: [{}, { stroke: accent, width: 2, fill: accent.replace("rgb(", "rgba(").replace(")", ", .12)"), points: { show: points[0].length < 40 } }],
        scales: { y: { range: (_, low, high) => low === high ? [low - 1, high + 1] : [Math.min(0, low), high * 1.05] } },
      }, points, box);
    }
  };
  if (charts.length) {
    draw();
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
    addEventListener("themechange", draw);
  }
})();

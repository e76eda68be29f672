import net from "node:net";
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options, done] = Array.isArray(args[0]) ? args[0]
    : typeof args[0] === "object" ? args
    : [{ port: args[0], host: typeof args[1] === "string" ? args[1] : undefined }, args.find((arg) => typeof arg === "function")];
  const host = String(options.host ?? "localhost").toLowerCase().replace(/\.$/, "");
  if (!options.path && plan.hosts.includes(host)) {
    if (this.encrypted && !options.servername) this.setServername(host);
    return connect.call(this, { ...options, host: "127.0.0.1", port: plan.direct }, done);
  }
  const local = /^(localhost|.*\.localhost|(::ffff:)?127(\.\d+){3}|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}|0\.0\.0\.0|::1?)$/.test(host);
  if (!plan.sealed || options.path || local || plan.allow.some((name) => name === host || name[0] === "*" && host.endsWith(name.slice(1)))) return connect.apply(this, args);
  this.connecting = true;
  const text = `snowglobe --sealed refuses ${host}, which is outside this world; --allow-host ${host} lets it pass`;
  const at = (host.includes(":") ? `[${host}]` : host) + ":" + options.port;
  const report = connect.call(new net.Socket(), plan.proxy);
  report.on("error", () => {}).on("close", () => {
    this.connecting = false;
    this.destroy(Object.assign(new Error(text), { code: "ECONNREFUSED", stack: `Error: ${text}` }));
  });
  report.end(`CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\nUser-Agent: node ${process.argv[1] ?? ""}\r\nConnection: close\r\n\r\n`);
  report.resume();
  return this;
};

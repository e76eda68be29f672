package intercept

import (
	"encoding/json"
	"strings"
)

// script is a proxy auto-configuration file in the oldest JavaScript, which every system's interpreter reads.
const script = `var hosts = HOSTS;
function FindProxyForURL(url, host) {
  host = host.toLowerCase();
  for (var i = 0; i < hosts.length; i++) if (hosts[i] === host) return "PROXY ADDRESS";
  if (host === "localhost" || shExpMatch(host, "*.localhost") || /^127([.][0-9]+){3}$/.test(host) || host === "::1" || host === "[::1]") return "DIRECT";
  return "OTHERS";
}
`

// Script returns a proxy auto-configuration file for the proxy at an address. It sends everything through a sealed proxy, which refuses it, and
// only the table's hosts through one that is not.
func (p *Proxy) Script(address string) []byte {
	hosts, _ := json.Marshal(p.Names()) // texts always encode
	others := "DIRECT"
	if p.options.Sealed {
		others = "PROXY " + address
	}
	return []byte(strings.NewReplacer("HOSTS", string(hosts), "ADDRESS", address, "OTHERS", others).Replace(script))
}

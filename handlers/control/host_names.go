package control

import (
	"net"
	"net/http"
	"net/url"
	"reflect"

	"snowglobe/handlers/intercept"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

// HostNames describes the proxy for the real network's host names.
type HostNames struct {
	ProxyURL      string              `json:"proxyUrl" doc:"For clients that accept a proxy's URL."`
	PACURL        string              `json:"pacUrl" format:"url" doc:"For clients that accept a script: it sends only these hosts through the proxy."`
	Certificate   string              `json:"certificateUrl" format:"url" doc:"This run's certificate authority, in PEM. It signs certificates for these hosts only."`
	ChromiumFlags []string            `json:"chromiumFlags"`
	Sealed        bool                `json:"sealed" doc:"Whether the proxy refuses other hosts."`
	Hosts         []HostName          `json:"hosts"`
	Refused       []intercept.Refusal `json:"refused" doc:"Requests that a sealed proxy refused."`
}

// HostName is a host that the world answers for.
type HostName struct {
	Name    string `json:"name"`
	Service string `json:"service"`
	Chain   string `json:"chain,omitempty"`
	Purpose string `json:"purpose,omitempty"`
}

// RegisterHostNames registers the operations on the proxy, nil for a server without one.
func RegisterHostNames(s *rest.Server, proxy *intercept.Proxy) error {
	find := func(*rest.Request) (*intercept.Proxy, error) {
		if proxy == nil {
			return nil, rest.NotFound("this server answers only to its own addresses: start it with --as-network")
		}
		return proxy, nil
	}
	return s.Register(rest.Sim,
		rest.Operation{ID: "getHostNames", Path: "/sim/proxy", Summary: "The real network's host names that this server answers for",
			Doc: "Returns 404 without --as-network.", Live: true, Unrecorded: true, Answer: reflect.TypeFor[HostNames](), Handle: rest.With(find, describeHostNames)},
		rest.Operation{ID: "getProxyScript", Path: "/sim/proxy.pac", Summary: "A proxy auto-configuration script for browsers",
			Doc: "Returns 404 without --as-network.", Live: true, Unrecorded: true, Produces: pacType, Handle: rest.With(find, proxyScript)},
		rest.Operation{ID: "getProxyCertificate", Path: "/sim/proxy.pem", Summary: "The certificate authority of this run",
			Doc: "Returns 404 without --as-network. Its key exists only in memory, and it signs certificates for the listed hosts only.", Live: true, Unrecorded: true,
			Produces: pemType, Handle: rest.With(find, proxyCertificate)},
	)
}

const (
	pacType = "application/x-ns-proxy-autoconfig"
	pemType = "application/x-pem-file"
)

// proxyAddress returns the proxy's address as the client reached it.
func proxyAddress(r *http.Request) string {
	if permit.TrustedHost(r) == "" {
		if u, err := url.Parse(rest.RootURL(r)); err == nil {
			return u.Host
		}
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return local.String()
	}
	return r.Host
}

func describeHostNames(r *rest.Request, p *intercept.Proxy) (any, error) {
	at := "http://" + proxyAddress(r.HTTP)
	refused, _ := p.Refused()
	d := &HostNames{ProxyURL: at, PACURL: at + "/sim/proxy.pac", Certificate: at + "/sim/proxy.pem", ChromiumFlags: p.ChromiumFlags(at),
		Sealed: p.Sealed(), Refused: append([]intercept.Refusal{}, refused...)}
	for _, h := range p.Hosts() {
		d.Hosts = append(d.Hosts, HostName{h.Name, string(h.Service), h.Chain, h.Purpose})
	}
	return d, nil
}

func proxyScript(r *rest.Request, p *intercept.Proxy) (any, error) {
	return rest.Raw{Type: pacType, Body: p.Script(proxyAddress(r.HTTP))}, nil
}

func proxyCertificate(_ *rest.Request, p *intercept.Proxy) (any, error) {
	body, err := p.Certificate()
	return rest.Raw{Type: pemType, Body: body}, err
}

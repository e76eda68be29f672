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

// hostNamesAPI implements the operations on the proxy.
type hostNamesAPI struct{ proxy *intercept.Proxy }

// RegisterHostNames registers the operations on the proxy, nil for a server without one.
func RegisterHostNames(s *rest.Server, proxy *intercept.Proxy) error {
	a := &hostNamesAPI{proxy}
	return s.Register(rest.Sim,
		rest.Operation{ID: "getHostNames", Path: "/sim/proxy", Summary: "The real network's host names that this server answers for",
			Doc: "Returns 404 without --as-network.", Live: true, Unrecorded: true, Answer: reflect.TypeFor[HostNames](), Handle: a.describe},
		rest.Operation{ID: "getProxyScript", Path: "/sim/proxy.pac", Summary: "A proxy auto-configuration script for browsers",
			Doc: "Returns 404 without --as-network.", Live: true, Unrecorded: true, Produces: pacType, Handle: a.script},
		rest.Operation{ID: "getProxyCertificate", Path: "/sim/proxy.pem", Summary: "The certificate authority of this run",
			Doc: "Returns 404 without --as-network. Its key exists only in memory, and it signs certificates for the listed hosts only.", Live: true, Unrecorded: true,
			Produces: pemType, Handle: a.certificate},
	)
}

const (
	pacType = "application/x-ns-proxy-autoconfig"
	pemType = "application/x-pem-file"
)

func (a *hostNamesAPI) on() error {
	if a.proxy == nil {
		return rest.NotFound("this server answers only to its own addresses: start it with --as-network")
	}
	return nil
}

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

func (a *hostNamesAPI) describe(r *rest.Request) (any, error) {
	if err := a.on(); err != nil {
		return nil, err
	}
	at := "http://" + proxyAddress(r.HTTP)
	refused, _ := a.proxy.Refused()
	d := &HostNames{ProxyURL: at, PACURL: at + "/sim/proxy.pac", Certificate: at + "/sim/proxy.pem", ChromiumFlags: a.proxy.ChromiumFlags(at),
		Sealed: a.proxy.Sealed(), Refused: append([]intercept.Refusal{}, refused...)}
	for _, h := range a.proxy.Hosts() {
		d.Hosts = append(d.Hosts, HostName{h.Name, string(h.Service), h.Chain, h.Purpose})
	}
	return d, nil
}

func (a *hostNamesAPI) script(r *rest.Request) (any, error) {
	if err := a.on(); err != nil {
		return nil, err
	}
	return rest.Raw{Type: pacType, Body: a.proxy.Script(proxyAddress(r.HTTP))}, nil
}

func (a *hostNamesAPI) certificate(*rest.Request) (any, error) {
	if err := a.on(); err != nil {
		return nil, err
	}
	body, err := a.proxy.Certificate()
	return rest.Raw{Type: pemType, Body: body}, err
}

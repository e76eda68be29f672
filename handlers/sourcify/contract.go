package sourcify

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/verification"
)

// summary tells how a contract matches its sources: exact_match, match (with other metadata), or null.
type summary struct {
	Match    *string `json:"match"`
	Creation *string `json:"creationMatch"`
	Runtime  *string `json:"runtimeMatch"`
	ChainID  string  `json:"chainId"`
	Address  string  `json:"address"`
	Verified string  `json:"verifiedAt,omitempty"` // by the world's clock, RFC 3339
	MatchID  string  `json:"matchId,omitempty"`
}

func (t *target) summary(c *verification.Contract) summary {
	s := summary{ChainID: strconv.FormatUint(t.chain.Row.EVMID, 10), Address: t.address.Hex()}
	if c == nil {
		return s
	}
	match := "match"
	if c.Exact {
		match = "exact_match"
	}
	s.Match, s.Runtime = &match, &match
	if c.Created {
		s.Creation = &match
	}
	s.MatchID = s.ChainID + "-" + strings.ToLower(s.Address)
	if c.Time > 0 {
		s.Verified = time.Unix(c.Time, 0).UTC().Format(time.RFC3339)
	}
	return s
}

// details are the fields that a client may ask for.
type details struct {
	summary
	ABI         json.RawMessage            `json:"abi,omitempty"`
	Sources     map[string]content         `json:"sources,omitempty"`
	Compilation *compilation               `json:"compilation,omitempty"`
	Input       map[string]json.RawMessage `json:"stdJsonInput,omitempty"`
	Proxy       *resolution                `json:"proxyResolution,omitempty"`
}

type content struct {
	Content string `json:"content"`
}

type compilation struct {
	Language string          `json:"language"`
	Compiler string          `json:"compiler"`
	Version  string          `json:"compilerVersion"`
	Settings json.RawMessage `json:"compilerSettings,omitempty"`
	Name     string          `json:"name"`
	FullName string          `json:"fullyQualifiedName"`
}

type resolution struct {
	IsProxy         bool             `json:"isProxy"`
	Implementations []implementation `json:"implementations"`
}

type implementation struct {
	Address string `json:"address"`
	Name    string `json:"name,omitempty"`
}

// fields lists what fields of a query may name.
var fields = []string{"all", "abi", "sources", "compilation", "stdJsonInput", "proxyResolution"}

// contract shows what is known of a contract; a contract that is not known is a 404 with no match.
func (a *API) contract(r *http.Request, path []string) (int, any, error) {
	t, err := a.target(path[1], path[2])
	if err != nil {
		return 0, nil, err
	}
	var asked []string
	if text := r.URL.Query().Get("fields"); text != "" {
		asked = strings.Split(text, ",")
	}
	for _, name := range asked {
		base, _, _ := strings.Cut(name, ".")
		if !slices.Contains(fields, base) {
			return 0, nil, refusal(http.StatusBadRequest, "invalid_parameter", "the field %.80q is not known: expected %s", name, strings.Join(fields, ", "))
		}
	}
	db := a.options.World.DB
	c, err := a.options.Contracts.Find(r.Context(), db, t.chain, t.address)
	if err != nil {
		return 0, nil, err
	}
	if c == nil || len(c.Sources) == 0 {
		return http.StatusNotFound, t.summary(nil), nil
	}
	d := details{summary: t.summary(c)}
	wants := func(name string) bool {
		return slices.ContainsFunc(asked, func(field string) bool { return field == "all" || field == name || strings.HasPrefix(field, name+".") })
	}
	if wants("abi") {
		d.ABI = c.ABI
	}
	if wants("compilation") {
		d.Compilation = &compilation{c.Language, "solc", c.Compiler, c.Settings, c.Name, c.Source + ":" + c.Name}
	}
	texts := map[string]content{}
	for name, text := range c.Sources {
		texts[name] = content{text}
	}
	if wants("sources") {
		d.Sources = texts
	}
	if wants("stdJsonInput") && c.Settings != nil {
		d.Input = map[string]json.RawMessage{"settings": c.Settings}
		for name, value := range map[string]any{"language": c.Language, "sources": texts} {
			if d.Input[name], err = json.Marshal(value); err != nil {
				return 0, nil, err
			}
		}
	}
	if wants("proxyResolution") {
		if d.Proxy, err = a.resolve(r, t); err != nil {
			return 0, nil, err
		}
	}
	return http.StatusOK, d, nil
}

// resolve follows a proxy.
func (a *API) resolve(r *http.Request, t *target) (*resolution, error) {
	db, p := a.options.World.DB, &resolution{Implementations: []implementation{}}
	address, proxy, err := verification.Implementation(r.Context(), db, t.chain, t.address)
	if err != nil || !proxy {
		return p, err
	}
	p.IsProxy = true
	of := implementation{Address: common.Address(address).Hex()}
	c, err := a.options.Contracts.Find(r.Context(), db, t.chain, address)
	if c != nil {
		of.Name = c.Name
	}
	p.Implementations = append(p.Implementations, of)
	return p, err
}

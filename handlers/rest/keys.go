package rest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"snowglobe/fixtures"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/rest/schema"
)

// Key is an API key with its restrictions. Empty lists allow everything.
type Key struct {
	Key        string   `yaml:"key"`
	Limit      int      `yaml:"limit"` // requests per minute; 0 means twice the general limit
	Interfaces []string `yaml:"interfaces"`
	Networks   []string `yaml:"networks"`
}

// Keys holds the API keys that the server knows.
type Keys struct{ byKey map[string]*Key }

// ReadKeys reads an API-keys file: a YAML list of keys, each with key, limit, interfaces and networks.
func ReadKeys(text []byte) (*Keys, error) {
	if _, err := userfile.YAML(text); err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	var list []*Key
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("API keys: %s; expected a list such as - {key: one, limit: 600, interfaces: [data], networks: [fuji]}", explainYAML(err))
	}
	k := &Keys{byKey: map[string]*Key{}}
	for i, key := range list {
		if err := k.add(key); err != nil {
			return nil, fmt.Errorf("API keys: entry %d: %w", i+1, err)
		}
	}
	return k, nil
}

// Texts returns the keys themselves, which must stay secret.
func (k *Keys) Texts() []string {
	if k == nil {
		return nil
	}
	return slices.Collect(maps.Keys(k.byKey))
}

func (k *Keys) add(key *Key) error {
	switch {
	case key == nil || key.Key == "":
		return errors.New("has no key")
	case k.byKey[key.Key] != nil:
		return errors.New("repeats an earlier key")
	case key.Limit < 0:
		return fmt.Errorf("limit %d is negative", key.Limit)
	}
	for _, name := range key.Interfaces {
		if !slices.ContainsFunc(interfaces, func(in *Interface) bool { return in.Name == name }) {
			return fmt.Errorf("interface %q is not one of data, metrics, sim", name)
		}
	}
	for i, name := range key.Networks {
		network, ok := schema.NetworkName(name)
		if !ok {
			return fmt.Errorf("network %q is not one of mainnet, fuji, testnet", name)
		}
		key.Networks[i] = network
	}
	k.byKey[key.Key] = key
	return nil
}

// keysOf returns the keys in the places of a request where clients put one.
func keysOf(r *http.Request) []string {
	return slices.DeleteFunc([]string{r.Header.Get("X-Service-Api-Key"), r.Header.Get("X-Glacier-Api-Key"), queryToken(r), r.Header.Get(coreKeyHeader)},
		func(key string) bool { return key == "" })
}

// KeyParameter is the query parameter that may hold an API key.
const KeyParameter = "rltoken"

// KeyOf returns a request's first key, or "".
func KeyOf(r *http.Request) string {
	for _, key := range keysOf(r) {
		return key
	}
	return ""
}

func queryToken(r *http.Request) string {
	if !strings.Contains(r.URL.RawQuery, KeyParameter+"=") {
		return ""
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // the parser reports malformed queries
	return query.Get(KeyParameter)
}

// access decides who may send requests, and how often.
type access struct {
	keys       *Keys // nil if any key will do
	requireKey bool
	rateLimit  int // requests per minute of a client without a key; 0 for no limit
	limiter    *limiter
	now        func() time.Time
}

func newAccess(o *Options) *access {
	return &access{keys: o.Keys, requireKey: o.RequireKey, rateLimit: o.RateLimit, limiter: newLimiter(time.Minute, maxClients), now: o.Now}
}

// authenticate identifies the client, checks that it has a key if it needs one, and counts the request against its limit. It writes the
// remaining allowance to the response headers.
func (a *access) authenticate(answer http.Header, r *http.Request, op *operation) (*Key, error) {
	if op.Keyless {
		return nil, nil
	}
	key, err := a.identify(keysOf(r), op.in)
	if err != nil && vouched(r) {
		err = nil
	}
	if err != nil || !op.in.Limited || IsInside(r.Context()) {
		return key, err
	}
	return key, a.limit(answer, r, key)
}

// identify returns the first known key. Without a keys file, any key is accepted but grants nothing, because anyone can make one up for
// each request. With one, an unknown key counts as none.
func (a *access) identify(carried []string, in *Interface) (*Key, error) {
	if a.keys == nil && len(carried) > 0 {
		return nil, nil
	}
	for _, text := range carried {
		if key := a.keys.byKey[text]; key != nil {
			return key, nil
		}
	}
	if !a.requireKey || in.Keyless {
		return nil, nil
	}
	if len(carried) == 0 {
		return nil, Unauthorized("an API key is required: send it in the header x-service-api-key or x-glacier-api-key")
	}
	return nil, Unauthorized("the API key is not known")
}

// Account identifies the client: the SHA-256 of its API key. Clients without a key share one account.
func (r *Request) Account() [sha256.Size]byte {
	a := r.server.access
	for _, text := range keysOf(r.HTTP) {
		if a.keys == nil || a.keys.byKey[text] != nil {
			return sha256.Sum256([]byte(text))
		}
	}
	return sha256.Sum256(nil)
}

// checkInterface rejects a key that does not allow the interface, regardless of the request.
func (k *Key) checkInterface(in *Interface) error {
	if k == nil || in.Keyless || len(k.Interfaces) == 0 || slices.Contains(k.Interfaces, in.Name) {
		return nil
	}
	return Forbidden("the API key is not for the " + in.Title)
}

// checkNetworks rejects a key that does not allow the networks.
func (k *Key) checkNetworks(r *Request) error {
	if k == nil || r.op.in.Keyless || len(k.Networks) == 0 {
		return nil
	}
	for _, network := range r.networks() {
		if !slices.Contains(k.Networks, network) {
			return Forbidden("the API key is not for the network " + network + ", only for " + strings.Join(k.Networks, " and "))
		}
	}
	return nil
}

// networks returns the networks that a response may draw on: those named by parameters, directly or through a chain, or both if a parameter
// could narrow the response but none does.
func (r *Request) networks() []string {
	var list, named []string
	open := false
	if r.op.AllNetworks {
		list = append(list, fixtures.MainnetName, fixtures.FujiName)
	}
	if r.op.Networks != nil {
		list = append(list, r.op.Networks(r)...)
	}
	for i, p := range r.op.params {
		switch v := r.values[i].(type) {
		case string:
			if p.Kind == schema.KindNetwork {
				named = append(named, v)
			}
		case schema.ChainID:
			if network, ok := r.networkOf(v); ok {
				named = append(named, network)
			}
		case nil:
			open = open || p.Kind == schema.KindNetwork
		}
	}
	if open && len(named) == 0 {
		named = []string{fixtures.MainnetName, fixtures.FujiName}
	}
	return append(list, named...)
}

func (r *Request) networkOf(c schema.ChainID) (string, bool) {
	if r.server.opts.NetworkOf == nil {
		return "", false
	}
	return r.server.opts.NetworkOf(c)
}

// explainYAML returns the decoder's error without the names of Go types.
func explainYAML(err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	for _, words := range [][2]string{{" not found in type rest.Key", " is not known"}, {" into []*rest.Key", " is not a list"}, {" into rest.Key", " is not a key"}, {"cannot unmarshal ", ""}, {" into int", " is no whole number"}, {"!!map", "a mapping"}, {"!!str ", ""}, {"!!seq", "a list"}} {
		text = strings.ReplaceAll(text, words[0], words[1])
	}
	return text
}

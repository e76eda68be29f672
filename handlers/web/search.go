package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// result is one search result.
type result struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Where string `json:"where"` // its chain or network, or its purpose
	Path  string `json:"page"`  // below the world's URL
}

var (
	hash32    = schema.Shape(`^0x[0-9a-fA-F]{64}$`)
	address20 = schema.Shape(`^0x[0-9a-fA-F]{40}$`)
	digits    = schema.Shape(`^[0-9]{1,18}$`)
	cb58      = schema.Shape(`^[1-9A-HJ-NP-Za-km-z]{40,54}$`)
	nodeID    = schema.Shape(`^NodeID-[1-9A-HJ-NP-Za-km-z]{20,40}$`)
)

// search accepts any text.
func search(p *page) error {
	query := strings.TrimSpace(p.r.URL.Query().Get("q"))
	if query == "" {
		return p.showAs("search", "", "Search")
	}
	found, err := searcher{p}.lookUp(query)
	if err != nil {
		return err
	}
	if len(found) == 1 {
		return &redirectError{found[0].Path}
	}
	if len(found) == 0 {
		p.status = 404
	}
	p.Data = found
	return p.showAs("search", "", "Search: "+clip(query, 80))
}

// orResults answers a search with JSON if the client prefers that to a page.
func (s *Site) orResults(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "application/json") || strings.Contains(accept, "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		found := []result{}
		p, err := s.newPage(r)
		if query := strings.TrimSpace(r.URL.Query().Get("q")); err == nil && query != "" {
			var all []result
			all, err = searcher{p}.lookUp(query)
			found = append(found, all...)
		}
		status, body := http.StatusOK, any(J{"results": found})
		if err != nil {
			status = http.StatusInternalServerError
			if failed, ok := err.(*pageError); ok {
				status = failed.status
			}
			body = J{"message": err.Error(), "error": http.StatusText(status), "statusCode": status}
		}
		text, err := json.Marshal(body)
		if err != nil {
			s.log.Error("cannot write search results", "error", err)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		send(w, r, status, text)
	})
}

// searcher finds the objects that match a text.
type searcher struct{ *page }

// find redirects to the one thing with an id.
func (p searcher) find(id string) error {
	found, err := p.lookUp(id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return notFound("nothing in this world is called %s", clip(id, 80))
	}
	return &redirectError{found[0].Path}
}

func (p searcher) lookUp(query string) ([]result, error) {
	switch {
	case hash32().MatchString(query):
		return p.byHash(query)
	case address20().MatchString(query):
		return []result{{"address", query, "", "/address/" + query}}, nil
	case digits().MatchString(query):
		return p.byNumber(query)
	case nodeID().MatchString(query):
		return p.byNode(query)
	case bech32().MatchString(query):
		return byBech32(query), nil
	case cb58().MatchString(query):
		return p.byID(query)
	case len(query) > 100:
		return nil, nil
	}
	return p.byName(query), nil
}

// candidate is a call that succeeds if the thing exists.
type candidate struct {
	call  *Call
	found result
}

// which makes calls concurrently and returns the successful ones.
func (p searcher) which(candidates []candidate) ([]result, error) {
	calls := make([]*Call, len(candidates))
	for i := range candidates {
		calls[i] = candidates[i].call.opt()
		calls[i].Name = text(i)
	}
	if err := p.load(calls...); err != nil {
		return nil, err
	}
	var found []result
	for i, c := range candidates {
		if p.Got[text(i)] != nil {
			found = append(found, c.found)
		}
	}
	return found, nil
}

func (p searcher) byHash(hash string) ([]result, error) {
	var all []candidate
	for _, c := range p.names.Chains {
		on := "/sim/explorer/" + c.ID
		all = append(all, candidate{get("", "/v1/chains/%s/transactions/%s", c.ID, hash), result{"transaction", hash, c.Label(), on + "/tx/" + hash}},
			candidate{rpc("", c.RPC, "eth_getTransactionByHash", hash), result{"transaction", hash, c.Label(), on + "/tx/" + hash}},
			candidate{get("", "/v1/chains/%s/blocks/%s", c.ID, hash), result{"block", hash, c.Label(), on + "/block/" + hash}})
	}
	all = append(all, candidate{get("", "/v1/icm/messages/%s", hash), result{"message", hash, "cross-chain", "/messages/" + hash}})
	for _, n := range p.names.World.Networks {
		all = append(all, candidate{get("", "/v1/networks/%s/blockchains/c-chain/transactions/%s", n.Name, hash), result{"atomic transaction", hash, n.Name, "/c/" + n.Name + "/tx/" + hash}})
	}
	found, err := p.which(all)
	return slices.CompactFunc(found, func(a, b result) bool { return a.Path == b.Path }), err
}

func (p searcher) byNumber(n string) ([]result, error) {
	var all []candidate
	for _, c := range p.names.Chains {
		all = append(all, candidate{get("", "/v1/chains/%s/blocks/%s", c.ID, n), result{"block", n, c.Label(), "/sim/explorer/" + c.ID + "/block/" + n}})
	}
	for _, network := range p.names.World.Networks {
		for _, letter := range []string{"p", "x"} {
			all = append(all, candidate{get("", "/v1/networks/%s/blockchains/%s/blocks/%s", network.Name, chainNames[letter], n),
				result{"block", n, strings.ToUpper(letter) + "-Chain " + network.Name, "/" + letter + "/" + network.Name + "/block/" + n}})
		}
	}
	found, err := p.which(all)
	if c := p.names.byChain[n]; c != nil {
		found = append([]result{{"chain", n, c.Label(), "/sim/explorer/" + c.ID}}, found...)
	}
	return found, err
}

// most is the number of names that a search shows.
const most = 60

// byName finds people, tokens, assets, contracts, chains and nodes whose name contains the text.
func (p searcher) byName(query string) []result {
	q := strings.ToLower(query)
	var exact, found []result
	note := func(r result, names ...string) {
		for _, n := range names {
			if n = strings.ToLower(n); n == q {
				exact = append(exact, r)
				return
			}
		}
		for _, n := range names {
			if strings.Contains(strings.ToLower(n), q) {
				found = append(found, r)
				return
			}
		}
	}
	for _, persona := range p.names.World.Personas {
		page := "/address/" + persona.Address
		if network := p.names.World.Networks[0].Name; persona.Address == "" {
			page = "/p/" + network + "/address/" + persona.Addresses[network]
		}
		note(result{"person", persona.Name, persona.Purpose, page}, persona.Name, persona.Purpose)
	}
	for i, c := range p.names.Chains {
		note(result{"chain", c.Label(), c.Network, "/sim/explorer/" + c.ID}, c.Name, c.Label(), c.ID, c.BlockchainID)
		for _, what := range slices.Sorted(maps.Keys(p.names.World.Chains[i].Samples)) {
			if id := p.names.World.Chains[i].Samples[what]; hash32().MatchString(id) {
				note(result{"sample", what, c.Label() + ", " + id, "/search?q=" + id}, what)
			}
		}
		for _, k := range p.names.World.Chains[i].Contracts {
			r := result{"contract", k.Role, c.Label(), "/sim/explorer/" + c.ID + "/address/" + k.Address}
			names := []string{k.Role, k.Artifact}
			if k.Token != nil {
				r = result{k.Token.Standard, k.Token.Name + " (" + k.Token.Symbol + ")", c.Label(), "/sim/explorer/" + c.ID + "/token/" + k.Address}
				names = []string{k.Role, k.Token.Symbol, k.Token.Name}
			}
			note(r, names...)
		}
	}
	for _, n := range p.names.World.Networks {
		for _, node := range n.Nodes {
			note(result{"node", node.Role, n.Name, "/p/" + n.Name + "/node/" + node.NodeID}, node.Role)
		}
		for _, what := range slices.Sorted(maps.Keys(n.Samples)) {
			if chain, _, found := strings.Cut(what, "."); found {
				note(result{"sample", what, n.Name + ", " + n.Samples[what], "/" + strings.ToLower(chain) + "/" + n.Name + "/tx/" + n.Samples[what]}, what)
			}
		}
		for _, a := range n.Assets {
			note(result{"asset", clip(a.Name, 120) + " (" + a.Symbol + ")", "X-Chain " + n.Name, "/x/" + n.Name + "/asset/" + a.AssetID}, a.Symbol, a.Name)
		}
		for _, subnet := range n.Subnets {
			for _, b := range subnet.Blockchains {
				note(result{"subnet", b.Name, n.Name, "/p/" + n.Name + "/subnet/" + subnet.SubnetID}, b.Name)
			}
		}
	}
	all := exact
	if len(exact) == 0 || exact[0].Kind != "person" {
		all = append(exact, found...)
	}
	return all[:min(len(all), most)]
}

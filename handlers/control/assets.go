package control

import (
	"fmt"
	"html"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

const svg = "image/svg+xml"

// assetsAPI serves what the URLs in answers and contracts lead to: logos, explorers, metadata that goes wrong. What goes right is on chain.
type assetsAPI struct{ world *sim.World }

// RegisterAssets adds these resources to a server.
func RegisterAssets(server *rest.Server, world *sim.World) error {
	return server.Register(rest.Sim, (&assetsAPI{world}).operations()...)
}

func (a *assetsAPI) operations() []rest.Operation {
	file := rest.Param{Name: "file", Kind: schema.KindText}
	chain := rest.Param{Name: "chainId", Kind: schema.KindChain, Doc: "An EVM chain id or a blockchain id."}
	kind := rest.Param{Name: "kind", Kind: schema.KindText}
	return []rest.Operation{
		{ID: "getMetadata", Path: "/sim/metadata/{kind}/{file}", Summary: "Metadata of an NFT that goes wrong", Params: []rest.Param{kind, file},
			Produces: "application/json", Handle: a.serveMetadata},
		{ID: "getLogo", Path: "/sim/logo/{file}", Summary: "The logo of a token or chain", Params: []rest.Param{file}, Produces: svg, Handle: a.serveLogo},
		{ID: "getExplorer", Path: "/sim/explorer/{chainId}", Summary: "A page that names a chain", Params: []rest.Param{chain},
			Produces: "text/html; charset=utf-8", Handle: a.serveExplorer},
		{ID: "getExplorerItem", Path: "/sim/explorer/{chainId}/{kind}/{id}", Summary: "Leads from a link of an explorer to the Data API's document",
			Params:   []rest.Param{chain, {Name: "kind", Kind: schema.KindEnum, Enum: []string{"tx", "address", "block", "token"}}, {Name: "id", Kind: schema.KindText}},
			Produces: "application/json", Handle: a.redirectExplorer},
		{ID: "getTokenList", Path: "/sim/tokenlist.json", Summary: "The ERC-20 tokens in the form of tokenlists.org",
			Doc: "Without the malicious ones, and those whose names the form does not allow.", Answer: reflect.TypeFor[TokenList](), Handle: a.tokenList},
	}
}

// redirectExplorer leads to what the Data API says of a transaction, an address, a block or a token.
func (a *assetsAPI) redirectExplorer(r *rest.Request) (any, error) {
	paths := map[string]string{"tx": "transactions/%s", "address": "addresses/%s/transactions", "block": "blocks/%s", "token": "addresses/%s"}
	path := fmt.Sprintf(paths[r.Text("kind")], url.PathEscape(r.Text("id")))
	return rest.Redirect{URL: fmt.Sprintf("%s/v1/chains/%s/%s", r.BaseURL(), r.Chain("chainId"), path)}, nil
}

// serveLogo draws the first letters of the name on the color that ends it.
func (a *assetsAPI) serveLogo(r *rest.Request) (any, error) {
	name, ok := strings.CutSuffix(r.Text("file"), ".svg")
	cutAt := strings.LastIndexByte(name, '-')
	if !ok || cutAt < 0 || len(name)-cutAt != 7 {
		return nil, rest.NotFound("there is no logo %s", r.Text("file"))
	}
	color, err := strconv.ParseUint(name[cutAt+1:], 16, 32)
	if err != nil {
		return nil, rest.NotFound("there is no logo %s", r.Text("file"))
	}
	letters := []rune(name[:cutAt])
	return rest.Raw{Type: svg, Body: fixtures.LogoSVG(string(letters[:min(len(letters), 4)]), color)}, nil
}

// serveExplorer names the chain.
func (a *assetsAPI) serveExplorer(r *rest.Request) (any, error) {
	id := r.Chain("chainId")
	c := a.world.ChainNamed(id.String())
	if c == nil {
		return nil, rest.NotFound("EVM chain %s does not exist: GET /v1/chains lists those that do", id)
	}
	return rest.Raw{Type: "text/html; charset=utf-8", Body: fmt.Appendf(nil,
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>%[1]s</title><h1>%[1]s</h1><p>%[2]s</p>"+
			"<p>EVM chain id %[3]d on %[4]s. Its blocks are at <a href=\"%[5]s\">%[5]s</a>.</p></html>\n",
		html.EscapeString(c.Row.Name), html.EscapeString(c.Row.Description), c.Row.EVMID, c.Row.Network,
		html.EscapeString(fmt.Sprintf("%s/v1/chains/%d/blocks", r.BaseURL(), c.Row.EVMID)))}, nil
}

// tooLarge is what the metadata that is too large weighs, in bytes.
const tooLarge = 12 << 20

// serveMetadata misbehaves as the token's URI says, save that what is not indexed yet is as it should be.
func (a *assetsAPI) serveMetadata(r *rest.Request) (any, error) {
	kind, file := r.Text("kind"), r.Text("file")
	switch kind {
	case "throttled":
		return nil, rest.TooMany("this metadata is always throttled", 60)
	case "too-large":
		return rest.Raw{Type: "application/json", Body: []byte(`{"name":"` + strings.Repeat("large ", tooLarge/6) + `"}`)}, nil
	case "no-metadata":
		return rest.Raw{Type: "application/json", Body: []byte(`["this","is","no","metadata"]`)}, nil
	case "no-json":
		return rest.Raw{Type: "application/json", Body: []byte(`<html>this is no JSON</html>`)}, nil
	case "unindexed":
		return rest.Raw{Type: "application/json", Body: []byte(`{"name":"Nobody has looked at this yet"}`)}, nil
	}
	return nil, rest.NotFound("there is no metadata %s/%s", kind, file)
}

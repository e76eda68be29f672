package data

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"snowglobe/handlers"
	"snowglobe/sim"
)

const svg = "image/svg+xml"

// assetsAPI serves what the URLs in answers and contracts lead to: metadata and images of NFTs, logos, explorers.
type assetsAPI struct{ world *sim.World }

// registerAssets adds these resources to a server.
func registerAssets(server *handlers.Server, world *sim.World) error {
	return server.Register(handlers.Sim, (&assetsAPI{world}).operations()...)
}

func (a *assetsAPI) operations() []handlers.Operation {
	file := handlers.Param{Name: "file", Kind: handlers.KindText}
	chain := handlers.Param{Name: "chainId", Kind: handlers.KindChain, Doc: "An EVM chain id or a blockchain id."}
	kind := handlers.Param{Name: "kind", Kind: handlers.KindText}
	return []handlers.Operation{
		{ID: "getMetadata", Path: "/sim/metadata/{kind}/{file}", Summary: "The metadata of an NFT", Params: []handlers.Param{kind, file},
			Produces: "application/json", Handle: a.serveMetadata},
		{ID: "getImage", Path: "/sim/image/{kind}/{file}", Summary: "The image of an NFT", Params: []handlers.Param{kind, file}, Produces: svg, Handle: a.serveImage},
		{ID: "getLogo", Path: "/sim/logo/{file}", Summary: "The logo of a token or chain", Params: []handlers.Param{file}, Produces: svg, Handle: a.serveLogo},
		{ID: "getExplorer", Path: "/sim/explorer/{chainId}", Summary: "A page that names a chain", Params: []handlers.Param{chain},
			Produces: "text/html; charset=utf-8", Handle: a.serveExplorer},
	}
}

// serveLogo draws the first letters of the name on the color that ends it.
func (a *assetsAPI) serveLogo(r *handlers.Request) (any, error) {
	name, ok := strings.CutSuffix(r.Text("file"), ".svg")
	cutAt := strings.LastIndexByte(name, '-')
	if !ok || cutAt < 0 || len(name)-cutAt != 7 {
		return nil, handlers.NotFound("there is no logo %s", r.Text("file"))
	}
	color, err := strconv.ParseUint(name[cutAt+1:], 16, 32)
	if err != nil {
		return nil, handlers.NotFound("there is no logo %s", r.Text("file"))
	}
	letters := []rune(name[:cutAt])
	return handlers.Raw{Type: svg, Body: logoSVG(string(letters[:min(len(letters), 4)]), color)}, nil
}

// serveImage draws an NFT.
func (a *assetsAPI) serveImage(r *handlers.Request) (any, error) {
	name, ok := strings.CutSuffix(r.Text("file"), ".svg")
	still, moves := strings.CutSuffix(name, "-moving")
	d := nftDocumentOf(r.Text("kind"), still)
	if !ok || d == nil {
		return nil, handlers.NotFound("there is no image %s/%s", r.Text("kind"), r.Text("file"))
	}
	return handlers.Raw{Type: svg, Body: d.svg(moves)}, nil
}

// serveExplorer names the chain.
func (a *assetsAPI) serveExplorer(r *handlers.Request) (any, error) {
	id := r.Chain("chainId")
	c := a.world.Chain(id.String())
	if c == nil {
		return nil, handlers.NotFound("EVM chain %s does not exist: GET /v1/chains lists those that do", id)
	}
	return handlers.Raw{Type: "text/html; charset=utf-8", Body: fmt.Appendf(nil,
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>%[1]s</title><h1>%[1]s</h1><p>%[2]s</p>"+
			"<p>EVM chain id %[3]d on %[4]s. Its blocks are at <a href=\"%[5]s\">%[5]s</a>.</p></html>\n",
		html.EscapeString(c.Row.Name), html.EscapeString(c.Row.Description), c.Row.EVMID, c.Row.Network,
		html.EscapeString(fmt.Sprintf("%s/v1/chains/%d/blocks", r.BaseURL(), c.Row.EVMID)))}, nil
}

// tooLarge is what the metadata that is too large weighs, in bytes.
const tooLarge = 12 << 20

// serveMetadata answers as the token's URI promises, and misbehaves where the world says so.
func (a *assetsAPI) serveMetadata(r *handlers.Request) (any, error) {
	kind, file := r.Text("kind"), r.Text("file")
	switch kind {
	case "throttled":
		return nil, handlers.TooMany("this metadata is always throttled", 60)
	case "too-large":
		return handlers.Raw{Type: "application/json", Body: []byte(`{"name":"` + strings.Repeat("large ", tooLarge/6) + `"}`)}, nil
	case "no-metadata":
		return handlers.Raw{Type: "application/json", Body: []byte(`["this","is","no","metadata"]`)}, nil
	case "no-json":
		return handlers.Raw{Type: "application/json", Body: []byte(`<html>this is no JSON</html>`)}, nil
	case "unindexed":
		kind = "crystals"
	}
	d := nftDocumentOf(kind, file)
	if d == nil {
		return nil, handlers.NotFound("there is no metadata %s/%s", kind, file)
	}
	for _, url := range []*string{&d.Image, &d.AnimationURL, &d.ExternalURL} {
		*url = reachableURL(r.BaseURL(), *url)
	}
	body, err := d.JSON()
	return handlers.Raw{Type: "application/json; charset=utf-8", Body: body}, err
}

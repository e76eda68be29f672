package control

import (
	"reflect"
	"strconv"
	"strings"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

const svg = "image/svg+xml"

// assetsAPI serves the files that URLs in responses and contracts lead to: logos, and metadata that fails on purpose. Valid metadata is on
// chain.
type assetsAPI struct{ world *sim.World }

// RegisterAssets registers these resources with a server.
func RegisterAssets(server *rest.Server, world *sim.World) error {
	return server.Register(rest.Sim, (&assetsAPI{world}).operations()...)
}

func (a *assetsAPI) operations() []rest.Operation {
	file := rest.Param{Name: "file", Kind: schema.KindText}
	kind := rest.Param{Name: "kind", Kind: schema.KindText}
	return []rest.Operation{
		{ID: "getMetadata", Path: "/sim/metadata/{kind}/{file}", Summary: "NFT metadata that fails on purpose", Params: []rest.Param{kind, file},
			Produces: "application/json", Handle: a.serveMetadata},
		{ID: "getLogo", Path: "/sim/logo/{file}", Summary: "The logo of a token or chain", Params: []rest.Param{file}, Produces: svg, Handle: a.serveLogo},
		{ID: "getTokenList", Path: "/sim/tokenlist.json", Summary: "The ERC-20 tokens in the format of tokenlists.org",
			Doc: "Leaves out malicious tokens and names that the format does not allow.", Answer: reflect.TypeFor[TokenList](), Handle: a.tokenList},
		{ID: "getWatchlist", Path: "/sim/watchlist", Summary: "Tokens with their prices, as Core's proxy reports them", Answer: reflect.TypeFor[[]WatchedToken](), Handle: a.watchlist,
			Params: []rest.Param{{Name: "tokens", Kind: schema.KindText, Required: true, Doc: "Symbols, separated by commas."}, {Name: "currency", Kind: schema.KindText, Doc: "Default: usd."}}},
	}
}

// serveLogo draws the name's first letters on the color at its end.
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

// tooLarge is the size in bytes of oversized metadata.
const tooLarge = 12 << 20

// serveMetadata fails in the way that the token's URI names, except that metadata which is merely not indexed yet is valid.
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

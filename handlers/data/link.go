package data

import (
	"fmt"
	"hash/fnv"
	"html"
	"strconv"
	"strings"
	"unicode"

	"snowglobe/handlers"
)

const svg = "image/svg+xml"

func (a *api) linkOperations() []handlers.Operation {
	file := handlers.Param{Name: "file", Kind: handlers.KindText}
	kind := handlers.Param{Name: "kind", Kind: handlers.KindText}
	return []handlers.Operation{
		{ID: "getMetadata", Path: "/sim/metadata/{kind}/{file}", Summary: "The metadata of an NFT", Params: with(kind, file),
			Produces: "application/json", Handle: a.serveMetadata},
		{ID: "getImage", Path: "/sim/image/{kind}/{file}", Summary: "The image of an NFT", Params: with(kind, file), Produces: svg, Handle: a.serveImage},
		{ID: "getLogo", Path: "/sim/logo/{file}", Summary: "The logo of a token or chain", Params: with(file), Produces: svg, Handle: a.serveLogo},
		{ID: "getExplorer", Path: "/sim/explorer/{chainId}", Summary: "A page that names a chain", Params: with(chainParam),
			Produces: "text/html; charset=utf-8", Handle: a.serveExplorer},
	}
}

// logoURL is where the logo of a name is.
func logoURL(r *handlers.Request, name string) string {
	return r.BaseURL() + "/sim/logo/" + plain(name) + ".svg"
}

// plain keeps what a URL can hold as it is.
func plain(name string) string {
	letters := func(c rune) rune {
		if c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '-'
	}
	return strings.Trim(strings.Map(letters, name), "-") + tint(name)
}

// tint keeps apart the names that plain makes the same.
func tint(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("-%06x", h.Sum32()&0xffffff)
}

// serveLogo draws the first letters of the name on the color that ends it.
func (a *api) serveLogo(r *handlers.Request) (any, error) {
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
	letters = letters[:min(len(letters), 4)]
	return handlers.Raw{Type: svg, Body: fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">`+
		`<circle cx="32" cy="32" r="32" fill="#%06x"/><text x="32" y="38" font-family="sans-serif" font-size="18" font-weight="bold" `+
		`fill="#fff" stroke="#000" stroke-width=".3" text-anchor="middle">%s</text></svg>`, color, html.EscapeString(string(letters)))}, nil
}

// serveImage draws a crystal with as many arms and as much light as its number says.
func (a *api) serveImage(r *handlers.Request) (any, error) {
	name, ok := strings.CutSuffix(r.Text("file"), ".svg")
	still, moves := strings.CutSuffix(name, "-moving")
	d := documentOf(r.Text("kind"), still)
	if !ok || d == nil {
		return nil, handlers.NotFound("there is no image %s/%s", r.Text("kind"), r.Text("file"))
	}
	motion := ""
	if moves {
		motion = `<animateTransform attributeName="transform" type="rotate" from="0 100 100" to="360 100 100" dur="30s" repeatCount="indefinite"/>`
	}
	return handlers.Raw{Type: svg, Body: fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">`+
		`<title>%s</title><rect width="200" height="200" fill="#%s"/><g stroke="#fff" stroke-width="6" stroke-linecap="round">%s%s</g></svg>`,
		html.EscapeString(d.Name), d.BackgroundColor, arms(len(d.Attributes[0].Value)), motion)}, nil
}

// arms are six arms with twigs; n says where the twigs sit.
func arms(n int) string {
	var b strings.Builder
	for turn := 0; turn < 360; turn += 60 {
		twig := 100 - 10*(2+n%5)
		fmt.Fprintf(&b, `<path transform="rotate(%d 100 100)" d="M100 100V25M100 %dl-16 -16M100 %dl16 -16"/>`, turn, twig, twig)
	}
	return b.String()
}

// serveExplorer names the chain.
func (a *api) serveExplorer(r *handlers.Request) (any, error) {
	c, err := a.chain(r)
	if err != nil {
		return nil, err
	}
	return handlers.Raw{Type: "text/html; charset=utf-8", Body: fmt.Appendf(nil,
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>%[1]s</title><h1>%[1]s</h1><p>%[2]s</p>"+
			"<p>EVM chain id %[3]d on %[4]s. Its blocks are at <a href=\"%[5]s\">%[5]s</a>.</p></html>\n",
		html.EscapeString(c.Row.Name), html.EscapeString(c.Row.Description), c.Row.EVMID, c.Row.Network,
		html.EscapeString(fmt.Sprintf("%s/v1/chains/%d/blocks", r.BaseURL(), c.Row.EVMID)))}, nil
}

package data

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"
	"unicode"
)

// logoName is what the logo of a name is called: what a URL can hold as it is, then its color.
func logoName(name string) string {
	letters := func(c rune) rune {
		if c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '-'
	}
	return strings.Trim(strings.Map(letters, name), "-") + colorOf(name)
}

// colorOf keeps apart the names that are the same without what a URL cannot hold.
func colorOf(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("-%06x", h.Sum32()&0xffffff)
}

// logoSVG draws letters on a color.
func logoSVG(letters string, color uint64) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">`+
		`<circle cx="32" cy="32" r="32" fill="#%06x"/><text x="32" y="38" font-family="sans-serif" font-size="18" font-weight="bold" `+
		`fill="#fff" stroke="#000" stroke-width=".3" text-anchor="middle">%s</text></svg>`, color, html.EscapeString(letters))
}

// svg draws a crystal with as many arms and as much light as its number says.
func (d *nftDocument) svg(moves bool) []byte {
	motion := ""
	if moves {
		motion = `<animateTransform attributeName="transform" type="rotate" from="0 100 100" to="360 100 100" dur="30s" repeatCount="indefinite"/>`
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">`+
		`<title>%s</title><rect width="200" height="200" fill="#%s"/><g stroke="#fff" stroke-width="6" stroke-linecap="round">%s%s</g></svg>`,
		html.EscapeString(d.Name), d.BackgroundColor, arms(len(d.Attributes[0].Value)), motion)
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

package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/price"
)

func esc(s string) string { return html.EscapeString(s) }

func integer(v any) int64 {
	n, err := strconv.ParseInt(text(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// number reads a whole number in decimal or, after 0x, in hexadecimal.
func number(v any) *big.Int {
	n, ok := new(big.Int).SetString(text(v), 0)
	if !ok {
		return new(big.Int)
	}
	return n
}

// count formats a whole number with separated thousands.
func count(v any) string {
	s := text(v)
	if strings.HasPrefix(s, "0x") {
		s = number(s).String()
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	if strings.Trim(s, "0123456789") != "" {
		return sign + s
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// decimal converts a whole number of smallest units to units of 10^decimals, with all digits.
func decimal(v any, decimals int) string {
	n, places := number(v), max(decimals, 0)
	if n.Sign() < 0 {
		return "-" + price.Decimal(n.Neg(n), places)
	}
	return price.Decimal(n, places)
}

// rounded shortens a decimal number for people: to six decimal places, or to four significant digits below one.
func rounded(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	zeros := len(fraction) - len(strings.TrimLeft(fraction, "0"))
	places := 6
	switch {
	case strings.Trim(whole, "-0") == "":
		places = zeros + 4
	case len(whole) > 6:
		places = 2
	}
	if len(fraction) > places {
		fraction = fraction[:places]
	}
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return count(whole)
	}
	return count(whole) + "." + fraction
}

// amount shows a quantity with its unit, and the exact one in the title.
func amount(v, decimals, symbol any) template.HTML {
	places := int(integer(decimals))
	if places < 0 || places > 255 {
		places = 0
	}
	exact := decimal(v, places)
	return template.HTML(fmt.Sprintf(`<span class="amount" title="%s %s"><b>%s</b> %s</span>`,
		esc(exact), esc(clip(text(symbol), 80)), esc(rounded(exact)), name(text(symbol))))
}

// fee shows a fee in an EVM chain's token, or in wei or billionths of the token if it would have too many zeros.
func fee(v, symbol any) template.HTML {
	switch digits := len(strings.TrimLeft(decimal(v, 0), "-0")); {
	case digits <= 9:
		return amount(v, 0, "wei")
	case digits <= 13:
		return amount(v, 9, "n"+text(symbol))
	}
	return amount(v, 18, symbol)
}

// avax shows nAVAX as AVAX.
func avax(v any) template.HTML { return amount(v, 9, "AVAX") }

// gwei shows wei as gwei.
func gwei(v any) template.HTML { return amount(v, 9, "gwei") }

// money shows an amount of a currency.
func money(v any) template.HTML {
	value := text(dig(v, "value"))
	if value == "" {
		return ""
	}
	whole, fraction, _ := strings.Cut(value, ".")
	shown := count(whole) + "." + (fraction + "00")[:2]
	if strings.Trim(shown, "0.") == "" && strings.Trim(value, "0.") != "" {
		shown = rounded(value)
	}
	return template.HTML(`<span class="money" title="` + esc(value) + `">$` + esc(shown) + `</span>`)
}

func percent(v any) string {
	f, err := strconv.ParseFloat(text(v), 64)
	if err != nil {
		return text(v)
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + " %"
}

// parts shows parts of a million in percent.
func parts(v any) string { return percent(float64(integer(v)) / 10_000) }

func hexNumber(v any) string { return count(number(v).String()) }

func byteSize(v any) string {
	n := integer(v)
	if n < 10_000 {
		return count(n) + " bytes"
	}
	return count((n+512)/1024) + " kB"
}

// short shortens a long id by its middle.
func short(s string) string {
	const head, tail = 10, 8
	if len(s) <= head+tail+2 || !utf8.ValidString(s) {
		return clip(s, 64)
	}
	if strings.HasPrefix(s, "NodeID-") {
		return s[:12] + "…" + s[len(s)-5:]
	}
	return s[:head-2] + "…" + s[len(s)-tail+2:]
}

// clip truncates a text of any length.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// name shows a user's text: on one line, truncated, and isolated in its writing direction.
func name(v any) template.HTML {
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, clip(text(v), 64))
	if s == "" {
		return ""
	}
	return template.HTML("<bdi>" + esc(s) + "</bdi>")
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// ID shows an id with a button that copies it.
func (p *page) ID(v any) template.HTML { return p.link("", text(v), "", "") }

// Link shows an id that links to a page.
func (p *page) Link(href string, v any) template.HTML { return p.link(href, text(v), "", "") }

// Whole shows an id in full.
func (p *page) Whole(v any) template.HTML { return p.link("", text(v), text(v), "") }

func (p *page) link(href, id, label, class string) template.HTML {
	if id == "" {
		return "–"
	}
	shown := label
	if shown == "" {
		shown, class = short(id), class+" mono"
	} else if shown == id {
		class += " mono whole"
	}
	inner := `<bdi>` + esc(clip(shown, 128)) + `</bdi>`
	title := esc(clip(id, 128))
	if href == "" {
		inner = fmt.Sprintf(`<span class="%s" title="%s">%s</span>`, class, title, inner)
	} else {
		inner = fmt.Sprintf(`<a class="%s" href="%s" title="%s">%s</a>`, class, esc(href), title, inner)
	}
	return template.HTML(`<span class="id">` + inner + copyButton(id) + `</span>`)
}

func copyButton(text string) string {
	return `<button type="button" class="copy" data-copy="` + esc(clip(text, 256)) + `" aria-label="Copy ` + esc(short(text)) + `"></button>`
}

// Tx links to a transaction on the page's chain.
func (p *page) Tx(hash any) template.HTML { return p.Link(p.On("tx", hash), hash) }

// Block links to a block of the page's chain by number.
func (p *page) Block(n any) template.HTML {
	return template.HTML(`<a class="num" href="` + esc(p.On("block", n)) + `">` + esc(count(n)) + `</a>`)
}

// Addr links to an address on the page's chain, by its name if it has one. It takes an address or an object with one.
func (p *page) Addr(v any) template.HTML {
	address, given := text(v), ""
	if object, ok := v.(J); ok {
		address, given = text(object["address"]), text(object["name"])
		if s := text(object["symbol"]); s != "" {
			given = s
		}
	}
	if address == "" {
		return `<span class="muted">none</span>`
	}
	label, class := p.names.label(p.Chain, address)
	if label == "" {
		label = clip(given, 48)
	}
	return p.link(p.On("address", address), address, label, class)
}

// When shows a time relative to the world's clock.
func (p *page) When(v any) template.HTML {
	unix := integer(v)
	if unix == 0 {
		return "–"
	}
	if unix > 1e11 {
		unix /= 1000
	}
	t := time.Unix(unix, 0).UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05 UTC"), relative(unix-p.now)))
}

// Date shows a time in full.
func (p *page) Date(v any) string {
	return time.Unix(integer(v), 0).UTC().Format("Mon 2 Jan 2006, 15:04:05 UTC")
}

// period shows a number of seconds by its largest unit, and in full in the title.
func period(seconds any) template.HTML {
	return template.HTML(fmt.Sprintf(`<span title="%s seconds">%s</span>`, esc(count(seconds)), strings.TrimPrefix(relative(integer(seconds)), "in ")))
}

// relative formats a span of time in its largest units.
func relative(seconds int64) string {
	before, after := "", " ago"
	switch {
	case seconds == 0:
		return "now"
	case seconds > 0:
		before, after = "in ", ""
	default:
		seconds = -seconds
	}
	for _, unit := range []struct {
		length int64
		name   string
	}{{365 * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}} {
		if n := seconds / unit.length; n > 0 {
			return before + strconv.FormatInt(n, 10) + " " + unit.name + after
		}
	}
	return "now"
}

// safeImage returns the source of a picture that a page may show: image data, or a file of this server.
func (p *page) Image(v any) template.URL {
	s := text(v)
	if local, ok := strings.CutPrefix(s, p.origin+"/"); ok {
		return template.URL(p.base + "/" + local)
	}
	return safeImage(s)
}

const longestImage = 64 << 10

func safeImage(s string) template.URL {
	if len(s) > longestImage || !strings.HasPrefix(s, "data:image/") {
		return ""
	}
	return template.URL(s)
}

// dict makes an object from names and values.
func dict(pairs ...any) J {
	d := J{}
	for i := 0; i+1 < len(pairs); i += 2 {
		d[text(pairs[i])] = pairs[i+1]
	}
	return d
}

// indented formats a value as JSON for people.
func indented(v any) string {
	b, _ := json.MarshalIndent(v, "", "  ") // decoded JSON always encodes
	return string(b)
}

// methodShort returns a function's name without its parameter types.
func methodShort(v any) string {
	name, _, _ := strings.Cut(text(v), "(")
	return clip(name, 32)
}

// hexText decodes bytes in hexadecimal if they are text, and otherwise returns them unchanged.
func hexText(v string) string {
	raw, err := hexutil.Decode(v)
	if err != nil || len(raw) == 0 {
		return ""
	}
	if utf8.Valid(raw) {
		return string(raw)
	}
	return v
}

// compact formats a value as JSON on one line.
func compact(v any) string {
	b, _ := json.Marshal(v) // as above
	return string(b)
}

// last returns the last item of a list, nil if it is empty.
func last(v any) any {
	if l := list(v); len(l) > 0 {
		return l[len(l)-1]
	}
	return nil
}

// Day returns a day by the world's clock, a number of days from now.
func (p *page) Day(from int64) string {
	return time.Unix(p.now+from*86400, 0).UTC().Format(time.DateOnly)
}

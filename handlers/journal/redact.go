package journal

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// hidden stands in the place of a secret.
const hidden = "[redacted]"

var (
	// secretMember are names of JSON members whose values are secrets.
	secretMember = regexp.MustCompile(`(?i)private[-_]?key|signing[-_]?key|api[-_]?key|secret|passw|passphrase|mnemonic|seed[-_]?phrase|rltoken|authorization|access[-_]?token|credential|cookie`)

	// secretName are names of headers and parameters. A page token is none.
	secretName = regexp.MustCompile(secretMember.String() + `|^(x-)?auth|^(.*[-_])?(token|key)$`)

	// privateKey is a key as avalanchego writes it, wherever it stands.
	privateKey = regexp.MustCompile(`PrivateKey-[1-9A-HJ-NP-Za-km-z]+`)

	// userInfo is what stands before the host in a URL with a name and a password.
	userInfo = regexp.MustCompile(`(://)[^/@\s"'?#]+@`)

	address = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

// shortSecret is the length below which a value that was sent as a secret is hidden where it was sent, and not wherever it occurs:
// it would occur by chance.
const shortSecret = 6

// redactor hides the secrets of one exchange.
type redactor struct{ secrets []string }

// redactorOf knows the secrets that the request carries in its headers and its query, and those of the server.
func (j *Journal) redactorOf(e *Exchange) redactor {
	r := redactor{j.secrets}
	add := func(values []string) {
		for _, v := range values {
			if _, token, found := strings.Cut(v, " "); found { // Bearer and the token
				v = token
			}
			if len(v) >= shortSecret && !slices.Contains(r.secrets, v) {
				r.secrets = append(slices.Clip(r.secrets), v)
			}
		}
	}
	for name, values := range e.RequestHeader {
		if isSecretHeader(name) {
			add(values)
		}
	}
	if strings.Contains(e.Target, "?") && e.URL != nil {
		for name, values := range e.URL.Query() {
			if isSecretName(name) {
				add(values)
			}
		}
	}
	return r
}

// isSecretHeader knows the header that every WebSocket begins with for what it is: not a secret.
func isSecretHeader(name string) bool {
	return isSecretName(name) && name != "Sec-Websocket-Key"
}

// known says of some names that came whether they are secretName's: most requests have the same few.
var known struct {
	names sync.Map
	count atomic.Int64
}

const (
	mostKnown    = 1000
	longestKnown = 64 // bytes
)

func isSecretName(name string) bool {
	if secret, found := known.names.Load(name); found {
		return secret.(bool)
	}
	secret := secretName.MatchString(name)
	if len(name) <= longestKnown && known.count.Add(1) <= mostKnown {
		known.names.Store(strings.Clone(name), secret)
	}
	return secret
}

// text hides what is a secret wherever it stands.
func (r redactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, hidden)
	}
	if strings.Contains(s, "PrivateKey-") {
		s = privateKey.ReplaceAllString(s, hidden)
	}
	if strings.Contains(s, "@") {
		s = userInfo.ReplaceAllString(s, "${1}"+hidden+"@")
	}
	return s
}

// headers hides the values of those that carry secrets.
func (r redactor) headers(h http.Header) map[string][]string {
	shown := map[string][]string{}
	for name, values := range h {
		for _, v := range values {
			if isSecretHeader(name) {
				v = hidden
			}
			shown[name] = append(shown[name], r.text(v))
		}
	}
	return shown
}

// query is a query string without the values of parameters that are secrets.
func (r redactor) query(raw string) string {
	var parts []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, given := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); given && (err != nil || isSecretName(plain)) {
			part = name + "=" + hidden
		}
		parts = append(parts, part)
	}
	return r.text(strings.Join(parts, "&"))
}

// request is the text of a request's body without the values of members that are secrets, and without the secrets among the
// parameters of JSON-RPC. It may end anywhere. Where secrets may be in what was not read, all of it is hidden.
func (r redactor) request(e *Exchange) string {
	b := e.Request.Kept
	read := len(e.Calls) > 0
	for i := range e.Calls {
		c := &e.Calls[i]
		read = read && c.Method != "" && (c.Params != nil || e.Request.Whole())
		if takesSecrets(c.Method) && c.Params != nil {
			b = bytes.ReplaceAll(b, c.Params, positional(c.Params))
		}
	}
	if !read && (bytes.Contains(b, []byte("personal_")) || bytes.Contains(b, []byte("evm_addAccount"))) {
		return hidden
	}
	return r.body(b)
}

// takesSecrets says whether a method takes keys and passwords as positional parameters.
func takesSecrets(method string) bool {
	return strings.HasPrefix(method, "personal_") || method == "evm_addAccount"
}

// body is the text of a body without the values of members that are secrets. It may end anywhere.
func (r redactor) body(b []byte) string { return r.text(string(members(b))) }

// members hides the values of JSON members with secret names. Who reads what is no JSON, or ends in its middle, gets it with as much
// hidden as looks like that.
func members(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); {
		if b[i] != '"' {
			out = append(out, b[i])
			i++
			continue
		}
		end := textEnd(b, i)
		out = append(out, b[i:end]...)
		name := b[i:end]
		i = end
		colon := skipSpace(b, i)
		if colon >= len(b) || b[colon] != ':' || !isSecret(name) {
			continue
		}
		value := skipSpace(b, colon+1)
		out = append(append(append(out, b[i:value]...), '"'), hidden+`"`...)
		i = valueEnd(b, value)
	}
	return out
}

func isSecret(quoted []byte) bool {
	var name string
	if json.Unmarshal(quoted, &name) != nil {
		name = string(quoted)
	}
	return secretMember.MatchString(name)
}

// textEnd is where the text ends that begins with a quote.
func textEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd is where a value ends: a text, an object or an array with all that is in it, or whatever goes up to the next comma.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = textEnd(b, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// positional hides the texts among positional parameters: all that are no addresses.
func positional(params []byte) []byte {
	var list []any
	if json.Unmarshal(params, &list) != nil {
		return params // they have names
	}
	for i, p := range list {
		if s, ok := p.(string); ok && !address.MatchString(s) {
			list[i] = hidden
		}
	}
	shown, _ := json.Marshal(list) // it was decoded from JSON a moment ago
	return shown
}

// params are those of a call without secrets.
func (r redactor) params(c *CallRecord) string {
	params := c.Params
	if takesSecrets(c.Method) {
		params = positional(params)
	}
	return r.body(params)
}

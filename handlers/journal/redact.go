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

// hidden replaces a secret.
const hidden = "[redacted]"

var (
	// secretMember matches JSON members whose values are secrets.
	secretMember = regexp.MustCompile(`(?i)private[-_]?key|signing[-_]?key|api[-_]?key|secret|passw|passphrase|mnemonic|seed[-_]?phrase|rltoken|authorization|access[-_]?token|credential|cookie|app-?check`)

	// secretName matches headers and parameters whose values are secrets. A page token is not one.
	secretName = regexp.MustCompile(secretMember.String() + `|^(x-)?auth|^(.*[-_])?(token|key)$`)

	// privateKey matches a private key in avalanchego's form, anywhere in a text.
	privateKey = regexp.MustCompile(`PrivateKey-[1-9A-HJ-NP-Za-km-z]+`)

	// userInfo matches a user name and password in a URL.
	userInfo = regexp.MustCompile(`(://)[^/@\s"'?#]+@`)

	address = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

// shortSecret is the length below which a secret is hidden only where it was sent: elsewhere it would occur by chance.
const shortSecret = 6

// redactor hides the secrets of one exchange.
type redactor struct {
	secrets []string
	decode  func(method string, params []byte) string // as of Journal
}

// redactorOf knows the secrets in the request's headers and query, and the server's own.
func (j *Journal) redactorOf(e *Exchange) redactor {
	r := redactor{j.secrets, j.Decode}
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

// isSecretHeader matches secret headers, except the one that opens every WebSocket.
func isSecretHeader(name string) bool {
	return isSecretName(name) && name != "Sec-Websocket-Key"
}

// known caches which names secretName matches: most requests have the same few.
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

// text hides secrets anywhere in a text.
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

// headers hides the values of secret headers.
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

// query hides the values of secret parameters in a query string.
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

// request hides secrets in a request's body: the values of secret members and the secrets among JSON-RPC parameters. The body may be cut
// off anywhere. If an unread part may contain secrets, request hides everything.
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

// takesSecrets reports whether a method takes keys and passwords as positional parameters.
func takesSecrets(method string) bool {
	return strings.HasPrefix(method, "personal_") || method == "evm_addAccount"
}

// body hides the values of secret members in a body, which may be cut off anywhere.
func (r redactor) body(b []byte) string { return r.text(string(members(b))) }

// members hides the values of JSON members with secret names. In a text that is not JSON, or that is cut off, it hides everything that
// looks like one.
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

// textEnd returns the end of a text that begins with a quote.
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

// valueEnd returns the end of a value: a text, an object or array with its contents, or everything up to the next comma.
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

// positional hides the texts among positional parameters, except addresses.
func positional(params []byte) []byte {
	var list []any
	if json.Unmarshal(params, &list) != nil {
		return params // named parameters
	}
	for i, p := range list {
		if s, ok := p.(string); ok && !address.MatchString(s) {
			list[i] = hidden
		}
	}
	shown, _ := json.Marshal(list) // it was just decoded from JSON
	return shown
}

// params returns a call's parameters without secrets.
func (r redactor) params(c *CallRecord) string {
	params := c.Params
	if takesSecrets(c.Method) {
		params = positional(params)
	}
	return r.body(params)
}

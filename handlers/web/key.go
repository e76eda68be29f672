package web

import (
	"net/http"
	"net/url"
	"strings"

	"snowglobe/handlers/rest"
)

// keyOf is the visitor's API key: what programs send, or what keepKey kept.
func keyOf(r *http.Request) string {
	if key := rest.KeyOf(r); key != "" {
		return key
	}
	if cookie, err := r.Cookie(rest.KeyParameter); err == nil {
		key, _ := url.QueryUnescape(cookie.Value) // what keepKey did not write is no key
		return key
	}
	return ""
}

// keepKey has the browser send a key that came in the query with every request for a page, and leads it to the same page without the
// key in its address. Only pages read the cookie.
func keepKey(w http.ResponseWriter, r *http.Request, key string) {
	base := rest.BasePath(r)
	http.SetCookie(w, &http.Cookie{Name: rest.KeyParameter, Value: url.QueryEscape(key), Path: base + "/", HttpOnly: true,
		Secure: strings.HasPrefix(rest.BaseURL(r), "https:"), SameSite: http.SameSiteLaxMode})
	query := r.URL.Query()
	query.Del(rest.KeyParameter)
	target := url.URL{Path: base + "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()}
	http.Redirect(w, r, target.String(), http.StatusFound)
}

package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"snowglobe/fixtures/web"
	"snowglobe/handlers/rest/schema"
)

//go:embed assets
var ownFiles embed.FS

// asset is a file that pages load, gzipped, and compressed with brotli if the library came that way.
type asset struct {
	kind, version string
	packed        []byte
	brotli        []byte
}

var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".LICENSE": "text/plain; charset=utf-8", ".NOTICE": "text/plain; charset=utf-8"}

// assets holds the pages' own files and the libraries'.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	own, _ := ownFiles.ReadDir("assets") // the embedded folder exists
	for _, f := range own {
		content, _ := ownFiles.ReadFile("assets/" + f.Name())
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, 7) // the best level takes four times as long to save a hundredth
		_, _ = z.Write(content)
		_ = z.Close()
		all[f.Name()] = newAsset(f.Name(), b.Bytes(), nil)
	}
	libraries, _ := web.Files.ReadDir(".")
	for _, f := range libraries {
		if name, gzipped := strings.CutSuffix(f.Name(), ".gz"); gzipped {
			packed, _ := web.Files.ReadFile(f.Name())
			brotli, _ := web.Files.ReadFile(name + ".br") // texts have none
			all[name] = newAsset(name, packed, brotli)
		}
	}
	return all
})

func newAsset(name string, packed, brotli []byte) asset {
	sum := sha256.Sum256(packed)
	return asset{kinds[path.Ext(name)], hex.EncodeToString(sum[:6]), packed, brotli}
}

// assetPath contains a hash of the content, so that browsers may cache it for ever.
func assetPath(name string) string { return "/assets/" + assets()[name].version + "/" + name }

// takesBrotli matches Accept-Encoding headers with brotli.
var takesBrotli = schema.Shape(`(^|,)\s*br\s*(,|$)`)

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, found := assets()[r.PathValue("file")]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("Cache-Control", "no-cache")
	if r.PathValue("version") == a.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, accepted := a.packed, r.Header.Get("Accept-Encoding")
	if a.brotli != nil && takesBrotli().MatchString(accepted) {
		body = a.brotli
		h.Set("Content-Encoding", "br")
	} else if strings.Contains(accepted, "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else if z, err := gzip.NewReader(bytes.NewReader(a.packed)); err == nil {
		body, _ = io.ReadAll(z)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the browser may be gone
}

package export_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/export"
)

// serve answers a request with headers.
func (o *office) serve(method, path, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	o.Server.ServeHTTP(w, r)
	return w
}

// large returns an export of more than a megabyte.
func (o *office) large(t *testing.T) (path, text string) {
	t.Helper()
	done := o.finish(t, exportOf(export.Primary, asks{"addresses": o.everyOwner(t), "includeChains": primaryChains}))
	link := datatest.Dig(done, "metadata", "downloadUrl").(string)
	if text = o.file(t, done); len(text) < 1<<20+10_000 {
		t.Fatalf("%d bytes are a small file", len(text))
	}
	return link[strings.Index(link, "/sim/"):], text
}

func TestFileIsServedAsFilesAre(t *testing.T) {
	o := openOffice(t, export.Options{})
	path, text := o.large(t)
	whole := o.serve(http.MethodGet, path, "", nil)
	tag := whole.Header().Get("Etag")
	for name, want := range map[string]string{
		"Content-Length": fmt.Sprint(len(text)), "Accept-Ranges": "bytes", "Vary": "Accept-Encoding", "Access-Control-Allow-Origin": "*",
		"Content-Disposition": `attachment; filename="transactions-` + strings.Split(path, "/")[3] + `.csv"`,
	} {
		if got := whole.Header().Get(name); got != want {
			t.Errorf("%s is %q: want %q", name, got, want)
		}
	}
	head := o.serve(http.MethodHead, path, "", nil)
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != fmt.Sprint(len(text)) || head.Header().Get("Etag") != tag {
		t.Errorf("HEAD: %d, %d bytes, %v", head.Code, head.Body.Len(), head.Header())
	}
	zipped := o.serve(http.MethodGet, path, "", http.Header{"Accept-Encoding": {"gzip"}})
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	reader.Multistream(false) // browsers accept one member only
	unzipped, err := io.ReadAll(reader)
	if err != nil || string(unzipped) != text || zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes with gzip: %v, %v", len(unzipped), err, zipped.Header())
	}
	packed := zipped.Header().Get("Etag")
	if packed == tag || packed == "" {
		t.Errorf("the tag of two encodings is %s", packed)
	}
	for _, known := range []string{tag, packed, "W/" + tag, `"other", ` + tag, "*"} {
		if w := o.serve(http.MethodGet, path, "", http.Header{"If-None-Match": {known}}); w.Code != 304 || w.Body.Len() != 0 {
			t.Errorf("If-None-Match %s: %d", known, w.Code)
		}
	}
	if w := o.serve(http.MethodGet, path, "", http.Header{"If-Match": {`"other"`}}); w.Code != 412 || !strings.Contains(w.Body.String(), `"statusCode":412`) {
		t.Errorf("If-Match: %d %s", w.Code, w.Body)
	}
}

// TestRangesAreThoseOfTheFile requests many ranges, forwards and backwards.
func TestRangesAreThoseOfTheFile(t *testing.T) {
	o := openOffice(t, export.Options{})
	path, text := o.large(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range datatest.Times(t, 50) {
		from := r.IntN(len(text))
		to := min(from+r.IntN(8000), len(text)-1)
		w := o.serve(http.MethodGet, path, "", http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to)}, "Accept-Encoding": {"gzip"}})
		if w.Code != 206 || w.Body.String() != text[from:to+1] || w.Header().Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", from, to, len(text)) {
			t.Fatalf("%d-%d: %d, %d bytes, %v", from, to, w.Code, w.Body.Len(), w.Header())
		}
	}
	tag := o.serve(http.MethodHead, path, "", nil).Header().Get("Etag")
	for _, c := range []struct {
		header http.Header
		status int
		body   string
	}{
		{http.Header{"Range": {"bytes=-9"}}, 206, text[len(text)-9:]},
		{http.Header{"Range": {fmt.Sprintf("bytes=%d-", len(text)-3)}}, 206, text[len(text)-3:]},
		{http.Header{"Range": {"bytes=0-4"}, "If-Range": {tag}}, 206, text[:5]},
		{http.Header{"Range": {"bytes=0-4"}, "If-Range": {`"other"`}}, 200, text},
		{http.Header{"Range": {"Bytes=0-4"}}, 206, text[:5]},
		{http.Header{"Range": {"items=0-9"}}, 200, text},
		{http.Header{"Range": {"items=0-9, bytes=0-4"}}, 200, text},
	} {
		if w := o.serve(http.MethodGet, path, "", c.header); w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%v: %d, %d bytes", c.header, w.Code, w.Body.Len())
		}
	}
	beyond := o.serve(http.MethodGet, path, "", http.Header{"Range": {fmt.Sprintf("bytes=%d-", len(text))}})
	if beyond.Code != 416 || !strings.Contains(beyond.Body.String(), `"statusCode":416`) || beyond.Header().Get("Content-Range") != fmt.Sprintf("bytes */%d", len(text)) {
		t.Errorf("%d %s %v", beyond.Code, beyond.Body, beyond.Header())
	}
	preflight := http.Header{"Origin": {"http://localhost:3000"}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"range"}}
	if w := o.serve(http.MethodOptions, path, "", preflight); w.Code != 204 || w.Header().Get("Access-Control-Allow-Headers") != "range" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
}

package evm_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/export"
)

// fetched is the document with which every request is answered.
type fetched string

func (a fetched) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// TestReindexReadsAgain reindexes tokens that were never read, and tokens whose metadata was unreachable.
func TestReindexReadsAgain(t *testing.T) {
	w := seedtest.Copy(t, 1)
	defer w.Close()
	o := data.Options{Metadata: &http.Client{Transport: fetched(`{"name":"There it is","attributes":[{"trait_type":"depth","value":3}]}`)}}
	g := datatest.ServeWith(t, w, export.NewJobs(w, export.Options{}), o)
	c := w.Chains[0]
	reindex := func(token string, status int) *httptest.ResponseRecorder {
		t.Helper()
		answer := httptest.NewRecorder()
		g.Server.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, datatest.Path(c, "nfts/collections", g.Contract(t, c, "collection"), "tokens", token)+":reindex", nil))
		if answer.Code != status {
			t.Fatalf("reindexing %s is %d %s: want %d", token, answer.Code, answer.Body, status)
		}
		return answer
	}
	metadata := func(token string) datatest.Object {
		return datatest.Dig(g.Get(t, datatest.Path(c, "nfts/collections", g.Contract(t, c, "collection"), "tokens", token)), "metadata").(datatest.Object)
	}
	for _, named := range [][2]string{{"14", "Nobody has looked at this yet"}, {"9", "There it is"}} {
		token, want := named[0], named[1]
		if before := metadata(token); before["name"] != nil {
			t.Errorf("token %s has metadata %v", token, before)
		}
		if answer := reindex(token, 201); answer.Body.Len() > 0 {
			t.Errorf("the answer is %s", answer.Body)
		}
		if after := metadata(token); after["indexStatus"] != "indexed" || after["name"] != want || after["metadataLastUpdatedTimestamp"].(interface{ String() string }).String() != strconv.Itoa(int(w.Clock.Unix())) {
			t.Errorf("token %s has metadata %v", token, after)
		}
	}
	if attributes := metadata("9")["attributes"]; attributes != `[{"trait_type":"depth","value":3}]` {
		t.Errorf("attributes are %v", attributes)
	}
	if again := reindex("14", 429); again.Header().Get("Retry-After") == "" {
		t.Errorf("nothing says when")
	}
	if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	reindex("14", 201)
	before := datatest.Encode(metadata("1"))
	reindex("1", 201)
	if after := metadata("1"); after["indexStatus"] != "indexed" || !strings.Contains(before, after["name"].(string)) {
		t.Errorf("token 1 had metadata %s and has %v", before, after)
	}
	reindex("12345", 404)
}

// answers is how the servers of documents respond, one after the other.
type answers []func() (*http.Response, error)

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	return next()
}

func responds(status, size int, text string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text + strings.Repeat(" ", max(size-len(text), 0))))}, nil
	}
}

// TestReindexSaysWhyThereIsNoDocument reads again from servers that fail, in each way; the item keeps its URI.
func TestReindexSaysWhyThereIsNoDocument(t *testing.T) {
	w := seedtest.Copy(t, 1)
	const good, largest = `{"name":"There it is"}`, 10 << 20
	cases := []struct {
		answer func() (*http.Response, error)
		status string
	}{
		{responds(429, 0, good), "throttled_token_uri"}, {responds(500, 0, good), "unreachable_token_uri"}, {responds(200, largest+1, good), "metadata_content_too_large"},
		{responds(200, largest, good), "indexed"}, {responds(200, 0, "nothing"), "invalid_metadata_json"},
		{func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, "unreachable_token_uri"},
	}
	var transport answers
	for _, c := range cases {
		transport = append(transport, c.answer)
	}
	g := datatest.ServeWith(t, w, export.NewJobs(w, export.Options{}), data.Options{Metadata: &http.Client{Transport: &transport}})
	for i, c := range cases {
		chain := w.Chains[i/2]
		path := datatest.Path(chain, "nfts/collections", g.Contract(t, chain, []string{"collection", "items"}[i%2]), "tokens/9")
		before, began := g.Get(t, path), time.Now()
		if w := g.Do(t, httptest.NewRequest(http.MethodPost, path+":reindex", nil)); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		after := g.Get(t, path)
		if status := datatest.Dig(after, "metadata", "indexStatus"); status != c.status || after["tokenUri"] != before["tokenUri"] || after["tokenUri"] == "" {
			t.Errorf("case %d is %v at %v: want %s at %v", i, status, after["tokenUri"], c.status, before["tokenUri"])
		}
		again := g.Do(t, httptest.NewRequest(http.MethodPost, path+":reindex", nil))
		wait, err := strconv.Atoi(again.Header().Get("Retry-After"))
		if err != nil || float64(wait) < 3600-time.Since(began).Seconds() || wait > 3600 {
			t.Errorf("the next is allowed in %d seconds: %v", wait, err)
		}
	}
}

// TestTransactionsAreReadOnce: a transaction is read from the file only once, unless it moved items, whose owners may change.
func TestTransactionsAreReadOnce(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 1))
	c := g.Chains[0]
	for _, name := range []string{"transactions:listErc20", "transactions:listErc721"} {
		who := g.Persona(t, map[string]string{"transactions:listErc20": "alice", "transactions:listErc721": "collector"}[name])
		hash := datatest.Dig(g.Get(t, datatest.Path(c, "addresses", who, name)), "transactions", 0, "txHash").(string)
		path := datatest.Path(c, "transactions", hash)
		first, second := g.Statements(t, path+"?currency=eur"), g.Statements(t, path+"?currency=chf")
		if once := len(second) == 0; once != strings.HasSuffix(name, "20") || len(first) == 0 {
			t.Errorf("%s takes %d statements, then %d", name, len(first), len(second))
		}
	}
}

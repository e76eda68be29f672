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

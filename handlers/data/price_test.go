package data

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

// TestATokenThatCannotBeReadFailsTheRequest: a token that a request meets after its view was opened is looked up again. If that fails, so does the
// request, instead of showing a token without a name.
func TestATokenThatCannotBeReadFailsTheRequest(t *testing.T) {
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	defer w.Close()
	tokens, err := w.DB.Tokens(t.Context(), w.Chains[0].Row.ID, store.ERC20, 0)
	if err != nil || len(tokens) == 0 {
		t.Fatal(tokens, err)
	}
	s, err := rest.New(rest.Options{Clock: w.Clock, WorldKey: w.Identity(), Alias: w.Alias})
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Symbol string `json:"symbol"`
	}
	b, asset := NewBase(w, Options{}), tokens[0].ID.Asset(nil)
	if err := s.Register(rest.Data, rest.Operation{ID: "late", Path: "/late", Live: true, Answer: reflect.TypeFor[answer](), Handle: func(r *rest.Request) (any, error) {
		view := &PriceView{Request: r, tokenNames: &tokenNames{}, Base: b}
		return answer{view.TokenOf(asset).Symbol}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	for _, fails := range []bool{true, false} {
		w.DB.FailStatements(nil)
		if fails {
			w.DB.FailStatements(func(string) bool { return true })
		}
		got := httptest.NewRecorder()
		s.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/late", nil))
		switch {
		case fails && (got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "the simulator failed")):
			t.Errorf("while the file fails: %d %s", got.Code, got.Body)
		case !fails && (got.Code != http.StatusOK || !strings.Contains(got.Body.String(), tokens[0].Symbol)):
			t.Errorf("afterwards: %d %s", got.Code, got.Body)
		}
	}
}

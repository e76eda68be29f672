package rest_test

import (
	"testing"

	"snowglobe/handlers/rest"
)

const (
	specToken     = `"indexStatus":"indexed","price":{"currencyCode":"usd","value":"42.42"},"owner":null}`
	upstreamToken = `"indexStatus":"INDEXED","price":{"currencyCode":"usd","value":42.42},"owner":null}`
	tokenPath     = "/v1/chains/43114/tokens/" + alice
)

func TestDialectIsChosen(t *testing.T) {
	cases := []struct {
		mode, path, header, value string
		want                      string
	}{
		{"auto", tokenPath, "accept", "*/*", specToken},
		{"auto", tokenPath, "x-service-api-key", "k", specToken},
		{"auto", tokenPath, "x-glacier-api-key", "k", upstreamToken},
		{"auto", tokenPath, "x-app-component", "avacloud-sdk", upstreamToken},
		{"auto", tokenPath, "user-agent", "speakeasy-sdk/typescript 0.3.13", upstreamToken},
		{"auto", tokenPath, "user-agent", "Mozilla/5.0 speakeasy-sdk/", specToken},
		{"auto", tokenPath + "?rltoken=k", "accept", "*/*", upstreamToken},
		{"auto", "/upstream" + tokenPath, "accept", "*/*", upstreamToken},
		{"spec", "/upstream" + tokenPath, "x-glacier-api-key", "k", specToken},
		{"upstream", tokenPath, "accept", "*/*", upstreamToken},
	}
	for _, c := range cases {
		mode, err := rest.ParseDialectMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, func(o *rest.Options) { o.Dialect = mode })
		expect(t, get(t, s, c.path, c.header, c.value), 200, c.want)
	}
	if _, err := rest.ParseDialectMode("glacier"); err == nil {
		t.Error("dialect glacier is accepted")
	}
}

func TestStatusOfSuccessFollowsDialect(t *testing.T) {
	s := newServer(t, nil)
	body := `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":[]}}`
	expect(t, ask(t, s, "POST", "/v1/operations/transactions:export", body), 200, "values")
	expect(t, ask(t, s, "POST", "/upstream/v1/operations/transactions:export", body), 201, "values")
}

package permit_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
)

// TestWhoMayChangeTheWorld tries origins, flags and addresses. The refusal must contain the reason; an empty reason means permission.
func TestWhoMayChangeTheWorld(t *testing.T) {
	named := &permit.Rule{Origins: []string{"https://app.example"}}
	any := &permit.Rule{Origins: []string{"*"}}
	exposed := &permit.Rule{Exposed: true, Origins: []string{"https://app.example"}}
	allowed := &permit.Rule{Exposed: true, Control: true}
	for _, c := range []struct {
		rule    *permit.Rule
		headers string
		reason  string
	}{
		{nil, "", ""},
		{nil, "Origin: http://localhost:3000", ""},
		{nil, "Origin: http://LOCALHOST", ""},
		{nil, "Origin: http://localhost.:3000", ""},
		{nil, "Origin: https://app.localhost", ""},
		{nil, "Origin: http://127.0.0.1:9650", ""},
		{nil, "Origin: http://127.8.9.10", ""},
		{nil, "Origin: http://[::1]:8080", ""},
		{nil, "Origin: null", "--allow-origin"},
		{nil, "Origin: file://", "--allow-origin"},
		{nil, "Origin: http://localhost.evil.example", "--allow-origin"},
		{nil, "Origin: http://evil.example#localhost", "--allow-origin"},
		{nil, "Origin: http://localhost@evil.example", "--allow-origin"},
		{nil, "Origin: http://evillocalhost", "--allow-origin"},
		{nil, "Origin: http://127.0.0.1.evil.example", "--allow-origin"},
		{nil, "Origin: http://192.168.1.7:3000", "--allow-origin"},
		{nil, "Origin: https://app.example", "https://app.example"},
		{nil, "Sec-Fetch-Site: cross-site", "a page of another origin may not do this; start the server with --allow-origin"},
		{nil, "Sec-Fetch-Site: none", ""},
		{named, "Origin: https://app.example", ""},
		{named, "Origin: https://app.example:443", ""},
		{named, "Origin: https://app.example:8443", "--allow-origin"},
		{named, "Origin: http://app.example", "--allow-origin"},
		{any, "Origin: http://evil.example", ""},
		{any, "Origin: null", "--allow-origin"},
		{exposed, "", "--allow-control"},
		{exposed, "Origin: http://localhost", "--allow-control"},
		{exposed, "Origin: https://app.example", "--allow-control"},
		{exposed, "Origin: https://evil.example", "--allow-origin"},
		{allowed, "", ""},
		{allowed, "Origin: http://localhost", ""},
		{allowed, "Origin: https://evil.example", "--allow-origin"},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		if name, value, found := strings.Cut(c.headers, ": "); found {
			r.Header.Set(name, value)
		}
		err := c.rule.Check(r, permit.Control)
		if (err == nil) != (c.reason == "") || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%+v, %s: %v: want %q", c.rule, c.headers, err, c.reason)
		}
		err = c.rule.Check(r, permit.Payment)
		if refused := c.reason != "" && c.reason != "--allow-control"; (err != nil) != refused || refused && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%+v, %s: a payment: %v", c.rule, c.headers, err)
		}
		if got, want := c.rule.Public(), c.rule == exposed; got != want {
			t.Errorf("%+v is public: %v", c.rule, got)
		}
		for _, class := range []permit.Class{permit.Read, permit.SignedTransaction} {
			if err := c.rule.Check(r, class); err != nil {
				t.Errorf("%+v, %s: class %d: %v", c.rule, c.headers, class, err)
			}
		}
	}
}

// TestThePagesOfTheServerItself may control the world if the server was reached by an address: a name could be anyone's.
func TestThePagesOfTheServerItself(t *testing.T) {
	for origin, trusted := range map[string]bool{
		"http://192.168.1.7:9650": true, "http://[fd00::7]:9650": true, "http://evil.example:9650": false, "http://192.168.1.7": false, "null": false,
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Origin", origin)
		r.Host = strings.TrimSuffix(strings.TrimPrefix(origin, "http://"), "/")
		if origin == "http://192.168.1.7" {
			r.Host += ":9650"
		}
		if err := (&permit.Rule{Exposed: true, Control: true}).Check(r, permit.Control); (err == nil) != trusted {
			t.Errorf("%s at %s: %v", origin, r.Host, err)
		}
	}
}

func TestOriginsOfFlags(t *testing.T) {
	for text, want := range map[string]string{
		"https://App.Example": "https://app.example", "http://app.example:80/": "http://app.example", "http://[::1]:80": "http://[::1]",
		"http://app.example:8080": "http://app.example:8080", "chrome-extension://abcdef": "chrome-extension://abcdef",
		"app.example": "", "https://": "", "https://app.example/path": "", "https://user@app.example": "", "https://app.example?": "", "null": "", "": "",
	} {
		got, err := permit.ParseOrigin(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v: want %q", text, got, err, want)
		}
	}
}

func TestClassesOfMethods(t *testing.T) {
	for method, want := range map[string]permit.Class{
		"eth_call": permit.Read, "eth_accounts": permit.Read, "eth_newFilter": permit.Read, "debug_traceCall": permit.Read,
		"platform.getTx": permit.Read, "anvil_nodeInfo": permit.Read, "hardhat_metadata": permit.Read, "": permit.Read,
		"eth_sendRawTransaction": permit.SignedTransaction, "eth_sendRawTransactionSync": permit.SignedTransaction,
		"eth_sendRawTransactionConditional": permit.SignedTransaction, "trace_rawTransaction": permit.Read, "eth_callBundle": permit.Read,
		"eth_sendTransactionSync": permit.Control, "eth_resend": permit.Control, "eth_signTypedData_v3": permit.Control, "debug_clearTxpool": permit.Control,
		"platform.issueTx": permit.SignedTransaction, "xvm.issueTx": permit.SignedTransaction, "avm.issueTx": permit.SignedTransaction,
		"wallet.issueTx": permit.SignedTransaction, "avax.issueTx": permit.SignedTransaction,
		"eth_sendTransaction": permit.Control, "eth_sign": permit.Control, "eth_signTransaction": permit.Control,
		"eth_signTypedData_v4": permit.Control, "personal_sign": permit.Control, "evm_mine": permit.Control,
		"eth_sendUnsignedTransaction": permit.Control, "tenderly_setBalance": permit.Control,
		"anvil_setBalance": permit.Control, "hardhat_mine": permit.Control, "admin.alias": permit.Control, "admin.getConfig": permit.Control,
	} {
		if got := permit.Of(method); got != want {
			t.Errorf("%s has class %d: want %d", method, got, want)
		}
	}
}

// TestPagesOfATrustedName: --as-network answers for the name, so no page can have pointed it at this machine.
func TestPagesOfATrustedName(t *testing.T) {
	r := httptest.NewRequest("POST", "http://api.avax.network/", nil)
	r.Header.Set("Origin", "https://api.avax.network")
	if err := (*permit.Rule)(nil).Check(r, permit.Control); err == nil || permit.TrustedHost(r) != "" {
		t.Errorf("a name that nobody answers for is trusted: %q", permit.TrustedHost(r))
	}
	r = r.WithContext(permit.TrustHost(r.Context(), "https"))
	if err := (*permit.Rule)(nil).Check(r, permit.Control); err != nil || permit.TrustedHost(r) != "https" {
		t.Errorf("%v, the scheme is %q", err, permit.TrustedHost(r))
	}
	r.Header.Set("Origin", "https://evil.example")
	if err := (*permit.Rule)(nil).Check(r, permit.Control); err == nil {
		t.Error("another page is trusted")
	}
}

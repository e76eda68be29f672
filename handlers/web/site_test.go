package web_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/docs"
	"snowglobe/handlers/permit"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
)

// site is a served world that tests only read.
type site struct {
	http.Handler
	world *sim.World
}

var shared *site

func faucetOf(w *sim.World) control.Faucet { return seed.NewFaucet(w) }

func serve(t *testing.T, w *sim.World) *site {
	t.Helper()
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Version: "test", Origins: control.Origins{}, Faucet: faucetOf})
	if err != nil {
		t.Fatal(err)
	}
	return &site{h, w}
}

func open(t *testing.T) *site {
	t.Helper()
	if shared == nil {
		shared = serve(t, seedtest.Shared(t, "tiny", 1))
	}
	return shared
}

// get fetches a page, following redirects.
func (s *site) get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	for range 5 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "127.0.0.1:9650"
		s.ServeHTTP(w, r)
		if w.Code != http.StatusFound {
			return w
		}
		path = w.Header().Get("Location")
	}
	t.Fatalf("%s leads in circles", path)
	return nil
}

var (
	links   = regexp.MustCompile(`(?:href|src|hx-get|action)="(/[^"]*)"`)
	inline  = regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|<[a-z]+(?: [a-z-]+="[^"]*")* (?:style|on[a-z]+)=|(?:href|src)="javascript:`)
	missing = regexp.MustCompile(`<nil>|&lt;nil&gt;|&lt;no value|%!|map\[|ZgotmplZ`)
)

const most = 300 << 10

// TestEveryLinkResolves walks through the pages from the first one on.
func TestEveryLinkResolves(t *testing.T) {
	s := open(t)
	limit := 2500
	if testing.Short() {
		t.Log("left out of a short run: all pages but 200")
		limit = 200
	}
	seen, queue, kinds := map[string]bool{"/": true}, []string{"/"}, map[string]int{}
	for _, topic := range docs.New(nil).Topics() {
		queue = append(queue, "/docs/"+topic.Name)
		seen["/docs/"+topic.Name] = true
	}
	for n := 0; len(queue) > 0 && n < limit; n++ {
		path := queue[0]
		queue = queue[1:]
		w := s.get(t, path)
		body := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s is %d: %.300s", path, w.Code, body)
			continue
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if found := inline.FindString(body); found != "" {
			t.Errorf("%s has the inline script or style %q", path, found)
		}
		if at := missing.FindStringIndex(body); at != nil && !strings.HasPrefix(path, "/docs/") { // pages of the manual may have Go in them
			t.Errorf("%s shows %q", path, body[max(0, at[0]-80):at[1]])
		}
		if len(body) > most {
			t.Errorf("%s weighs %d bytes", path, len(body))
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			link, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			kind := shape(link)
			// A few pages of each kind are enough, because there are as many pages as transactions.
			if seen[link] || kinds[kind] >= 25 {
				continue
			}
			seen[link] = true
			kinds[kind]++
			queue = append(queue, link)
		}
	}
	for _, kind := range []string{"/sim/explorer/*/tx/*", "/sim/explorer/*/block/*", "/sim/explorer/*/address/*", "/sim/explorer/*/token/*", "/messages/*"} {
		if kinds[kind] == 0 {
			t.Errorf("no page of the kind %s was found: %v", kind, kinds)
		}
	}
}

var variable = regexp.MustCompile(`^([0-9]+|0x.*|NodeID-.*|[A-Za-z0-9-]{30,}|[0-9a-f]{12})$`)

// shape replaces the variable parts of a path with stars.
func shape(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return link
	}
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		if variable.MatchString(p) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// TestPagesShowWhatTheyAreAbout opens pages by names that a user knows.
func TestPagesShowWhatTheyAreAbout(t *testing.T) {
	s := open(t)
	alice := "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	for _, c := range []struct {
		path   string
		status int
		shows  []string
	}{
		{"/", 200, []string{"alice", "everyday wallet", "C-Chain fuji", "createPublicClient"}},
		{"/address/" + alice, 200, []string{"<bdi>alice</bdi>", "Unlocked unstaked", "Bitcoin", "API"}},
		{"/address/avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy", 200, []string{"alice", "Unlocked unstaked"}},
		{"/address/X-fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm", 200, []string{"alice", "X-Chain fuji"}},
		{"/p/mainnet", 200, []string{"Upcoming events", "validator-end", "Uptime"}},
		{"/p/mainnet?list=l1", 200, []string{"Balance left"}},
		{"/p/nowhere", 404, []string{"no network nowhere"}},
		{"/p/mainnet?list=nothing", 404, []string{"no list"}},
		{"/search?q=expiring", 200, []string{"NodeID-6xdooU8ED4GWF9LXgxc26GMcgyN7bjbmq", "NodeID-H6XbHn9pPy5x27h4xGg18FBZgeCRsMDSg"}},
		{"/search?q=ajhLnBLxgr2oMx5fe1MzrArCE6kwyrZsy5fBa8oEpmvgryAa4", 200, []string{"AddPermissionlessValidatorTx", "Inputs and outputs"}},
		{"/messages", 200, []string{"delivered"}},
		{"/address/0x00000000000000000000000000000000000000ff", 200, []string{"An account"}},
		{"/address/nonsense", 404, []string{"nothing in this world"}},
		{"/sim/explorer/43114", 200, []string{"Latest blocks"}},
		{"/sim/explorer/99", 404, []string{"no EVM chain 99"}},
		{"/sim/explorer/43114/block/10", 200, []string{"Block 10", "State root"}},
		{"/sim/explorer/43114/block/x", 400, []string{"blockId"}},
		{"/sim/explorer/43114/block/99999999", 404, []string{"99999999"}},
		{"/sim/explorer/43114/tx/0x" + strings.Repeat("ab", 32), 404, []string{"0xabab"}},
		{"/tx/0x" + strings.Repeat("ab", 32), 404, []string{"nothing in this world"}},
		{"/charts", 200, []string{"Active addresses", "data-points=\"[[", "Fees paid", "<bdi>AVAX</bdi> · 31 Oct 2026</small>", "<bdi>gwei</bdi>"}},
		{"/gas", 200, []string{"No transaction has called a contract yet."}},
		{"/charts?of=fuji", 200, []string{"Validator count"}},
		{"/charts?of=nothing", 404, []string{"nothing to draw"}},
		{"/charts?interval=minute", 404, []string{"no interval"}},
		{"/charts?of=70411&interval=hour", 200, []string{`<small class="muted">31 Oct 2026, 23:00</small>`}},
		{"/charts?of=70411", 200, []string{"<bdi>ICE</bdi> · 31 Oct 2026</small>"}},
		{"/requests", 200, []string{"Journal", "Forget all"}},
		{"/session", 200, []string{"Timeline", "The beginning", "/sim/session"}},
		{"/requests/999999999", 404, []string{"999999999"}},
		{"/control", 200, []string{"+1 h", "To validator-end", "evm_mine"}},
		{"/webhooks", 200, []string{"New webhook", "Export transactions"}},
		{"/faucet?chain=70411", 200, []string{`data-path="/sim/faucet"`, `value="70411" selected`, "Pay", `<option value="HARC">P and X mainnet</option>`, `<option value="WAVAX">C-Chain mainnet, C-Chain fuji</option>`}},
		{"/docs", 200, []string{"swagger-ui-bundle.js", `data-document="/openapi.json?operation=getChain"`, `data-document="/docs/methods/eth_call"`, "platform.getTx"}},
		{"/docs?dialect=upstream", 200, []string{`data-document="/upstream/openapi.json?operation=getChain"`}},
		{"/docs/personas", 200, []string{"<h1>Personas and nodes</h1>", "<td>alice</td>", `href="/docs/go-test"`}},
		{"/docs/persona", 404, []string{"did you mean /docs/personas"}},
		{"/docs?dialect=nothing", 404, []string{"no dialect"}},
		{"/openapi.json?operation=getChain", 200, []string{`"operationId":"getChain"`, "inThisWorld"}},
		{"/openapi.json?operation=getNothing", 404, []string{"no operation"}},
		{"/docs/methods/eth_getBalance", 200, []string{`"operationId":"eth_getBalance"`, "inThisWorld"}},
		{"/docs/methods/eth_nothing", 404, []string{"no such method"}},
		{"/search?q=alice", 200, []string{"everyday wallet"}},
		{"/search?q=usd", 200, []string{"USDC", "things match"}},
		{"/search?q=credit", 200, []string{"Harper Credit (HARC)", "X-Chain mainnet", "/x/mainnet/asset/"}},
		{"/search?q=10", 200, []string{"C-Chain mainnet", "Icefall"}},
		{"/search?q=%3Cscript%3Ealert(1)%3C/script%3E", 404, []string{"&lt;script&gt;alert(1)"}},
		{"/sim/explorer/43114/nothing/1", 404, []string{"no page"}},
	} {
		w := s.get(t, c.path)
		if w.Code != c.status {
			t.Errorf("%s is %d, want %d: %.200s", c.path, w.Code, c.status, w.Body)
		}
		for _, text := range c.shows {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s does not show %q", c.path, text)
			}
		}
	}
}

// TestPagesObeyAProxysPrefix serves a page below a path.
// TestLibrariesComeAsTheBrowserTakesThem fetches what pages load with brotli, gzip and neither: the content is the same.
func TestLibrariesComeAsTheBrowserTakesThem(t *testing.T) {
	s := open(t)
	for _, name := range []string{"htmx.min.js", "swagger-ui-bundle.js", "swagger-ui.css", "uPlot.iife.min.js"} {
		size := map[string]int{}
		for accept, want := range map[string]string{"gzip, deflate, br, zstd": "br", "gzip, brotli": "gzip", "": ""} {
			r := httptest.NewRequest(http.MethodGet, "/assets/any/"+name, nil)
			r.Header.Set("Accept-Encoding", accept)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if got := w.Header().Get("Content-Encoding"); got != want || w.Code != http.StatusOK {
				t.Errorf("%s for %q: %d %q, want %q", name, accept, w.Code, got, want)
			}
			size[want] = w.Body.Len()
		}
		if size["gzip"] >= size[""] || size["br"] >= size["gzip"] {
			t.Errorf("%s: sizes %v", name, size)
		}
	}
}

func TestPagesObeyAProxysPrefix(t *testing.T) {
	s := open(t)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "127.0.0.1:5"
	r.Header.Set("X-Forwarded-Prefix", "/snow")
	r.Header.Set("X-Forwarded-Host", "globe.test")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	for _, m := range links.FindAllStringSubmatch(w.Body.String(), -1) {
		if !strings.HasPrefix(m[1], "/snow/") {
			t.Errorf("%s is not below the prefix", m[1])
		}
	}
	if !strings.Contains(w.Body.String(), "http://globe.test/snow/ext/bc/") {
		t.Error("the snippets do not name the address by which the client reached the server")
	}
}

// TestContractsAreReadAndWrittenByTheirABI calls functions of a token through its page.
func TestContractsAreReadAndWrittenByTheirABI(t *testing.T) {
	s := open(t)
	usdc, alice := "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	page := "/sim/explorer/43114/address/" + usdc + "/contract"
	for _, c := range []struct {
		query string
		shows []string
	}{
		{"", []string{"contract ListedToken", "balanceOf(address)", "transfer(address,uint256)"}},
		{"?call=symbol()", []string{"<bdi>USDC</bdi>"}},
		{"?call=balanceOf(address)&a0=" + alice, []string{"Answer", `class="num"`}},
		{"?call=balanceOf(address)&a0=alice", []string{"Answer", `class="num"`}},
		{"?call=balanceOf(address)&a0=nonsense", []string{"is not an address"}},
		{"?call=transfer(address,uint256)&a0=" + alice + "&a1=1&from=alice", []string{"It would answer", "eth_sendTransaction", "Send as alice"}},
		{"?call=transfer(address,uint256)&a0=" + alice + "&a1=-1&from=alice", []string{"does not fit"}},
		{"?call=transfer(address,uint256)&a0=" + alice + "&a1=1&from=nobody", []string{"reverted"}},
		{"?call=mintBatch(address[],uint256[])&a0=[\"" + alice + "\"]&a1=[1,2]&from=alice", []string{"reverted"}},
		{"?call=mintBatch(address[],uint256[])&a0=alice&a1=[1,2]&from=alice", []string{"expected a list"}},
		{"?call=mintBatch(address[],uint256[])&a0=[&a1=[1,2]&from=alice", []string{"expected JSON for address[]"}},
	} {
		w := s.get(t, page+strings.NewReplacer(`"`, "%22", "[", "%5B", "]", "%5D").Replace(c.query))
		for _, text := range c.shows {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s is %d and does not show %q", c.query, w.Code, text)
			}
		}
	}
	if w := s.get(t, "/sim/explorer/43114/address/"+alice+"/contract"); w.Code != http.StatusNotFound {
		t.Errorf("an account has a source: %d", w.Code)
	}
}

// TestTheJournalShowsWhatClientsAskedAndNotThePages sends a request and looks for it.
func TestTheJournalShowsWhatClientsAskedAndNotThePages(t *testing.T) {
	s := open(t)
	s.get(t, "/v1/chains/424242")
	s.get(t, "/sim/explorer/43114")
	list := s.get(t, "/requests").Body.String()
	if !strings.Contains(list, "EVM chain 424242 does not exist") || strings.Contains(list, "<bdi>/sim/explorer") {
		t.Errorf("the journal shows %s", list[max(0, strings.Index(list, "<tbody")):])
	}
	link := regexp.MustCompile(`/requests/[0-9]+`).FindString(list)
	detail := s.get(t, link).Body.String()
	for _, text := range []string{"getChain", "curl", "expect(response.status).toBe(404)", "statusCode"} {
		if !strings.Contains(detail, text) {
			t.Errorf("%s does not show %q", link, text)
		}
	}
}

// TestTheBarStandsWhereItChangesSomething: the reference and the manual have no bar.
func TestTheBarStandsWhereItChangesSomething(t *testing.T) {
	for path, want := range map[string]bool{"/": true, "/requests": true, "/tx/0x1": true, "/docs": false, "/docs/personas": false} {
		body := open(t).get(t, path).Body.String()
		if got := strings.Contains(body, `id="control"`) && strings.Contains(body, `id="fold"`); got != want {
			t.Errorf("%s has the bar: %v", path, got)
		}
	}
}

// TestTheReferenceHasExamplesThatWork, in both documents.
func TestTheReferenceHasExamplesThatWork(t *testing.T) {
	s := open(t)
	var rest struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			Parameters []struct {
				Name     string
				Required bool
				Example  any
			}
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
		}
	}
	if err := json.Unmarshal(s.get(t, "/openapi.json").Body.Bytes(), &rest); err != nil {
		t.Fatal(err)
	}
	if len(rest.Servers) != 1 || rest.Servers[0].URL != "http://127.0.0.1:9650" {
		t.Errorf("servers are %v", rest.Servers)
	}
	answers := 0
	for path, methods := range rest.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.Required && p.Example == nil && p.Name != "operationId" && p.Name != "vertexHash" && !strings.Contains(path, "webhooks") && !strings.Contains(path, "worlds") {
					t.Errorf("%s %s: %s has no example", method, path, p.Name)
				}
			}
			if len(op.Responses["200"].Content["application/json"].Examples) > 0 {
				answers++
			}
		}
	}
	if answers < 80 {
		t.Errorf("%d operations have an answer as an example", answers)
	}
	var node struct {
		OpenRPC string
		Methods []struct {
			Name             string
			Params           []struct{ Name string }
			Errors, Examples []any
		}
	}
	if err := json.Unmarshal(s.get(t, "/openrpc.json").Body.Bytes(), &node); err != nil || node.OpenRPC == "" {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, m := range node.Methods {
		served[m.Name] = true
		if len(m.Errors) == 0 || len(m.Examples) != 1 {
			t.Errorf("%s has %d errors and %d examples", m.Name, len(m.Errors), len(m.Examples))
		}
	}
	for _, name := range []string{"eth_getBalance", "debug_traceTransaction", "platform.getCurrentValidators", "avm.getTx", "info.peers", "anvil_setBalance", "warp_getMessage", "health.health", "index.getIndex"} {
		if !served[name] {
			t.Errorf("%s is not described", name)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/ext/info", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}`))
	r.Host = "127.0.0.1:9650"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"name":"info.getNodeID"`) || strings.Contains(w.Body.String(), "eth_call") {
		t.Errorf("rpc.discover answers %.300s", w.Body)
	}
}

// TestEveryWayToANodeTellsOfIt calls rpc.discover in a batch and over WebSocket.
func TestEveryWayToANodeTellsOfIt(t *testing.T) {
	server := httptest.NewServer(open(t))
	defer server.Close()
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"rpc.discover"},{"jsonrpc":"2.0","id":3,"method":"eth_chainId","params":["rpc.discover"]}]`
	answer, err := http.Post(server.URL+"/ext/bc/C/rpc", "application/json", strings.NewReader(batch))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/ext/bc/C/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.WriteMessage(websocket.TextMessage, []byte(batch)); err != nil {
		t.Fatal(err)
	}
	_, message, err := socket.NextReader()
	if err != nil {
		t.Fatal(err)
	}
	for scheme, body := range map[string]io.Reader{"http": answer.Body, "ws": message} {
		var answers []struct {
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := json.NewDecoder(body).Decode(&answers); err != nil || len(answers) != 3 {
			t.Fatalf("%s: %d answers, %v", scheme, len(answers), err)
		}
		var told struct {
			Servers []struct{ URL string }
			Methods []struct{ Name string }
		}
		if err := json.Unmarshal(answers[1].Result, &told); err != nil || len(told.Methods) < 100 || !strings.HasPrefix(told.Servers[0].URL, scheme+"://") {
			t.Errorf("%s: told of %d methods at %v, %v", scheme, len(told.Methods), told.Servers, err)
		}
		if string(answers[0].Result) != `"0xa86a"` || answers[2].Error == nil || answers[2].Error.Code != -32602 {
			t.Errorf("%s: the calls beside it are answered %s and %v", scheme, answers[0].Result, answers[2].Error)
		}
	}
}

// TestTextOfTheWorldIsData shows names that are scripts, that change the direction of writing, and that are long.
func TestTextOfTheWorldIsData(t *testing.T) {
	s := open(t)
	for _, hostile := range []string{"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "\u202egnp.exe\u202c", "javascript:alert(1)", strings.Repeat("<b>", 4000)} {
		w := s.get(t, "/search?q="+url.QueryEscape(hostile))
		if found := inline.FindString(w.Body.String()); found != "" || strings.Contains(w.Body.String(), "<img src=x") || strings.Contains(w.Body.String(), "<b><b>") {
			t.Errorf("%.40q comes out as %q", hostile, found)
		}
		if w.Body.Len() > 64<<10 {
			t.Errorf("%.40q makes a page of %d bytes", hostile, w.Body.Len())
		}
	}
}

// TestPagesOfferNothingThatIsRefused: a page without control gives the reason, and has no buttons or forms that change the world. The rest of the
// page is unchanged.
func TestPagesOfferNothingThatIsRefused(t *testing.T) {
	world := open(t).world
	w, err := world.Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const usdc, alice = "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	const persona, contracts = "/sim/explorer/43114/address/" + alice, "/sim/explorer/43114/address/" + usdc + "/contract?call=transfer(address,uint256)&from=alice&a1=1&a0=" + alice
	for _, c := range []struct {
		name, host string
		rule       permit.Rule
		why        string
	}{
		{"loopback", "127.0.0.1:9650", permit.Rule{}, ""},
		{"loopback by name", "localhost:9650", permit.Rule{}, ""},
		{"an address of this machine", "192.0.2.1:9650", permit.Rule{}, ""},
		{"a name that anyone may give", "snow.example:9650", permit.Rule{}, "--allow-origin"},
		{"an origin that is allowed", "snow.example:9650", permit.Rule{Origins: []string{"http://snow.example:9650"}}, ""},
		{"beyond loopback", "192.0.2.1:9650", permit.Rule{Exposed: true}, "--allow-control"},
		{"beyond loopback, allowed", "192.0.2.1:9650", permit.Rule{Exposed: true, Control: true}, ""},
	} {
		h, err := handlers.New(w, handlers.Options{Network: "mainnet", Version: "test", Permit: c.rule, Faucet: faucetOf,
			Node: handlers.NodeOptions{Hosts: []string{"localhost", "snow.example"}}})
		if err != nil {
			t.Fatal(err)
		}
		get := func(path string) string {
			t.Helper()
			answer := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = c.host
			if h.ServeHTTP(answer, r); answer.Code != http.StatusOK {
				t.Errorf("%s: %s is %d", c.name, path, answer.Code)
			}
			return answer.Body.String()
		}
		offered := map[string]bool{}
		for _, path := range []string{"/", "/control", persona, contracts, "/webhooks", "/requests", "/sim/explorer/43114"} {
			body := get(path)
			offered[path] = regexp.MustCompile(`data-do |data-json|data-send|id="fold"`).MatchString(body)
			if told := strings.Contains(body, `id="refused"`); path != "/control" && (told != (c.why != "") || c.why != "" && !strings.Contains(body, c.why)) {
				t.Errorf("%s: %s says why it changes nothing: %t", c.name, path, told)
			}
			if c.why != "" && offered[path] {
				t.Errorf("%s: %s offers what is refused", c.name, path)
			}
			if strings.Count(body, "<form") != strings.Count(body, "</form>") || strings.Count(body, "<section") != strings.Count(body, "</section>") {
				t.Errorf("%s: %s has an element without its end", c.name, path)
			}
		}
		if pays := strings.Contains(get("/faucet"), "data-json"); pays != (c.why != "--allow-origin") {
			t.Errorf("%s: the faucet pays: %v", c.name, pays)
		}
		for _, path := range []string{"/", "/control", persona, contracts, "/webhooks", "/requests"} {
			if c.why == "" && !offered[path] {
				t.Errorf("%s: %s offers nothing", c.name, path)
			}
		}
		h.Close()
	}
}

// TestSearchForPrograms returns JSON for names, for personas' purposes, and for samples, whose pages exist.
func TestSearchForPrograms(t *testing.T) {
	s := open(t)
	for query, want := range map[string]string{
		"alice": "everyday wallet", "1,024 UTXOs": "hoarder", "failed": "C-Chain mainnet, 0x", "P.AddPermissionlessValidatorTx": "mainnet, ", "usdc": "ERC-20", "crossChainMessage": "sample",
		"no such thing": `{"results":[]}`, "": `{"results":[]}`,
	} {
		r := httptest.NewRequest(http.MethodGet, "/search?q="+url.QueryEscape(query), nil)
		r.Host = "127.0.0.1:9650"
		r.Header.Set("Accept", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var answer struct {
			Results []struct{ Kind, Name, Where, Page string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %.300s %v: want %s", query, w.Code, w.Body, err, want)
		}
		for _, found := range answer.Results[:min(len(answer.Results), 3)] {
			if page := s.get(t, found.Page); page.Code != http.StatusOK {
				t.Errorf("%q: %+v: its page is %d", query, found, page.Code)
			}
		}
	}
}

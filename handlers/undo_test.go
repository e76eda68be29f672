// A revert restores every table and every interface of a server.

package handlers_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/miner"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// notUndone lists the tables of the file's own history and of deliveries to others.
var notUndone = []string{"lineage", "undo", "snapshot", "undo_count", "pooled_tx", "webhook_delivery", "webhook_attempt"}

// rowsOf hashes the rows of each table of a world's file, as another process reads them.
func rowsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	for _, table := range store.Tables() {
		if slices.Contains(notUndone, table) {
			continue
		}
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		values, fields := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			fields[i] = &values[i]
		}
		sum, count := sha256.New(), 0
		for ; rows.Next(); count++ {
			if err := rows.Scan(fields...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(sum, "%#v\n", values)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		all[table] = fmt.Sprintf("%d rows, %x", count, sum.Sum(nil)[:8])
	}
	return all
}

// undoing is a world in a file that a test changes and reverts.
type undoing struct {
	*wallet
	path     string
	random   *rand.Rand
	stack    []pastWorld
	receiver *httptest.Server // of webhooks
	jobs     []string         // exports that were started, including undone ones
	stop     func()           // stops the background work

	undoBlocks int64 // of handlers.Options
}

// pastWorld holds the world's contents at a snapshot.
type pastWorld struct {
	id     int64
	digest string
	rows   map[string]string
	pages  string
	jobs   int // exports that were started before
}

func newUndoing(t *testing.T) *undoing {
	t.Helper()
	u := &undoing{undoBlocks: 20, path: filepath.Join(t.TempDir(), "world.db"), random: rand.New(rand.NewPCG(7, 0))}
	worldFile(t, u.path)
	u.wallet = &wallet{views: &views{T: t}}
	u.receiver = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(u.receiver.Close)
	u.open()
	return u
}

func (u *undoing) open() {
	u.Helper()
	w, err := sim.Open(u.Context(), u.path)
	if err != nil {
		u.Fatal(err)
	}
	h, err := handlers.New(w, handlers.Options{Network: fixtures.MainnetName, Relayer: true, UndoBlocks: u.undoBlocks})
	if err != nil {
		u.Fatal(err)
	}
	u.wallet = (&views{u.T, w, h, w.Networks[0]}).wallet("whale")
	ctx, cancel := context.WithCancel(u.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Work(ctx) }()
	u.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			u.Error(err)
		}
		h.Close()
	}
}

func (u *undoing) close() {
	u.Helper()
	u.stop()
	if err := u.world.Close(); err != nil {
		u.Fatal(err)
	}
}

// settle waits until exports are carried out and webhooks delivered.
func (u *undoing) settle() {
	u.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		running, err := u.world.DB.RunningOperations(u.Context())
		if err != nil {
			u.Fatal(err)
		}
		told := u.told()
		if len(running) == 0 && !strings.Contains(told, `"status":"pending"`) {
			return
		}
		if time.Now().After(deadline) {
			u.Fatalf("exports %v are running, webhooks are %s", running, told)
		}
	}
}

// told returns the webhook deliveries, finished and pending.
func (u *undoing) told() (all string) {
	var list struct{ Webhooks []struct{ ID string } }
	said := ask(u.h, http.MethodGet, "/v1/webhooks?pageSize=100", "")
	if err := json.Unmarshal([]byte(said), &list); err != nil {
		u.Fatal(said, err)
	}
	for _, hook := range list.Webhooks {
		all += ask(u.h, http.MethodGet, "/sim/webhooks/"+hook.ID+"/deliveries?pageSize=100", "") + "\n"
	}
	return said + all
}

// cRPC calls mainnet's C-Chain.
func (u *undoing) cRPC(method, params string) string {
	u.Helper()
	return ask(u.h, http.MethodPost, "/ext/bc/C/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params))
}

func (u *undoing) now() pastWorld {
	u.Helper()
	u.settle()
	pages := u.told() + u.cRPC("txpool_content", "") + u.cRPC("eth_getBlockByNumber", `"pending",false`)
	paths := []string{"/v1/chains/43114/blocks?pageSize=3", "/v1/networks/mainnet/blockchains/p-chain/transactions?pageSize=3", "/v1/chains/43114/transactions?pageSize=3",
		"/v1/networks/mainnet/validators?pageSize=2", "/v2/chains/43114/metrics/txCount?timeInterval=day&pageSize=3", "/sim/clock"}
	for _, path := range paths {
		pages += ask(u.h, http.MethodGet, path, "") + "\n"
	}
	for _, id := range u.jobs {
		pages += ask(u.h, http.MethodGet, "/v1/operations/"+id, "") + "\n"
	}
	return pastWorld{digest: fmt.Sprintf("%x", u.world.Digest()), rows: rowsOf(u.T, u.path), pages: pages, jobs: len(u.jobs)}
}

// agree compares the Data API and the node for the current world.
func (u *undoing) agree() {
	u.Helper()
	for _, name := range []string{"whale", "traveller"} {
		u.comparePlatformBalance(u.views.owner(name))
		u.compareExchangeBalance(u.views.owner(name))
	}
	for _, p := range fixtures.Personas[:3] {
		key, err := crypto.HexToECDSA(p.Key)
		if err != nil {
			u.Fatal(err)
		}
		address := crypto.PubkeyToAddress(key.PublicKey).Hex()
		have := u.decode(address, ask(u.h, http.MethodGet, "/v1/chains/43114/addresses/"+address+"/balances:getNative", ""))
		want := u.decode(address, u.cRPC("eth_getBalance", fmt.Sprintf(`%q,"latest"`, address)))["result"]
		balance, _ := new(big.Int).SetString(fmt.Sprint(want), 0)
		u.same("balance of "+p.Name, dig(have, "nativeTokenBalance", "balance"), balance)
	}
	block := objects(u.decode("blocks", ask(u.h, http.MethodGet, "/v1/chains/43114/blocks?pageSize=1", ""))["blocks"])[0]
	height, _ := new(big.Int).SetString(fmt.Sprint(u.decode("height", u.cRPC("eth_blockNumber", ""))["result"]), 0)
	u.same("height", block["blockNumber"], height)
}

// wants compares the world with an earlier state.
func (u *undoing) wants(then pastWorld) {
	u.Helper()
	undone := u.jobs[then.jobs:]
	u.jobs = u.jobs[:then.jobs]
	now := u.now()
	if now.digest != then.digest {
		u.Errorf("digest %s, it was %s", now.digest, then.digest)
	}
	for table, rows := range then.rows {
		if now.rows[table] != rows {
			u.Errorf("table %s has %s, it had %s", table, now.rows[table], rows)
		}
	}
	for _, id := range undone {
		if said := ask(u.h, http.MethodGet, "/v1/operations/"+id, ""); !strings.Contains(said, `"statusCode":404`) {
			u.Errorf("an export that is undone: %s", said)
		}
	}
	if now.pages != then.pages {
		u.Errorf("%s\nthe answers were\n%s", now.pages, then.pages)
	}
	u.agree()
}

// act does something random.
func (u *undoing) act() {
	u.Helper()
	switch u.random.IntN(10) {
	case 0, 1, 2:
		if err := simtest.SendRandomly(u.Context(), u.world, u.random.Uint64()%1000, 3); err != nil {
			u.Fatal(err)
		}
	case 3:
		if err := u.world.Advance(u.Context(), u.world.Clock.Now().Add(time.Duration(u.random.IntN(10*24))*time.Hour)); err != nil {
			u.Fatal(err)
		}
	case 4:
		base := u.spend(txs.PChain, 0, u.output(nAVAX))
		u.issue(txs.PChain, &base)
	case 5:
		base := u.spend(txs.XChain, 0, u.output(nAVAX))
		u.issue(txs.XChain, &base)
	case 6:
		body := exportBody(u.T, "TRANSACTION_EXPORT_EVM", []string{"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}, []string{"43114"})
		var started struct{ OperationID string }
		said := ask(u.h, http.MethodPost, "/v1/operations/transactions:export", body)
		if err := json.Unmarshal([]byte(said), &started); err != nil || started.OperationID == "" {
			u.Fatal(said, err)
		}
		u.jobs = append(u.jobs, started.OperationID)
	case 7:
		hook := fmt.Sprintf(`{"eventType":"address_activity","url":%q,"chainId":"43114","metadata":{"addresses":["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]}}`, u.receiver.URL)
		if said := ask(u.h, http.MethodPost, "/v1/webhooks", hook); !strings.Contains(said, `"id":`) {
			u.Fatal(said)
		}
	case 8: // it waits until the miner makes blocks again
		m := u.world.MinerOf(u.l.CChain())
		m.SetAutomine(false)
		if said := u.cRPC("eth_sendTransaction", `{"from":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","to":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1"}`); strings.Contains(said, "error") {
			u.Fatal(said)
		}
	case 9:
		c, depth := u.world.Chains[u.random.IntN(len(u.world.Chains))], 1+u.random.Uint64()%4
		if err := u.world.Reorg(u.Context(), c, depth, make([][]*miner.Transaction, u.random.IntN(4))); err != nil && !errors.Is(err, sim.ErrReorg) {
			u.Fatal(err)
		}
	}
}

func (u *undoing) take() {
	u.Helper()
	s, err := u.world.TakeSnapshot(u.Context(), "")
	if err != nil {
		u.Fatal(err)
	}
	m := u.now()
	m.id = s.ID
	u.stack = append(u.stack, m)
}

func (u *undoing) revert(n int) {
	u.Helper()
	then := u.stack[n]
	if err := u.world.Revert(u.Context(), then.id, false); err != nil {
		u.Fatal(err)
	}
	u.stack = u.stack[:n+1]
	u.wants(then)
	if testing.Short() {
		u.Log("left out of a short run: verification")
	} else {
		u.verify()
	}
}

func (u *undoing) verify() {
	u.Helper()
	verifytest.Sound(u, u.world)
}

// TestGoingBackIsExact acts at random between snapshots, up to five of them nested, and reverts to one of them, also after a restart. Every row,
// every response and the digest are restored, including waiting transactions, exports and webhooks; the interfaces agree, verify finds no error, and
// a final reset restores the generated world.
func TestGoingBackIsExact(t *testing.T) {
	t.Parallel()
	steps := 60
	if testing.Short() {
		t.Log("left out of a short run: all steps but 8")
		steps = 8
	}
	u := newUndoing(t)
	fresh := u.now()
	for step := range steps {
		switch chance := u.random.IntN(10); {
		case chance < 2 && len(u.stack) < 5:
			u.take()
		case chance == 2 && len(u.stack) > 0:
			u.revert(u.random.IntN(len(u.stack)))
		case step%20 == 10:
			u.close()
			u.open()
		default:
			u.act()
		}
		if t.Failed() {
			t.Fatalf("after step %d", step)
		}
	}
	if len(u.stack) > 0 {
		u.revert(0)
	}
	if err := u.world.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	u.wants(fresh)
	u.close()
	u.open()
	u.wants(fresh)
	if testing.Short() {
		u.Log("left out of a short run: verification")
	} else {
		u.verify()
	}
	u.close()
}

// TestReadersDoNotWaitForAReset reads while a long reset runs. A request in the meantime is answered at once from the old world, no answer mixes both
// worlds, and none comes from the old world after one from the new world.
func TestReadersDoNotWaitForAReset(t *testing.T) {
	t.Parallel()
	u := newUndoing(t)
	defer u.close()
	state := func() string {
		return ask(u.h, http.MethodPost, "/ext/bc/C/rpc", `[{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"},`+
			`{"jsonrpc":"2.0","id":2,"method":"eth_getBlockByNumber","params":["latest",false]},{"jsonrpc":"2.0","id":3,"method":"eth_getLogs","params":[{"fromBlock":"latest"}]}]`)
	}
	fresh := state()
	paused := make(chan struct{}, 1)
	u.world.BeforeRewind(func() func(sim.RewindOptions) {
		paused <- struct{}{}
		return func(sim.RewindOptions) {}
	})
	for range 10 { // on a busy machine a reset may end before the first answer comes
		if err := u.world.MinerOf(u.l.CChain()).Mine(t.Context(), 3000, 0); err != nil {
			t.Fatal(err)
		}
		full, ended := state(), make(chan error, 1)
		go func() { ended <- u.world.Reset(t.Context()) }()
		<-paused
		time.Sleep(5 * time.Millisecond)
		answered, before := 0, full
		for over := false; !over; {
			now := state()
			select {
			case err := <-ended:
				if over = true; err != nil {
					t.Fatal(err)
				}
				if now = state(); now != fresh {
					t.Fatalf("%s\nafter the reset, the world began with\n%s", now, fresh)
				}
			default:
				if now != before && now != fresh {
					t.Fatalf("%s\nof neither world, or too late", now)
				}
				if before = now; now == full {
					answered++
				}
			}
		}
		if answered > 0 {
			return
		}
	}
	t.Error("no answer came while the world was reset")
}

// TestTheUndoLogIsBounded sends many transactions, each in its own block. The file's undo log grows by little more than a row per commit,
// reorganisations reach as far as --undo-blocks says, and a reset still restores every row.
func TestTheUndoLogIsBounded(t *testing.T) {
	t.Parallel()
	u := newUndoing(t)
	fresh := u.now()
	pay := func(n int) {
		t.Helper()
		for range n {
			said := u.cRPC("eth_sendTransaction", `{"from":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","to":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1","gas":"0x5208"}`)
			if strings.Contains(said, "error") {
				t.Fatal(said)
			}
		}
	}
	steps := func() (all int) {
		t.Helper()
		db, err := sql.Open("sqlite", "file:"+u.path+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow(`SELECT sum(length(steps)) FROM undo`).Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	const many = 3 * 128 // the store merges the steps of 128 commits
	pay(many)
	first := steps()
	pay(many)
	if more := steps() - first; more > many*40 {
		t.Errorf("%d transactions more leave %d bytes of steps more, after %d", many, more, first)
	}
	for _, depth := range []int{1, 20, 500} {
		said := u.cRPC("anvil_reorg", fmt.Sprintf("%d,[]", depth))
		refused := strings.Contains(said, `"code":-32602`) && strings.Contains(said, "only the newest") && strings.Contains(said, "--undo-blocks")
		if refused != (depth == 500) || !refused && !strings.Contains(said, `"result":null`) {
			t.Errorf("%d blocks: %s", depth, said)
		}
	}
	u.agree()
	if testing.Short() {
		t.Log("left out of a short run: verification")
	} else {
		u.verify()
	}
	if err := u.world.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	u.wants(fresh)
	u.close()
}

// TestWhatIsUndoneIsTold: subscribers and filters get the removed logs and the restored head. Page tokens and entity tags from the undone history
// become invalid for good; earlier ones stay valid.
func TestWhatIsUndoneIsTold(t *testing.T) {
	t.Parallel()
	world := tinyWorld(t)
	d := newDevnet(t, world, world.Chains[0])
	call := func(method string, params ...any) string { return d.text(method, params...) }
	socket, err := ethclient.Dial(d.rpc("ws", "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	token := d.contract("usdx")
	logs, heads := make(chan types.Log, 10), make(chan *types.Header, 10)
	if _, err := socket.SubscribeFilterLogs(t.Context(), ethereum.FilterQuery{Addresses: []common.Address{*token}}, logs); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.SubscribeNewHead(t.Context(), heads); err != nil {
		t.Fatal(err)
	}
	page := func(token string) map[string]any {
		return d.ask("/v1/chains/" + fmt.Sprint(d.chain.Row.EVMID) + "/blocks?pageSize=2" + token)
	}
	// changed requests the newest blocks, unless they match an entity tag.
	changed := func(tag string) (status int, now string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/v1/chains/"+fmt.Sprint(d.chain.Row.EVMID)+"/blocks?pageSize=2", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-None-Match", tag)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("ETag")
	}
	_, beforeTag := changed("")
	before := page("")["nextPageToken"].(string)
	head := d.head().Number.Uint64()
	snapshot := strings.Trim(call("evm_snapshot"), `"`)
	filter := strings.Trim(call("eth_newFilter", map[string]any{"address": token}), `"`)
	blocks := strings.Trim(call("eth_newBlockFilter"), `"`)
	transfer := append(crypto.Keccak256([]byte("transfer(address,uint256)"))[:4], append(common.LeftPadBytes(someone[:], 32), common.LeftPadBytes([]byte{1}, 32)...)...)
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: token, Gas: 200_000, Data: transfer})
	undone := page("")["nextPageToken"].(string)
	_, undoneTag := changed("")
	if told := call("eth_getFilterChanges", filter); !strings.Contains(told, `"removed":false`) {
		t.Fatal(told)
	}
	call("eth_getFilterChanges", blocks)
	if sent := <-logs; sent.Removed || sent.BlockNumber != head+1 {
		t.Errorf("%+v", sent)
	}
	if h := <-heads; h.Number.Uint64() != head+1 {
		t.Error(h.Number)
	}
	if got := call("evm_revert", snapshot); got != "true" {
		t.Fatal(got)
	}
	if got := call("evm_revert", snapshot); got != "false" {
		t.Error(got)
	}
	if sent := <-logs; !sent.Removed || sent.BlockNumber != head+1 {
		t.Errorf("%+v", sent)
	}
	if h := <-heads; h.Number.Uint64() != head {
		t.Error(h.Number)
	}
	if told := call("eth_getFilterChanges", filter); !strings.Contains(told, `"removed":true`) {
		t.Error(told)
	}
	if told := call("eth_getFilterChanges", blocks); !strings.Contains(told, d.head().Hash().Hex()[2:8]) && told == "[]" {
		t.Error(told)
	}
	if status, now := changed(undoneTag); status != http.StatusOK || now == undoneTag || undoneTag == beforeTag {
		t.Errorf("status %d for the entity tag of what is undone, %s; now it is %s", status, undoneTag, now)
	}
	if status, now := changed(beforeTag); status != http.StatusNotModified {
		t.Errorf("status %d for the entity tag of then, %s; now it is %s", status, beforeTag, now)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
	path := "/v1/chains/" + fmt.Sprint(d.chain.Row.EVMID) + "/blocks?pageSize=2&pageToken=" + undone
	if status, said, _ := (&clocked{t, d.url}).send(path, ""); status != http.StatusBadRequest || !strings.Contains(said, "undone") {
		t.Error(status, said)
	}
	if said := page("&pageToken=" + before); said["blocks"] == nil {
		t.Error(said)
	}
	d.text("anvil_reset")
	if got := d.head().Number.Uint64(); got != head {
		t.Errorf("head %d, it was %d", got, head)
	}
}

package icm_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/control/describe"
	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

const (
	absent  = "0x00000000000000000000000000000000000a11ce"
	unknown = "0x1111111111111111111111111111111111111111111111111111111111111111"
)

// icmMessages returns all messages that the list shows.
func icmMessages(t *testing.T, g *datatest.Globe, path string) []datatest.Object {
	t.Helper()
	return g.Pages(t, path, "messages", 3)
}

// logged reads every log of a chain that sends or delivers a message, straight from the rows of its logs.
func logged(t *testing.T, g *datatest.Globe, c *reader.Chain) (sent, received map[string]*index.TeleporterLog) {
	t.Helper()
	rows, err := g.DB.LogsBetween(context.Background(), store.First(c.Row.ID), store.Last(c.Row.ID), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	sent, received = map[string]*index.TeleporterLog{}, map[string]*index.TeleporterLog{}
	for i := range rows {
		if m := index.ParseTeleporterLog(&rows[i]); m != nil {
			if len(rows[i].Topics) == 2*common.HashLength {
				sent[m.ID.Hex()] = m
			} else {
				received[m.ID.Hex()] = m
			}
		}
	}
	return sent, received
}

// TestMessagesAreTheLogs compares the list with the logs of all chains: it has every sent message once, with its delivery if there is one, and every
// delivery of a chain that the world does not simulate.
func TestMessagesAreTheLogs(t *testing.T) {
	for number := int64(1); number <= 2; number++ {
		g := datatest.Open(t, number)
		listed := map[string]datatest.Object{}
		for _, m := range icmMessages(t, g, "/v1/icm/messages") {
			if listed[m["messageId"].(string)] != nil {
				t.Errorf("message %v comes twice", m["messageId"])
			}
			listed[m["messageId"].(string)] = m
		}
		delivered := map[string]*index.TeleporterLog{}
		for _, c := range g.Chains {
			_, received := logged(t, g, c)
			for id, m := range received {
				delivered[id] = m
			}
		}
		count := map[string]int{}
		for _, c := range g.Chains {
			sent, received := logged(t, g, c)
			for id, m := range sent {
				count[testLetter(t, listed[id], c, m, delivered[id])]++
				delete(listed, id)
			}
			for id, m := range received {
				if g.ChainNamed(m.Peer.String()) == nil {
					count[testForeign(t, listed[id], c, m)]++
					delete(listed, id)
				}
			}
		}
		if len(listed) > 0 {
			t.Errorf("nothing sent %v", listed)
		}
		for _, status := range []string{"pending", "delivered", "delivered_source_not_indexed"} {
			if count[status] == 0 {
				t.Errorf("seed %d: no message is %s", number, status)
			}
		}
	}
}

func testLetter(t *testing.T, shown datatest.Object, c *reader.Chain, m, delivered *index.TeleporterLog) string {
	t.Helper()
	if shown == nil {
		t.Fatalf("message %s is not listed", m.ID)
	}
	want := map[string]any{
		"sourceBlockchainId": ids.ID(c.Row.BlockchainID).String(), "destinationBlockchainId": m.Peer.String(), "sourceEvmChainId": strconv.Itoa(int(c.Row.EVMID)),
		"messageNonce": m.Message.MessageNonce.String(), "from": m.Message.OriginSenderAddress.Hex(), "to": m.Message.DestinationAddress.Hex(),
		"data": fmt.Sprintf("0x%x", m.Message.Message), "status": "pending",
	}
	if delivered != nil {
		want["status"] = "delivered"
		if have := datatest.Dig(shown, "destinationTransaction", "delivererAddress"); have != delivered.Relayer.Hex() {
			t.Errorf("message %s was delivered by %v: want %s", m.ID, have, delivered.Relayer)
		}
	} else if shown["destinationTransaction"] != nil || shown["messageExecuted"] == true {
		t.Errorf("message %s is pending: %v", m.ID, shown)
	}
	for key, value := range want {
		if shown[key] != value {
			t.Errorf("message %s: %s is %v, want %v", m.ID, key, shown[key], value)
		}
	}
	if have := datatest.Dig(shown, "rewardDetails", "value"); have != m.FeeInfo.Amount.String() {
		t.Errorf("message %s: fee is %v, want %s", m.ID, have, m.FeeInfo.Amount)
	}
	if len(shown["receipts"].([]any)) != len(m.Message.Receipts) {
		t.Errorf("message %s: receipts are %v", m.ID, shown["receipts"])
	}
	return shown["status"].(string)
}

func testForeign(t *testing.T, shown datatest.Object, c *reader.Chain, m *index.TeleporterLog) string {
	t.Helper()
	if shown == nil || shown["sourceTransaction"] != nil || shown["sourceEvmChainId"] != "" || shown["destinationEvmChainId"] != strconv.Itoa(int(c.Row.EVMID)) {
		t.Fatalf("message %s of a chain that is not simulated: %v", m.ID, shown)
	}
	return shown["status"].(string)
}

// TestMessagesHaveEveryFate: some were executed, refused, confirmed, confirming, and paid for.
func TestMessagesHaveEveryFate(t *testing.T) {
	g := datatest.Open(t, 1)
	fates := map[string]bool{}
	for _, m := range icmMessages(t, g, "/v1/icm/messages") {
		fates["executed"] = fates["executed"] || m["messageExecuted"] == true
		fates["refused"] = fates["refused"] || m["messageExecuted"] == false && m["status"] == "delivered"
		fates["confirmed"] = fates["confirmed"] || m["receiptDelivered"] == true
		fates["confirming"] = fates["confirming"] || len(m["receipts"].([]any)) > 0
		fates["paid"] = fates["paid"] || datatest.Dig(m, "rewardDetails", "symbol") == "USDX"
		one := g.Get(t, "/v1/icm/messages/"+m["messageId"].(string))
		if datatest.Encode(one) != datatest.Encode(m) {
			t.Errorf("message %v is another by itself", m["messageId"])
		}
		old := g.Get(t, "/v1/teleporter/messages/"+m["messageId"].(string))
		if old["teleporterContractAddress"] != m["icmContractAddress"] || old["messageNonce"] != m["messageNonce"] {
			t.Errorf("message %v is %v under the old path", m["messageId"], old)
		}
	}
	for _, fate := range []string{"executed", "refused", "confirmed", "confirming", "paid"} {
		if !fates[fate] {
			t.Errorf("no message was %s", fate)
		}
	}
}

// TestMessageFilters compares every filter, and combinations, with a search of all messages.
func TestMessageFilters(t *testing.T) {
	g := datatest.Open(t, 1)
	all := icmMessages(t, g, "/v1/icm/messages")
	is := func(key string, value any) func(datatest.Object) bool {
		return func(m datatest.Object) bool { return m[key] == value }
	}
	or := func(a, b func(datatest.Object) bool) func(datatest.Object) bool {
		return func(m datatest.Object) bool { return a(m) || b(m) }
	}
	c, l1 := g.Chains[0], g.Chains[2]
	cID, l1ID := ids.ID(c.Row.BlockchainID).String(), ids.ID(l1.Row.BlockchainID).String()
	someone := all[0]["from"].(string)
	for query, passes := range map[string]func(datatest.Object) bool{
		"sourceBlockchainId=" + cID: is("sourceBlockchainId", cID), "destinationBlockchainId=" + cID: is("destinationBlockchainId", cID),
		"sourceBlockchainId=70411": is("sourceBlockchainId", l1ID),
		"blockchainId=" + l1ID:     or(is("sourceBlockchainId", l1ID), is("destinationBlockchainId", l1ID)),
		"blockchainId=43114&from=" + someone: func(m datatest.Object) bool {
			return or(is("sourceBlockchainId", cID), is("destinationBlockchainId", cID))(m) && m["from"] == someone
		},
		"from=" + someone:                    is("from", someone),
		"to=" + strings.ToLower(someone):     is("to", someone),
		"from=" + someone + "&to=" + someone: func(m datatest.Object) bool { return m["from"] == someone && m["to"] == someone },
		"sourceBlockchainId=43114&destinationBlockchainId=" + l1ID: func(m datatest.Object) bool {
			return m["sourceBlockchainId"] == cID && m["destinationBlockchainId"] == l1ID
		},
		"blockchainId=43114&destinationBlockchainId=43114": is("destinationBlockchainId", cID),
		"network=mainnet":                                               or(is("sourceEvmChainId", "43114"), or(is("destinationEvmChainId", "43114"), or(is("sourceEvmChainId", "70411"), is("destinationEvmChainId", "70411")))),
		"network=fuji":                                                  or(is("sourceEvmChainId", "43113"), is("destinationEvmChainId", "43113")),
		"network=fuji&sourceBlockchainId=43114":                         func(datatest.Object) bool { return false },
		"sourceBlockchainId=99":                                         func(datatest.Object) bool { return false },
		"from=0x00000000000000000000000000000000000a11ce":               func(datatest.Object) bool { return false },
		"sourceBlockchainId=" + ids.ID{9}.String() + "&network=mainnet": func(datatest.Object) bool { return false },
	} {
		var want []datatest.Object
		for _, m := range all {
			if passes(m) {
				want = append(want, m)
			}
		}
		for _, base := range []string{"/v1/icm/messages?", "/v1/teleporter/messages?"} {
			have := icmMessages(t, g, base+query)
			if same := slices.EqualFunc(have, want, func(a, b datatest.Object) bool { return a["messageId"] == b["messageId"] }); !same {
				t.Errorf("%s%s has %d messages, want %d in the order of all", base, query, len(have), len(want))
			}
		}
	}
	for _, address := range []string{someone, g.Persona(t, "deployer"), absent} {
		want := 0
		for _, m := range all {
			if m["from"] == address || m["to"] == address {
				want++
			}
		}
		for _, base := range []string{"/v1/icm/addresses/", "/v1/teleporter/addresses/"} {
			if have := icmMessages(t, g, base+address+"/messages"); len(have) != want {
				t.Errorf("%s has %d messages: want %d", address, len(have), want)
			}
		}
	}
}

// TestTransactionsTellOfMessages checks the transactions at both ends of every message, and a deployment.
func TestTransactionsTellOfMessages(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, m := range icmMessages(t, g, "/v1/icm/messages") {
		for end, direction := range map[string]string{"source": "SOURCE_TRANSACTION", "destination": "DESTINATION_TRANSACTION"} {
			tx, there := datatest.Dig(m, end+"Transaction").(datatest.Object)
			if !there {
				continue
			}
			chain := m[end+"EvmChainId"].(string)
			full := g.Get(t, "/upstream/v1/chains/"+chain+"/transactions/"+tx["txHash"].(string))
			info := full["teleporterMessageInfo"]
			if datatest.Dig(info, "teleporterMessageId") != m["messageId"] || datatest.Dig(info, "direction") != direction {
				t.Errorf("the %s transaction of %v tells %v", end, m["messageId"], info)
			}
			testPeer(t, m, info.(datatest.Object), end)
			used, price := digits(t, datatest.Dig(full, "nativeTransaction", "gasUsed")), digits(t, datatest.Dig(full, "nativeTransaction", "gasPrice"))
			if digits(t, tx["gasSpent"]) != used*price {
				t.Errorf("%v spent %v: want %d × %d", tx["txHash"], tx["gasSpent"], used, price)
			}
		}
	}
	for _, c := range g.Chains {
		d := g.Get(t, datatest.Path(c, "contracts", g.Contract(t, c, "herald"), "transactions:getDeployment"))
		if datatest.Dig(d, "teleporterMessageInfo", "direction") != "SOURCE_TRANSACTION" {
			t.Errorf("chain %d: the herald's deployment tells %v", c.Row.EVMID, d["teleporterMessageInfo"])
		}
		if quiet := g.Get(t, datatest.Path(c, "contracts", g.Contract(t, c, "usdx"), "transactions:getDeployment")); quiet["teleporterMessageInfo"] != nil {
			t.Errorf("chain %d: a token's deployment tells %v", c.Row.EVMID, quiet["teleporterMessageInfo"])
		}
	}
}

// testPeer checks the chain at the other end: each transaction names only that one.
func testPeer(t *testing.T, m, info datatest.Object, end string) {
	t.Helper()
	other := map[string]string{"source": "destination", "destination": "source"}[end]
	want := m[other+"EvmChainId"]
	if want == "" {
		want = m[other+"BlockchainId"]
	}
	if info[other+"ChainId"] != want || info[end+"ChainId"] != nil {
		t.Errorf("%v: want %sChainId %v", info, other, want)
	}
}

func digits(t *testing.T, text any) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text.(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMessageErrors(t *testing.T) {
	g := datatest.Open(t, 1)
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/v1/icm/messages/" + unknown:                           {404, "message " + unknown},
		"/v1/icm/messages/0x12":                                 {400, "messageId"},
		"/v1/icm/messages?from=0x12":                            {400, "from"},
		"/v1/icm/messages?to=alice":                             {400, "to"},
		"/v1/icm/messages?sourceBlockchainId=C":                 {400, "sourceBlockchainId"},
		"/v1/icm/messages?destinationBlockchainId=0":            {400, "destinationBlockchainId"},
		"/v1/icm/messages?blockchainId=!":                       {400, "blockchainId"},
		"/v1/icm/messages?network=devnet":                       {400, "network"},
		"/v1/icm/messages?pageSize=0":                           {400, "pageSize"},
		"/v1/icm/messages?pageSize=101":                         {400, "pageSize"},
		"/v1/icm/messages?pageToken=x":                          {400, "pageToken"},
		"/v1/icm/addresses/0x12/messages":                       {400, "address"},
		"/v1/teleporter/messages/" + unknown:                    {404, "message"},
		"/v1/teleporter/addresses/0x12/messages":                {400, "address"},
		"/v1/teleporter/messages?pageSize=a":                    {400, "pageSize"},
		"/v1/icm/addresses/" + absent + "/messages?pageSize=-1": {400, "pageSize"},
	} {
		if says := datatest.Encode(g.Ask(t, path, want.status)["message"]); !strings.Contains(says, want.says) {
			t.Errorf("%s says %s: want %q", path, says, want.says)
		}
	}
	if list := g.Ask(t, "/v1/chains?feature=teleporter", http.StatusOK); len(list["chains"].([]any)) != len(g.Chains) {
		t.Errorf("chains with teleporter: %v", list)
	}
}

// TestWorldNamesMessages: the sample messages in the world's description have the described status.
func TestWorldNamesMessages(t *testing.T) {
	g := datatest.Open(t, 1)
	d, err := describe.Read(context.Background(), g.World)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Chains {
		if c.Message.Undelivered == nil {
			t.Errorf("chain %d names no pending message", c.Chain.Row.EVMID)
		} else if m := g.Get(t, "/v1/icm/messages/"+common.BytesToHash(c.Message.Undelivered).Hex()); m["status"] != "pending" {
			t.Errorf("chain %d: %v is not pending", c.Chain.Row.EVMID, m)
		}
		m := g.Get(t, "/v1/icm/messages/"+common.BytesToHash(c.Message.ID).Hex())
		if m["status"] != "delivered" || datatest.Dig(m, "sourceTransaction", "txHash") != common.BytesToHash(c.Message.Source).Hex() ||
			datatest.Dig(m, "destinationTransaction", "txHash") != common.BytesToHash(c.Message.Destination).Hex() {
			t.Errorf("chain %d: %v is not as the world describes it: %+v", c.Chain.Row.EVMID, m, c.Message)
		}
	}
}

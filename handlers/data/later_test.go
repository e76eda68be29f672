package data_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// sender makes blocks of alice's transactions on a chain, like a client.
type sender struct {
	t       *testing.T
	g       *globe
	c       *reader.Chain
	builder *evm.Builder
	key     []byte
}

func newSender(t *testing.T, g *globe, c *reader.Chain) *sender {
	t.Helper()
	b, err := reader.Restore(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return &sender{t, g, c, b, personas[0].Key}
}

// send puts one transaction into its own block and returns the created contract.
func (s *sender) send(to *common.Address, value *big.Int, data []byte) common.Address {
	s.t.Helper()
	key, err := crypto.ToECDSA(s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	alice := crypto.PubkeyToAddress(key.PublicKey)
	head, _ := s.builder.Head()
	p, err := s.builder.Open(1000 * (head.Time + 10))
	if err != nil {
		s.t.Fatal(err)
	}
	fee := new(big.Int).Mul(p.Header().BaseFee, big.NewInt(2))
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(s.c.Row.EVMID)), &types.DynamicFeeTx{
		Nonce: p.Nonce(alice), GasFeeCap: fee, GasTipCap: big.NewInt(1), Gas: 3_000_000, To: to, Value: value, Data: data,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	receipt, err := p.Apply(tx, alice)
	if err != nil || receipt.Status != 1 {
		s.t.Fatalf("%v, status %d", err, receipt.Status)
	}
	delta, err := p.Seal()
	if err != nil {
		s.t.Fatal(err)
	}
	batch, err := s.g.DB.Begin()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := batch.End(batch.AddBlock(delta)); err != nil {
		s.t.Fatal(err)
	}
	return receipt.ContractAddress
}

// sendAgain resends a message that has no receipt yet; it keeps its identity.
func sendAgain(t *testing.T, g *globe, c *reader.Chain, s *sender) {
	t.Helper()
	messenger, err := contracts.Load("Messenger")
	if err != nil {
		t.Fatal(err)
	}
	before := icmMessages(t, g, "/v1/icm/messages")
	sent, _ := logged(t, g, c)
	for _, m := range before {
		log := sent[m["messageId"].(string)]
		if log == nil || m["receiptDelivered"] == true {
			continue
		}
		data, err := messenger.ABI.Pack("retrySendCrossChainMessage", log.Message)
		if err != nil {
			t.Fatal(err)
		}
		s.send(&fixtures.TeleporterMessenger, nil, data)
		if after := icmMessages(t, g, "/v1/icm/messages"); encode(after) != encode(before) {
			t.Errorf("chain %d: %d messages, %d when %s was sent again", c.Row.EVMID, len(before), len(after), log.ID)
		}
		return
	}
	t.Errorf("chain %d: every message has a receipt", c.Row.EVMID)
}

// TestBlocksThatComeLaterAreIndexed deploys a token and sends some of it, and finds it in every list.
func TestBlocksThatComeLaterAreIndexed(t *testing.T) {
	g := serve(t, generate(t, 5))
	for _, c := range g.Chains {
		alice, friend := common.HexToAddress(g.persona(t, "alice")), common.HexToAddress("0x00000000000000000000000000000000000F71e9")
		url := path(c, "addresses", alice.Hex(), "transactions:listNative?pageSize=5")
		first := g.get(t, url)
		all := text(g.pages(t, path(c, "addresses", alice.Hex(), "transactions:listNative"), "transactions", 100), "txHash")
		blocks := g.get(t, "/v1/blocks?pageSize=5")

		s := newSender(t, g, c)
		artifact, err := contracts.Load("Token")
		if err != nil {
			t.Fatal(err)
		}
		code, err := artifact.InitCode("Late Token", "LATE", uint8(4), big.NewInt(1_000_000), alice)
		if err != nil {
			t.Fatal(err)
		}
		late := s.send(nil, nil, code)
		data, err := artifact.ABI.Pack("transfer", friend, big.NewInt(12_345))
		if err != nil {
			t.Fatal(err)
		}
		s.send(&late, nil, data)

		held := g.get(t, path(c, "addresses", friend.Hex(), "balances:listErc20"))
		if dig(held, "erc20TokenBalances", 0, "name") != "Late Token" || dig(held, "erc20TokenBalances", 0, "balance") != "12345" {
			t.Errorf("friend holds %v", held)
		}
		if moves := g.pages(t, path(c, "tokens", late.Hex(), "transfers"), "transfers", 1); len(moves) != 2 {
			t.Errorf("the late token has %d transfers: want 2", len(moves))
		}
		if d := g.get(t, path(c, "contracts", late.Hex(), "transactions:getDeployment")); dig(d, "nativeTransaction", "to", "symbol") != "LATE" {
			t.Errorf("deployment of the late token goes to %v", dig(d, "nativeTransaction", "to"))
		}
		if n := len(g.pages(t, path(c, "addresses", friend.Hex(), "transactions"), "transactions", 5)); n != 1 {
			t.Errorf("friend has %d transactions", n)
		}
		if chains := g.get(t, "/v1/address/"+friend.Hex()+"/chains"); len(chains["indexedChains"].([]any)) == 0 {
			t.Error("friend is on no chain")
		}

		sendAgain(t, g, c, s)

		rest := text(g.pages(t, url+"&pageToken="+first["nextPageToken"].(string), "transactions", 5), "txHash")
		if !slices.Equal(rest, all[5:]) {
			t.Errorf("pages that were begun before the blocks came go on with %d transactions: want %d", len(rest), len(all)-5)
		}
		for _, b := range g.pages(t, "/v1/blocks?pageToken="+blocks["nextPageToken"].(string), "blocks", 50) {
			if dig(blocks, "blocks", 0, "blockHash") == b["blockHash"] {
				t.Error("a block comes twice")
			}
		}
		if err := verify.VerifyChain(context.Background(), g.DB, c, func(*store.Delta) {}); err != nil {
			t.Errorf("verify after the later blocks: %v", err)
		}
	}
}

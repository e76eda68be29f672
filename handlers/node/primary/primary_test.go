package primary_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/utils/formatting/address"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type Object = rpctest.Object

// chain serves the shared methods of one chain of a network.
type chain struct {
	*rpctest.Client
	primary.Service
	network *sim.Network
	kind    txs.Chain
}

func serve(t testing.TB, n *sim.Network, kind txs.Chain) *chain {
	t.Helper()
	s := primary.New(n, kind)
	return &chain{rpctest.New(t, rpc.Service{Name: "chain", Methods: &s}), s, n, kind}
}

// onEach runs a test on each of some chains of both networks.
func onEach(t *testing.T, test func(t testing.TB, c *chain), kinds ...txs.Chain) {
	for _, n := range seedtest.Shared(t, "tiny", 1).Networks {
		for _, kind := range kinds {
			t.Run(fmt.Sprint(n.Name, " ", kind), func(t *testing.T) { test(t, serve(t, n, kind)) })
		}
	}
}

// output is an unspent output as a test reads it.
type output struct {
	id  ids.ID
	raw []byte
	*txs.UTXO
}

// unspent lists what the chain can spend of another's outputs, newest first.
func (c *chain) unspent(source txs.Chain) (all []output) {
	c.Helper()
	rows, err := c.network.DB.UTXOsMadeBy(c.Context(), c.network.Chain(source))
	if err != nil {
		c.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.UTXO) int { return cmp.Compare(b.ID, a.ID) })
	for _, row := range rows {
		if row.Spent != nil || row.Chain != c.network.Chain(c.kind) {
			continue
		}
		u, err := txs.ParseUTXO(c.kind, row.Bytes())
		if err != nil {
			c.Fatal(err)
		}
		index := make([]byte, 8, 8+len(u.TxID))
		index[7], index[6] = byte(u.OutputIndex), byte(u.OutputIndex>>8)
		all = append(all, output{sha256.Sum256(append(index, u.TxID[:]...)), row.Bytes(), u})
	}
	return all
}

// owners lists everyone with an output, in ascending order.
func owners(all []output) (everyone []ids.ShortID) {
	for _, o := range all {
		everyone = append(everyone, o.Owners().Addresses...)
	}
	slices.SortFunc(everyone, ids.ShortID.Compare)
	return slices.Compact(everyone)
}

// page is what a node returns, recomputed with the words of avalanchego's avax.GetPaginatedUTXOs.
func page(all []output, addresses []ids.ShortID, lastAddress ids.ShortID, lastUTXO ids.ID, limit int, included bool) (found []output, endAddress ids.ShortID, endUTXO ids.ID) {
	seen, start := map[ids.ID]bool{}, lastAddress
	startUTXO := lastUTXO
	for _, a := range addresses {
		if bytes.Compare(a[:], start[:]) < 0 {
			continue
		}
		var own []output
		for _, o := range all {
			if slices.Contains(o.Owners().Addresses, a) {
				own = append(own, o)
			}
		}
		if at := slices.IndexFunc(own, func(o output) bool { return o.id == startUTXO }); a == start && at >= 0 {
			if !included {
				at++
			}
			own = own[at:]
		}
		lastAddress = a
		for _, o := range own {
			lastUTXO = o.id
			if seen[o.id] {
				continue
			}
			seen[o.id] = true
			if found = append(found, o); len(found) == limit {
				return found, lastAddress, lastUTXO
			}
		}
	}
	return found, lastAddress, lastUTXO
}

type utxoIndex struct {
	Address string `json:"address"`
	UTXO    string `json:"utxo"`
}

type utxosReply struct {
	NumFetched string
	UTXOs      []string
	EndIndex   utxoIndex
	Encoding   string
}

// TestPages walks everyone's outputs to the end, alone, in pairs and all together, in pages of several sizes: each page is the recomputed one, and
// together they hold every output.
func TestPages(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		names := map[txs.Chain][]string{txs.PChain: {"P", "platform", ids.Empty.String()}, txs.XChain: {"X", "avm", c.network.Rules.XChainID.String()}, txs.CChain: {"C", "evm", c.network.Rules.CChainID.String()}}
		for source, names := range names {
			all, everyone := c.unspent(source), owners(c.unspent(source))
			names = slices.Clone(names)
			if source == c.kind {
				names = append(names, "")
			}
			for i, name := range names {
				groups := [][]ids.ShortID{everyone}
				for j, a := range everyone {
					if j%7 == i {
						groups = append(groups, []ids.ShortID{a}, []ids.ShortID{a, everyone[(j+1)%len(everyone)], a})
					}
				}
				for _, group := range groups {
					if len(group) > 0 {
						c.walk(all, group, source, name, 2+i*i*7)
					}
				}
			}
		}
	}, txs.PChain, txs.XChain, txs.CChain)
}

// walk reads pages until one is no longer full.
func (c *chain) walk(all []output, group []ids.ShortID, source txs.Chain, name string, limit int) {
	c.Helper()
	args := Object{"addresses": c.format(group), "sourceChain": name, "limit": limit, "encoding": "hexnc"}
	sorted := slices.Clone(group)
	slices.SortFunc(sorted, ids.ShortID.Compare)
	sorted = slices.Compact(sorted)
	var at ids.ShortID
	var utxo ids.ID
	read := map[string]bool{}
	for {
		found, endAddress, endUTXO := page(all, sorted, at, utxo, limit, source != c.kind)
		want := utxosReply{fmt.Sprint(len(found)), []string{}, utxoIndex{c.FormatAddress(endAddress), endUTXO.String()}, "hexnc"}
		for _, o := range found {
			want.UTXOs = append(want.UTXOs, fmt.Sprintf("0x%x", o.raw))
			read[want.UTXOs[len(want.UTXOs)-1]] = true
		}
		if have := rpctest.Get[utxosReply](c.Client, "chain.getUTXOs", args); !reflect.DeepEqual(have, want) {
			c.Fatalf("%.500v:\nhave %+v\nwant %+v", args, have, want)
		}
		if len(found) < limit || endUTXO == utxo {
			break
		}
		at, utxo = endAddress, endUTXO
		args["startIndex"] = want.EndIndex
	}
	if n := len(owned(all, sorted)); len(read) != n {
		c.Errorf("%v: read %d outputs of %d", group, len(read), n)
	}
}

func owned(all []output, by []ids.ShortID) (some []output) {
	for _, o := range all {
		if slices.ContainsFunc(o.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(by, a) }) {
			some = append(some, o)
		}
	}
	return some
}

func (c *chain) format(all []ids.ShortID) []string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = c.FormatAddress(a)
	}
	return texts
}

// TestLimits: a page holds at most 1024 outputs, and a request at most 1024 addresses.
func TestLimits(t *testing.T) {
	c := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0], txs.XChain)
	all := c.unspent(txs.XChain)
	everyone := c.format(owners(all))
	if len(all) <= 1024 {
		t.Fatalf("%d outputs fit on a page", len(all))
	}
	for limit, want := range map[uint32]string{0: "1024", 1: "1", 1023: "1023", 1024: "1024", 1025: "1024", math.MaxUint32: "1024"} {
		for _, form := range []any{limit, fmt.Sprint(limit)} {
			if have := rpctest.Get[utxosReply](c.Client, "chain.getUTXOs", Object{"addresses": everyone, "limit": form}); have.NumFetched != want || fmt.Sprint(len(have.UTXOs)) != want {
				t.Errorf("limit %v: %s outputs", form, have.NumFetched)
			}
		}
	}
	c.Refuses(rpctest.Malformed, "chain.getUTXOs", Object{"addresses": everyone, "limit": math.MaxUint32 + 1})
	most := slices.Repeat(everyone[:1], 1024)
	rpctest.Get[utxosReply](c.Client, "chain.getUTXOs", Object{"addresses": most})
	c.Refuses("number of addresses given, 1025, exceeds maximum, 1024", "chain.getUTXOs", Object{"addresses": append(most, most[0])})
	for _, none := range []any{nil, []string{}} {
		c.Refuses("no addresses provided", "chain.getUTXOs", Object{"addresses": none})
	}
}

// TestStarts: a start that the address does not own is as good as none, and addresses below the start are left out.
func TestStarts(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		all := c.unspent(c.kind)
		everyone := owners(all)
		low, high := everyone[0], everyone[len(everyone)-1]
		others := owned(all, []ids.ShortID{high})[0]
		for _, start := range []struct {
			address ids.ShortID
			utxo    ids.ID
			first   ids.ShortID // whose newest output comes first; empty for none
		}{{low, ids.ID{1}, low}, {low, others.id, low}, {low, ids.Empty, low}, {high, ids.ID{1}, high}, {high, ids.Empty, high}, {ids.ShortID{19: 1}, others.id, low}, {ids.ShortID(bytes.Repeat([]byte{255}, 20)), others.id, ids.ShortEmpty}} {
			have := rpctest.Get[utxosReply](c.Client, "chain.getUTXOs", Object{"addresses": c.format([]ids.ShortID{high, low}), "limit": 1, "encoding": "hexnc", "startIndex": utxoIndex{c.FormatAddress(start.address), start.utxo.String()}})
			want := utxosReply{"0", []string{}, utxoIndex{c.FormatAddress(start.address), start.utxo.String()}, "hexnc"}
			if start.first != ids.ShortEmpty {
				o := owned(all, []ids.ShortID{start.first})[0]
				want = utxosReply{"1", []string{fmt.Sprintf("0x%x", o.raw)}, utxoIndex{c.FormatAddress(start.first), o.id.String()}, "hexnc"}
			}
			if !reflect.DeepEqual(have, want) {
				t.Errorf("%s %s:\nhave %+v\nwant %+v", start.address, start.utxo, have, want)
			}
		}
		some := []string{c.FormatAddress(low)}
		c.Refuses(`couldn't parse start index address "x": couldn't parse address "x": no separator found in address`, "chain.getUTXOs", Object{"addresses": some, "startIndex": utxoIndex{"x", others.id.String()}})
		c.Refuses(`couldn't parse start index address "": couldn't parse address "": no separator found in address`, "chain.getUTXOs", Object{"addresses": some, "startIndex": utxoIndex{"", others.id.String()}})
		c.Refuses("couldn't parse start index utxo: input string is smaller than the checksum size", "chain.getUTXOs", Object{"addresses": some, "startIndex": utxoIndex{some[0], "zzz"}})
		c.Refuses("couldn't parse start index utxo: base58 decoding error: zero length string", "chain.getUTXOs", Object{"addresses": some, "startIndex": utxoIndex{some[0], ""}})
	}, txs.PChain, txs.XChain)
}

// TestSources: an L1 exports nothing, and what has no name here is no source.
func TestSources(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := serve(t, w.Networks[0], txs.PChain)
	owner := c.FormatAddress(owners(c.unspent(txs.PChain))[0])
	for _, l1 := range w.Chains {
		id := ids.ID(l1.Row.BlockchainID)
		if _, found := c.network.Aliases.Lookup(id.String()); !found || id == c.network.Rules.CChainID {
			continue
		}
		c.Want(Object{"numFetched": "0", "utxos": []any{}, "endIndex": utxoIndex{owner, ids.Empty.String()}, "encoding": "hex"}, "chain.getUTXOs", Object{"addresses": []string{owner}, "sourceChain": id.String()})
	}
	c.Refuses(`problem parsing source chainID "Q": there is no ID with alias: Q`, "chain.getUTXOs", Object{"addresses": []string{owner}, "sourceChain": "Q"})
}

// TestEncodings: bytes come with a checksum, or without; outputs have no form as objects, and each chain has its own words for that.
func TestEncodings(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		source := c.kind
		all := c.unspent(source)
		for len(all) == 0 && source > 0 { // the C-Chain only has what others exported
			source--
			all = c.unspent(source)
		}
		if len(all) == 0 {
			t.Fatal("the chain has no output")
		}
		newest := owned(all, all[0].Owners().Addresses[:1])[0]
		args := Object{"addresses": c.format(newest.Owners().Addresses[:1]), "sourceChain": c.network.Rules.BlockchainID(source).String(), "limit": 1}
		sum := sha256.Sum256(newest.raw)
		for encoding, want := range map[string]string{"": fmt.Sprintf("0x%x%x", newest.raw, sum[28:]), "hex": fmt.Sprintf("0x%x%x", newest.raw, sum[28:]), "hexc": fmt.Sprintf("0x%x%x", newest.raw, sum[28:]), "hexnc": fmt.Sprintf("0x%x", newest.raw)} {
			if delete(args, "encoding"); encoding != "" {
				args["encoding"] = encoding
			}
			have := rpctest.Get[utxosReply](c.Client, "chain.getUTXOs", args)
			if len(have.UTXOs) != 1 || have.UTXOs[0] != want || encoding != "" && have.Encoding != encoding || encoding == "" && have.Encoding != "hex" {
				t.Errorf("%q: %+v, want %s", encoding, have, want)
			}
		}
		args["encoding"] = "json"
		c.Refuses(map[txs.Chain]string{
			txs.PChain: "couldn't encode UTXO " + newest.id.String() + " as json: unsupported encoding in method",
			txs.XChain: "couldn't encode UTXO " + newest.id.String() + " as string: unsupported encoding in method",
			txs.CChain: "problem encoding utxo: unsupported encoding in method",
		}[c.kind], "chain.getUTXOs", args)
		args["encoding"] = "cb58"
		c.Refuses(rpctest.Malformed, "chain.getUTXOs", args)
	}, txs.PChain, txs.XChain, txs.CChain)
}

// TestUnspent: all outputs of some owners come once, in the order of the pages.
func TestUnspent(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		all := c.unspent(c.kind)
		everyone := owners(all)
		for i := range everyone {
			for _, group := range [][]ids.ShortID{everyone[i : i+1], everyone[i:]} {
				have, err := c.Unspent(t.Context(), group)
				if err != nil {
					t.Fatal(err)
				}
				want, _, _ := page(all, group, ids.ShortEmpty, ids.Empty, math.MaxInt, false)
				if len(have) != len(want) {
					t.Fatalf("%d outputs, want %d", len(have), len(want))
				}
				for j, o := range want {
					if !reflect.DeepEqual(have[j], o.UTXO) {
						t.Fatalf("output %d is %+v, want %+v", j, have[j], o.UTXO)
					}
				}
			}
		}
	}, txs.PChain, txs.XChain)
}

// TestAddresses reads addresses in every form.
func TestAddresses(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		a, b, own, other := ids.ShortID{1, 2, 3}, ids.ShortID{19: 9}, c.network.Rules.BlockchainID(c.kind), c.network.Rules.BlockchainID((c.kind+1)%3)
		hrp := c.network.Rules.HRP
		format := func(alias, hrp string, of []byte) string {
			text, err := address.Format(alias, hrp, of)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		letter, word := []string{"P", "X", "C"}[c.kind], []string{"platform", "avm", "evm"}[c.kind]
		if have := c.FormatAddress(a); have != format(letter, hrp, a[:]) {
			t.Error(have)
		}
		for _, form := range []string{a.String(), format(letter, hrp, a[:]), format(word, hrp, a[:]), format(own.String(), hrp, a[:])} {
			if have, err := c.Address(form); have != a || err != nil {
				t.Errorf("%s: %s %v", form, have, err)
			}
		}
		foreign := format(other.String(), hrp, a[:])
		mismatched := fmt.Sprintf("couldn't parse address %q: mismatched chainIDs: expected %q but got %q", foreign, own, other)
		if c.kind == txs.CChain {
			mismatched = fmt.Sprintf("couldn't parse address %q: expected chainID to be %q but was %q", foreign, own, other)
		}
		for form, want := range map[string]string{
			foreign:                        mismatched,
			"":                             `couldn't parse address "": no separator found in address`,
			format("Q", hrp, a[:]):         fmt.Sprintf("couldn't parse address %q: there is no ID with alias: Q", format("Q", hrp, a[:])),
			format(letter, "local", a[:]):  fmt.Sprintf("couldn't parse address %q: expected hrp %q but got %q", format(letter, "local", a[:]), hrp, "local"),
			format(letter, hrp, a[:18]):    fmt.Sprintf("couldn't parse address %q: invalid hash length: expected 20 bytes but got 19", format(letter, hrp, a[:18])),
			format("", hrp, a[:])[1:]:      fmt.Sprintf("couldn't parse address %q: no separator found in address", format("", hrp, a[:])[1:]),
			format(letter, hrp, nil) + "x": "couldn't parse address",
		} {
			if have, err := c.Address(form); err == nil || !strings.HasPrefix(err.Error(), want) || have != ids.ShortEmpty {
				t.Errorf("%s: %s %v, want %s", form, have, err, want)
			}
			if _, err := c.Addresses([]string{c.FormatAddress(a), form}); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", form, err, want)
			}
		}
		if have, err := c.Addresses([]string{a.String(), b.String(), c.FormatAddress(a), c.FormatAddress(b)}); err != nil || !slices.Equal(have, []ids.ShortID{b, a}) {
			t.Errorf("%v %v", have, err)
		}
	}, txs.PChain, txs.XChain, txs.CChain)
}

type blockReply struct {
	Block    json.RawMessage
	Encoding string
}

// TestBlocks reads every block by its height and by its id, which is the hash of its bytes, and as an object.
func TestBlocks(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		n, height := c.network, uint64(0)
		var parent ids.ID
		for ; ; height++ {
			row, err := n.DB.PrimaryBlock(t.Context(), c.StoreChain(), height)
			if err == store.ErrNotFound {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			id := ids.ID(row.Hash)
			byHeight, byID := Object{"height": height, "encoding": "hex"}, Object{"blockID": id}
			have := rpctest.Get[blockReply](c.Client, "chain.getBlockByHeight", byHeight)
			c.Want(Object{"block": have.Block, "encoding": "hex"}, "chain.getBlock", byID)
			raw := c.bytes(formatting.Hex, have.Block)
			if sha256.Sum256(raw) != id || have.Encoding != "hex" {
				t.Errorf("block %d: %s of %s", height, have.Block, id)
			}
			byHeight["height"], byHeight["encoding"], byID["encoding"] = fmt.Sprint(height), "hexnc", "json"
			c.Want(Object{"block": fmt.Sprintf("0x%x", raw), "encoding": "hexnc"}, "chain.getBlockByHeight", byHeight)
			object := rpctest.Get[blockReply](c.Client, "chain.getBlock", byID)
			var shown struct {
				ID, ParentID ids.ID
				Height       uint64
			}
			if err := json.Unmarshal(object.Block, &shown); err != nil || shown.ID != id || shown.Height != height || height > 0 && shown.ParentID != parent || object.Encoding != "json" {
				t.Errorf("block %d: %s %v", height, object.Block, err)
			}
			if c.kind == txs.PChain { // addresses are of the network and the chain
				if text := string(object.Block); strings.Contains(text, `"addresses":["`) && !strings.Contains(text, `"addresses":["P-`+n.Rules.HRP+"1") {
					t.Errorf("block %d: %s", height, text)
				}
			}
			parent = id
		}
		c.Want(Object{"height": fmt.Sprint(height - 1)}, "chain.getHeight", Object{})
		if have, err := c.Height(t.Context()); have != height-1 || err != nil {
			t.Error(have, err)
		}
		c.Refuses(fmt.Sprintf("couldn't get block at height %d: not found", height), "chain.getBlockByHeight", Object{"height": height})
		unknown := ids.ID{1, 2, 3}
		c.Refuses(fmt.Sprintf("couldn't get block with id %s: not found", unknown), "chain.getBlock", Object{"blockID": unknown})
		for _, height := range []any{-1, 1.5, "0x1", "x"} {
			c.Refuses(rpctest.Malformed, "chain.getBlockByHeight", Object{"height": height})
		}
	}, txs.PChain, txs.XChain)
}

// bytes decodes a text.
func (c *chain) bytes(encoding formatting.Encoding, text json.RawMessage) []byte {
	c.Helper()
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		c.Fatal(err)
	}
	raw, err := formatting.Decode(encoding, s)
	if err != nil {
		c.Fatal(err)
	}
	return raw
}

// TestTransactions reads every transaction by its id, which is the hash of its bytes, and as an object.
func TestTransactions(t *testing.T) {
	onEach(t, func(t testing.TB, c *chain) {
		rows, err := c.network.DB.PrimaryTxsBetween(t.Context(), store.At(c.StoreChain(), 1, 0), store.Last(c.StoreChain()))
		if err != nil || len(rows) < 20 {
			t.Fatal(len(rows), err)
		}
		for _, row := range rows {
			id := ids.ID(row.Hash)
			have, err := c.Tx(t.Context(), &primary.TxIDArgs{TxID: id, Encoding: formatting.HexNC})
			if err != nil || have.Encoding != formatting.HexNC {
				t.Fatal(have.Encoding, err)
			}
			if sha256.Sum256(c.bytes(formatting.HexNC, have.Tx)) != id {
				t.Errorf("%s: %s", id, have.Tx)
			}
			have, err = c.Tx(t.Context(), &primary.TxIDArgs{TxID: id, Encoding: formatting.JSON})
			var shown struct {
				ID         ids.ID
				UnsignedTx struct {
					NetworkID    uint32
					BlockchainID ids.ID
				}
			}
			if err == nil {
				err = json.Unmarshal(have.Tx, &shown)
			}
			if err != nil || shown.ID != id || have.Encoding != formatting.JSON {
				t.Errorf("%s: %s %v", id, have.Tx, err)
			}
			if shown.UnsignedTx.NetworkID != 0 && (shown.UnsignedTx.NetworkID != c.network.Rules.NetworkID || shown.UnsignedTx.BlockchainID != c.network.Rules.BlockchainID(c.kind)) {
				t.Errorf("%s: %s", id, have.Tx)
			}
		}
		if have, err := c.Tx(t.Context(), &primary.TxIDArgs{TxID: ids.ID{1}}); err != store.ErrNotFound || have.Tx != nil {
			t.Error(have, err)
		}
		if _, err := c.Tx(t.Context(), &primary.TxIDArgs{TxID: ids.ID(rows[0].Hash), Encoding: 99}); err == nil {
			t.Error("an encoding that does not exist")
		}
	}, txs.PChain, txs.XChain)
}

// pays issues a transaction in which alice pays: build makes it of a base without a change output.
func (c *chain) pays(amount uint64, build func(base txs.BaseTx, out func(owners ...ids.ShortID) *txs.TransferableOutput) txs.Unsigned) {
	c.Helper()
	base := *simtest.Payment(c, c.network, c.kind).Unsigned.Base()
	base.Outs[0].Out.(*txs.TransferOutput).Amount -= amount
	unsigned := build(base, func(owners ...ids.ShortID) *txs.TransferableOutput {
		return txs.NewTransferableOutput(c.network.Rules.AVAXAssetID, amount, txs.NewOutputOwners(0, 1, owners...))
	})
	if err := txs.SortOutputs(c.kind, unsigned.Base().Outs); err != nil {
		c.Fatal(err)
	}
	key, err := txs.KeyFromBytes(simtest.PersonaKey(c, c.network, "alice"))
	if err != nil {
		c.Fatal(err)
	}
	tx, err := txs.NewSigned(c.kind, unsigned, []*txs.Key{key})
	if err == nil && c.kind == txs.XChain {
		err = c.network.IssueX(c.Context(), tx)
	} else if err == nil {
		err = c.network.IssueP(c.Context(), tx)
	}
	if err != nil {
		c.Fatal(err)
	}
}

// TestSharedOutputs: an output of two addresses comes once on a page and hides none behind it, and where it starts one address's page, the other
// address's begins at its newest. Of what another chain exported, a page begins with the end of the one before.
func TestSharedOutputs(t *testing.T) {
	n := seedtest.Copy(t, 1).Networks[0]
	var people []ids.ShortID
	for _, name := range []string{"alice", "bob"} {
		key, err := txs.KeyFromBytes(simtest.PersonaKey(t, n, name))
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, key.Address())
	}
	for _, kind := range []txs.Chain{txs.XChain, txs.PChain} {
		c, other := serve(t, n, kind), serve(t, n, 1-kind)
		for _, owners := range [][]ids.ShortID{people[1:], people, people[1:], people[:1], people, people[1:]} {
			c.pays(1000, func(base txs.BaseTx, out func(...ids.ShortID) *txs.TransferableOutput) txs.Unsigned {
				base.Outs = append(base.Outs, out(owners...))
				return &base
			})
			c.pays(2000, func(base txs.BaseTx, out func(...ids.ShortID) *txs.TransferableOutput) txs.Unsigned {
				return &txs.ExportTx{BaseTx: base, DestinationChain: n.Rules.BlockchainID(other.kind), ExportedOutputs: []*txs.TransferableOutput{out(owners...)}}
			})
		}
		own, exported := c.unspent(kind), other.unspent(kind)
		for limit := 1; limit <= 8; limit++ {
			c.walk(own, people, kind, "", limit)
			if limit > 1 {
				other.walk(exported, people, kind, n.Rules.BlockchainID(kind).String(), limit)
			}
		}
	}
}

// TestFormattedTx decodes a transaction as a client sends it.
func TestFormattedTx(t *testing.T) {
	for _, c := range []struct {
		text     string
		encoding jsonrpc.Encoding
		want     string // its bytes, or an error
	}{
		{"0x0102", formatting.HexNC, "\x01\x02"},
		{"0x01027fbf0cfb", formatting.Hex, "problem decoding transaction: invalid input checksum"},
		{"zz", formatting.Hex, "problem decoding transaction: missing 0x prefix to hex encoding"},
		{"0x00", formatting.Hex, "problem decoding transaction: input string is smaller than the checksum size"},
		{"0x00", formatting.JSON, "problem decoding transaction: unsupported encoding in method"},
	} {
		args := primary.FormattedTx{Tx: c.text, Encoding: c.encoding}
		have, err := args.Bytes()
		if text := string(have); err == nil && text != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%s: %q %v", c.text, have, err)
		}
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		c := serve(t, w.Networks[0], kind)
		all := c.unspent(kind)
		addresses := c.format(owners(all)[:3])
		block, err := w.DB.PrimaryHead(t.Context(), c.StoreChain())
		if err != nil {
			t.Fatal(err)
		}
		start := owned(all, owners(all)[:1])[0]
		for method, args := range map[string]Object{
			"chain.getHeight":        {},
			"chain.getBlock":         {"blockID": ids.ID(block.Hash)},
			"chain.getBlockByHeight": {"height": 1},
			"chain.getUTXOs":         {"addresses": addresses, "startIndex": utxoIndex{addresses[0], start.id.String()}},
		} {
			rpctest.FailEach(t, w.DB, func() error { _, err := c.Ask(method, args); return err })
		}
		w.DB.FailStatements(func(string) bool { return true })
		if all, err := c.Unspent(t.Context(), owners(all)); all != nil || err == nil {
			t.Errorf("%d outputs, %v", len(all), err)
		}
		w.DB.FailStatements(nil)
	}
}

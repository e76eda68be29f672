package primary_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// rows is what the rows of a network's primary chains hold, each row by its id.
type rows struct {
	t *testing.T
	*sim.Network
	txs     map[ids.ID]*parsedTx
	at      map[store.Position]*parsedTx
	outputs map[ids.ID]store.UTXO
	stakers []store.Staker
	assets  map[ids.ID]store.PrimaryAsset
}

// parsedTx is a transaction with its row.
type parsedTx struct {
	*txs.Tx
	row  store.PrimaryTx
	kind txs.Chain
	time int64
	hash string // of its block
}

var kinds = []txs.Chain{txs.PChain, txs.XChain, txs.CChain}

func readRows(t *testing.T, n *sim.Network) *rows {
	t.Helper()
	l := &rows{t, n, map[ids.ID]*parsedTx{}, map[store.Position]*parsedTx{}, map[ids.ID]store.UTXO{}, nil, map[ids.ID]store.PrimaryAsset{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range kinds {
		chain := n.Chain(kind)
		all, err := n.DB.PrimaryTxsBetween(t.Context(), store.First(chain), store.Last(chain))
		must(err)
		for _, row := range all {
			tx, err := txs.ReadTx(kind, ids.ID(row.Hash), row.Bytes)
			if kind != txs.XChain || row.ID.Number() > 0 {
				tx, err = txs.ParseTx(kind, row.Bytes)
			}
			must(err)
			p := &parsedTx{Tx: tx, row: row, kind: kind}
			if kind == txs.CChain {
				b, err := n.DB.Block(t.Context(), n.CChain().Row.ID, row.ID.Number())
				must(err)
				p.time, p.hash = b.Time, hexutil.Encode(b.Hash)
			} else {
				b, err := n.DB.PrimaryBlock(t.Context(), chain, row.ID.Number())
				must(err)
				p.time, p.hash = b.Time, ids.ID(b.Hash).String()
			}
			l.txs[ids.ID(row.Hash)], l.at[row.ID] = p, p
		}
		outputs, err := n.DB.UTXOsMadeBy(t.Context(), chain)
		must(err)
		for _, u := range outputs {
			l.outputs[ids.ID(u.Hash)] = u
		}
	}
	head, err := n.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
	must(err)
	l.stakers, err = n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
	must(err)
	for i := range l.stakers {
		l.stakers[i].PotentialReward = n.PotentialReward(&l.stakers[i], head)
	}
	assets, err := n.DB.Assets(t.Context(), n.Chain(txs.XChain))
	must(err)
	for _, a := range assets {
		l.assets[ids.ID(a.Hash)] = a
	}
	return l
}

// amount returns an amount of an asset.
func (l *rows) amount(asset ids.ID, amount any) datatest.Object {
	if asset == l.Rules.AVAXAssetID {
		return datatest.Object{"assetId": asset.String(), "name": "Avalanche", "symbol": "AVAX", "denomination": 9, "type": "secp256k1", "amount": fmt.Sprint(amount)}
	}
	a, known := l.assets[asset]
	if !known {
		l.t.Fatalf("there is no asset %s", asset)
	}
	kind := "secp256k1"
	if slices.Contains(a.Fxs, 1) {
		kind = "nft"
	}
	return datatest.Object{"assetId": asset.String(), "name": a.Name, "symbol": a.Symbol, "denomination": a.Denomination, "type": kind, "amount": fmt.Sprint(amount)}
}

func (l *rows) avax(amount uint64) []any {
	if amount == 0 {
		return []any{}
	}
	return []any{l.amount(l.Rules.AVAXAssetID, amount)}
}

// sums adds up the amounts of a list by asset, in order of first appearance.
func (l *rows) sums(list any) []any {
	order, totals := []string{}, map[string]*big.Int{}
	for _, o := range datatest.Objects(list) {
		asset := datatest.Dig(o, "asset").(datatest.Object)
		id := asset["assetId"].(string)
		if totals[id] == nil {
			order, totals[id] = append(order, id), new(big.Int)
		}
		n, _ := new(big.Int).SetString(asset["amount"].(string), 10)
		totals[id].Add(totals[id], n)
	}
	all := []any{}
	for _, id := range order {
		parsed, err := ids.FromString(id)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, l.amount(parsed, totals[id]))
	}
	return all
}

func (l *rows) bech32s(addresses []ids.ShortID) []any {
	all := []any{}
	for _, a := range addresses {
		all = append(all, l.Rules.Bech32(a))
	}
	return all
}

// TestTransactionsAreTheirBytes compares every transaction, but for its outputs and L1 validators, with its bytes and the rows of stakers.
func TestTransactionsAreTheirBytes(t *testing.T) {
	for _, number := range []int64{1, 4} {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			l := readRows(t, g.Network(t, network))
			for _, kind := range kinds {
				base := "/v1/networks/" + network + "/blockchains/" + datatest.Chains[kind]
				list := g.Pages(t, base+"/transactions", "transactions", 30)
				count := 0
				for _, p := range l.txs {
					if p.kind == kind {
						count++
					}
				}
				if len(list) != count || count == 0 {
					t.Errorf("%s has %d transactions, its list %d", base, count, len(list))
				}
				for _, tx := range list {
					id, err := ids.FromString(tx["txHash"].(string))
					if err != nil || l.txs[id] == nil {
						t.Fatalf("transaction %v: %v", id, err)
					}
					want := l.describe(g, l.txs[id], tx)
					for _, name := range []string{"consumedUtxos", "emittedUtxos", "l1ValidatorDetails", "amountL1ValidatorBalanceBurned"} {
						delete(tx, name) // are compared elsewhere
					}
					if datatest.Encode(tx) != datatest.Encode(want) {
						t.Errorf("transaction\n%s\nwant\n%s", datatest.Encode(tx), datatest.Encode(want))
					}
				}
			}
		}
	}
}

func (l *rows) describe(g *datatest.Globe, p *parsedTx, shown datatest.Object) datatest.Object {
	o := datatest.Object{"txHash": ids.ID(p.row.Hash).String(), "txType": p.row.Type}
	own := l.Rules.BlockchainID(p.kind).String()
	switch u := p.Unsigned.(type) {
	case *txs.ImportTx:
		o["sourceChain"], o["destinationChain"] = u.SourceChain.String(), own
	case *txs.ExportTx:
		o["sourceChain"], o["destinationChain"] = own, u.DestinationChain.String()
	case *txs.AtomicImportTx:
		o["sourceChain"], o["destinationChain"] = u.SourceChain.String(), own
	case *txs.AtomicExportTx:
		o["sourceChain"], o["destinationChain"] = own, u.DestinationChain.String()
	}
	if p.kind == txs.PChain {
		l.describePlatform(o, p, shown)
		return o
	}
	o["timestamp"], o["blockHeight"], o["blockHash"] = p.time, p.row.ID.Number(), p.hash
	if p.kind == txs.CChain {
		l.describeAtomic(o, p, shown)
		return o
	}
	o["chainFormat"], o["memo"] = "linear", hexutil.Encode(p.Unsigned.Base().Memo)
	o["amountUnlocked"], o["amountCreated"] = l.sums(shown["consumedUtxos"]), l.sums(shown["emittedUtxos"])
	if _, created := p.Unsigned.(*txs.CreateAssetTx); created {
		o["assetCreated"] = g.Get(l.t, "/v1/networks/"+l.Name+"/blockchains/x-chain/assets/"+ids.ID(p.row.Hash).String())
	}
	return o
}

func (l *rows) describeAtomic(o datatest.Object, p *parsedTx, shown datatest.Object) {
	accounts := []any{}
	o["memo"] = "0x"
	switch u := p.Unsigned.(type) {
	case *txs.AtomicImportTx:
		for _, out := range u.Outs {
			accounts = append(accounts, datatest.Object{"toAddress": out.Address.Hex(), "asset": l.amount(out.AssetID, out.Amount)})
		}
		o["evmOutputs"], o["amountUnlocked"], o["amountCreated"] = accounts, l.sums(shown["consumedUtxos"]), l.sums(accounts)
	case *txs.AtomicExportTx:
		for i, in := range u.Ins {
			accounts = append(accounts, datatest.Object{"fromAddress": in.Address.Hex(), "asset": l.amount(in.AssetID, in.Amount), "credentials": credentials(l.t, p.Tx, i)})
		}
		o["evmInputs"], o["amountUnlocked"], o["amountCreated"] = accounts, l.sums(accounts), l.sums(shown["emittedUtxos"])
	}
}

// credentials returns a credential of a transaction, with keys recovered by go-ethereum.
func credentials(t *testing.T, tx *txs.Tx, i int) (all []any) {
	t.Helper()
	hash := sha256.Sum256(tx.UnsignedBytes())
	for _, s := range tx.Signatures(i) {
		key, err := crypto.SigToPub(hash[:], s[:])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, datatest.Object{"signature": base64.RawStdEncoding.EncodeToString(s[:]), "publicKey": base64.RawStdEncoding.EncodeToString(crypto.CompressPubkey(key))})
	}
	return all
}

// stakerOf returns the first period of the stake that a transaction began, or the one that it ended.
func (l *rows) stakerOf(p *parsedTx) (found *store.Staker, rewards bool) {
	staking, rewards := txs.Rewarded(p.Unsigned)
	for i := range l.stakers {
		s := &l.stakers[i]
		switch {
		case !rewards && ids.ID(s.Tx) == ids.ID(p.row.Hash) && found == nil:
			found = s
		case rewards && ids.ID(s.Tx) == staking && (s.RewardTx == nil && found == nil || string(s.RewardTx) == string(p.row.Hash)):
			found = s
		}
	}
	return found, rewards
}

func (l *rows) describePlatform(o datatest.Object, p *parsedTx, shown datatest.Object) {
	o["blockTimestamp"], o["blockNumber"], o["blockHash"] = p.time, fmt.Sprint(p.row.ID.Number()), p.hash
	o["amountBurned"], o["amountStaked"], o["value"] = l.avax(uint64(p.row.Burned)), []any{}, l.sums(shown["emittedUtxos"])
	if base := p.Unsigned.Base(); base != nil {
		o["memo"] = hexutil.Encode(base.Memo)
	}
	s, rewards := l.stakerOf(p)
	if s != nil {
		var owners []ids.ShortID
		for _, raw := range [][]byte{s.Owner, s.FeeOwner} {
			for _, a := range store.ParseOutputOwners(raw).Addresses {
				if !slices.Contains(owners, ids.ShortID(a)) {
					owners = append(owners, ids.ShortID(a))
				}
			}
		}
		o["nodeId"], o["subnetId"] = ids.NodeID(s.Node).String(), ids.ID(s.Subnet).String()
		if len(owners) > 0 {
			o["rewardAddresses"] = l.bech32s(owners)
		}
	}
	switch {
	case rewards:
		o["stakingTxHash"] = ids.ID(s.Tx).String()
	case s != nil:
		o["startTimestamp"], o["endTimestamp"] = s.Start, s.End
		if s.BLS != nil {
			o["blsCredentials"] = datatest.Object{"publicKey": hexutil.Encode(s.BLS), "proofOfPossession": hexutil.Encode(s.Proof)}
		}
		if s.RewardTx != nil {
			o["rewardTxHash"] = ids.ID(s.RewardTx).String()
		}
		if ids.ID(s.Subnet) == ids.Empty {
			o["estimatedReward"], o["amountStaked"] = fmt.Sprint(s.PotentialReward), l.avax(uint64(s.Weight))
			if !s.Delegator {
				o["delegationFeePercent"] = big.NewRat(int64(s.Shares), 10_000).FloatString(16)
			}
		}
	}
	l.describeSubnet(o, p)
}

func (l *rows) describeSubnet(o datatest.Object, p *parsedTx) {
	ownership := func(owner txs.Owner) datatest.Object {
		of := owner.(*txs.OutputOwners)
		return datatest.Object{"locktime": of.Locktime, "threshold": of.Threshold, "addresses": l.bech32s(of.Addresses)}
	}
	switch u := p.Unsigned.(type) {
	case *txs.CreateSubnetTx:
		o["subnetId"], o["subnetOwnershipInfo"] = o["txHash"], ownership(u.Owner)
	case *txs.TransferSubnetOwnershipTx:
		o["subnetId"], o["subnetOwnershipInfo"] = u.SubnetID.String(), ownership(u.Owner)
	case *txs.RemoveSubnetValidatorTx:
		o["subnetId"], o["nodeId"] = u.SubnetID.String(), u.NodeID.String()
	case *txs.SetAutoRenewedValidatorConfigTx:
		o["stakingTxHash"] = u.TxID.String()
	case *txs.CreateChainTx:
		o["subnetId"] = u.SubnetID.String()
		o["blockchainInfo"] = datatest.Object{"chainName": u.ChainName, "vmId": u.VMID.String(), "genesisData": liveGenesis(u.GenesisData)}
	case *txs.ConvertSubnetToL1Tx:
		o["subnetId"] = u.SubnetID.String()
		o["l1ValidatorManagerDetails"] = datatest.Object{"blockchainId": u.ChainID.String(), "contractAddress": common.BytesToAddress(u.Address).Hex()}
	}
}

// liveGenesis is a genesis as the live service writes it: numbers of an EVM genesis are hexadecimal.
func liveGenesis(raw []byte) any {
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return hexutil.Encode(raw)
	}
	for name, v := range members {
		if n, number := v.(float64); number {
			members[name] = hexutil.EncodeUint64(uint64(n))
		}
	}
	return members
}

// TestOutputsInTransactionsAreTheirRows compares every output that a transaction consumes or emits with the output's bytes, its row and the
// transaction that spent it.
func TestOutputsInTransactionsAreTheirRows(t *testing.T) {
	seen := map[string]int{}
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		l := readRows(t, g.Network(t, network))
		for _, kind := range kinds {
			for _, tx := range g.Pages(t, "/v1/networks/"+network+"/blockchains/"+datatest.Chains[kind]+"/transactions", "transactions", 30) {
				id, _ := ids.FromString(tx["txHash"].(string))
				want := []string{}
				for _, c := range l.txs[id].SpentOutputs() {
					want = append(want, c.InputID().String())
				}
				datatest.Same(t, "inputs of "+id.String(), datatest.Text(datatest.Objects(tx["consumedUtxos"]), "utxoId"), want)
				for _, o := range slices.Concat(datatest.Objects(tx["consumedUtxos"]), datatest.Objects(tx["emittedUtxos"])) {
					l.checkOutput(kind, o, seen)
				}
			}
		}
	}
	for _, kind := range []string{"spent", "kept", "crossing", "staked", "mint", "nft", "mint of a group", "credentials"} {
		if seen[kind] == 0 {
			t.Errorf("no output is %s: %v", kind, seen)
		}
	}
}

func (l *rows) checkOutput(kind txs.Chain, o datatest.Object, seen map[string]int) {
	l.t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(o["utxoBytes"].(string), "0x"))
	if err != nil {
		l.t.Fatal(err)
	}
	made := l.Rules.BlockchainID(txs.PChain).String()
	parsed, err := txs.ParseUTXO(kind, raw[:len(raw)-4])
	if err != nil {
		l.t.Fatal(err)
	}
	id, owners, amount := parsed.InputID(), parsed.Owners(), parsed.Amount()
	switch parsed.Out.(type) {
	case *txs.NFTTransferOutput, *txs.PropertyOwnedOutput:
		amount = 1
	}
	row, stored := l.outputs[id]
	want := datatest.Object{"addresses": l.bech32s(owners.Addresses), "asset": l.amount(parsed.AssetID, amount), "threshold": owners.Threshold,
		"utxoId": id.String(), "createdOnChainId": made, "consumedOnChainId": made}
	var spender *parsedTx
	if stored {
		want["createdOnChainId"], want["consumedOnChainId"] = l.Rules.BlockchainID(l.Kind(row.ID.Chain())).String(), l.Rules.BlockchainID(l.Kind(row.Chain)).String()
		if row.ID.Chain() != row.Chain {
			seen["crossing"]++
		}
		if row.Spent != nil {
			spender = l.at[*row.Spent]
			want["consumingTxHash"] = ids.ID(spender.row.Hash).String()
			seen["spent"]++
		}
	}
	if spender == nil {
		seen["kept"]++
	}
	if kind == txs.PChain {
		want["amount"], want["assetId"], want["outputIndex"], want["txHash"] = fmt.Sprint(amount), parsed.AssetID.String(), parsed.OutputIndex, parsed.TxID.String()
		want["platformLocktime"], want["utxoType"] = owners.Locktime, "TRANSFER"
		if until := parsed.StakeableUntil(); until > 0 {
			want["stakeableLocktime"], want["utxoType"] = until, "STAKE"
		}
		if spender != nil {
			want["consumingBlockNumber"], want["consumingBlockTimestamp"] = fmt.Sprint(spender.row.ID.Number()), spender.time
		}
		if !stored {
			seen["staked"]++
			staking := l.txs[parsed.TxID]
			want["blockNumber"], want["blockTimestamp"] = fmt.Sprint(staking.row.ID.Number()), staking.time
			if s, _ := l.stakerOf(staking); o["utxoStartTimestamp"] == nil || datatest.Integer(o["utxoStartTimestamp"]) != s.Start || o["staked"] != true {
				l.t.Errorf("stake %v began at %d", o, s.Start)
			}
		}
	} else {
		want["creationTxHash"], want["outputIndex"], want["locktime"], want["utxoType"] = parsed.TxID.String(), fmt.Sprint(parsed.OutputIndex), owners.Locktime, "transfer"
		switch out := parsed.Out.(type) {
		case *txs.MintOutput, *txs.PropertyMintOutput:
			want["utxoType"] = "mint"
			seen["mint"]++
		case *txs.NFTMintOutput:
			want["utxoType"], want["groupId"] = "mint", out.GroupID
			seen["mint of a group"]++
		case *txs.NFTTransferOutput:
			want["groupId"], want["payload"] = out.GroupID, hexutil.Encode(out.Payload)
			seen["nft"]++
		}
		if spender != nil {
			want["consumingTxTimestamp"] = spender.time
			i := slices.IndexFunc(spender.SpentOutputs(), func(c txs.SpentOutput) bool { return c.InputID() == id })
			if len(spender.SpentOutputs()) == len(spender.Credentials) {
				want["credentials"] = credentials(l.t, spender.Tx, i)
				seen["credentials"]++
			}
		}
	}
	for name, value := range want {
		if datatest.Encode(o[name]) != datatest.Encode(value) {
			l.t.Errorf("%s of output %s is %s: want %s", name, id, datatest.Encode(o[name]), datatest.Encode(value))
		}
	}
	for _, name := range []string{"consumingTxHash", "consumingBlockNumber", "consumingBlockTimestamp", "consumingTxTimestamp", "stakeableLocktime", "groupId", "payload"} {
		if want[name] == nil && o[name] != nil {
			l.t.Errorf("output %s has %s %v", id, name, o[name])
		}
	}
}

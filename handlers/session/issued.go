package session

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/utils/hashing"

	"snowglobe/fixtures/worldfile"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// issued is a transaction of the P- or X-Chain, or an atomic one of the C-Chain, to be described.
type issued struct {
	names   *names
	network *sim.Network
	chain   txs.Chain
	tx      *txs.Tx
	signers []ids.ShortID
}

// issuedWords describes what the bytes of a transaction do on a chain, "" for bytes that are none.
func (n *names) issuedWords(chain, data string) string {
	ref, err := worldfile.ParseChain(chain)
	at := slices.IndexFunc(n.world.Networks, func(w *sim.Network) bool { return w.Name == ref.Network })
	kind, known := map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain, "C": txs.CChain}[ref.Name]
	raw, wrong := formatting.Decode(formatting.Hex, data)
	if err != nil || at < 0 || !known || wrong != nil {
		return ""
	}
	i := &issued{names: n, network: n.world.Networks[at], chain: kind}
	if i.tx, err = txs.ParseTx(kind, raw); err != nil {
		return ""
	}
	i.findSigners()
	return i.words()
}

// findSigners recovers who has signed, each once.
func (i *issued) findSigners() {
	var seen []txs.Signature
	for c := range i.tx.Credentials {
		for _, sig := range i.tx.Signatures(c) {
			if slices.Contains(seen, sig) {
				continue
			}
			seen = append(seen, sig)
			if key, err := i.tx.PublicKey(sig); err == nil {
				if a, err := ids.ToShortID(hashing.PubkeyBytesToAddress(key)); err == nil && !slices.Contains(i.signers, a) {
					i.signers = append(i.signers, a)
				}
			}
		}
	}
}

func (i *issued) words() string {
	who := "someone"
	if len(i.signers) > 0 {
		who = i.show(i.signers)
	}
	until := func(v *txs.Validator) string { return fmt.Sprintf("%s until %s", v.NodeID, timeOf(v.End)) }
	switch u := i.tx.Unsigned.(type) {
	case *txs.BaseTx:
		return who + " sends " + i.paid(u.Outs, who)
	case *txs.ImportTx:
		return who + " imports " + i.imported(u.ImportedInputs) + " from " + i.chainOf(u.SourceChain)
	case *txs.AtomicImportTx:
		return who + " imports " + i.imported(u.ImportedInputs) + " from " + i.chainOf(u.SourceChain)
	case *txs.ExportTx:
		return who + " exports " + i.paid(u.ExportedOutputs, who) + " on " + i.chainOf(u.DestinationChain)
	case *txs.AtomicExportTx:
		return who + " exports " + i.paid(u.ExportedOutputs, who) + " on " + i.chainOf(u.DestinationChain)
	case *txs.AddPermissionlessValidatorTx:
		return who + " stakes " + i.sum(u.StakeOuts) + " with " + until(&u.Validator)
	case *txs.AddPermissionlessDelegatorTx:
		return who + " delegates " + i.sum(u.StakeOuts) + " to " + until(&u.Validator)
	case *txs.AddAutoRenewedValidatorTx:
		node, _ := ids.ToNodeID(u.ValidatorNodeID) // the chain refuses one of another length
		return fmt.Sprintf("%s stakes %s with %s, renewed every %s", who, i.sum(u.StakeOuts), node, time.Duration(u.Period)*time.Second)
	}
	return who + " issues " + i.tx.TypeName()
}

func timeOf(unix uint64) string { return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339) }

// paid lists what outputs give to others than the only signer, or to that one if nobody else gets anything.
func (i *issued) paid(outs []*txs.TransferableOutput, who string) string {
	byOwner := map[string][]*txs.TransferableOutput{}
	var owners []string
	for _, out := range outs {
		owner := i.owner(out.Out.Owners())
		if byOwner[owner] == nil {
			owners = append(owners, owner)
		}
		byOwner[owner] = append(byOwner[owner], out)
	}
	if len(owners) > 1 {
		owners = slices.DeleteFunc(owners, func(owner string) bool { return owner == who })
	}
	var all []string
	for _, owner := range owners {
		all = append(all, i.sum(byOwner[owner])+" to "+owner)
	}
	return strings.Join(all, ", ")
}

func (i *issued) sum(outs []*txs.TransferableOutput) string {
	return total(i, outs, func(out *txs.TransferableOutput) (ids.ID, uint64) { return out.AssetID, txs.AmountOf(out.Out) })
}

func (i *issued) imported(ins []*txs.TransferableInput) string {
	return total(i, ins, func(in *txs.TransferableInput) (ids.ID, uint64) { return in.AssetID, in.In.TransferInput().Amount })
}

// total adds up what outputs or inputs have of each asset.
func total[T any](i *issued, parts []T, amount func(T) (ids.ID, uint64)) string {
	sums := map[ids.ID]*big.Int{}
	for _, part := range parts {
		asset, n := amount(part)
		if sums[asset] == nil {
			sums[asset] = new(big.Int)
		}
		sums[asset].Add(sums[asset], new(big.Int).SetUint64(n))
	}
	var all []string
	for asset, sum := range sums {
		if asset == i.network.Rules.AVAXAssetID {
			all = append(all, decimal(sum, nanoDecimals)+" AVAX")
		} else {
			all = append(all, fmt.Sprintf("%d of %s", sum, asset))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

func (i *issued) chainOf(id ids.ID) string {
	if c, known := i.network.Rules.ChainOf(id); known {
		return c.String()
	}
	return id.String()
}

func (i *issued) owner(o *txs.OutputOwners) string {
	if len(o.Addresses) == 1 {
		return i.show(o.Addresses)
	}
	return fmt.Sprintf("%d of %s", o.Threshold, i.show(o.Addresses))
}

// show names addresses.
func (i *issued) show(addresses []ids.ShortID) string {
	var all []string
	for _, a := range addresses {
		name := i.names.owners()[a]
		if name == "" {
			name = i.network.Rules.Address(i.chain, a)
		}
		all = append(all, name)
	}
	return strings.Join(all, " and ")
}

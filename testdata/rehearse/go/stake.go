package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/txs"
)

const (
	nano = 1_000_000_000 // of an AVAX
	day  = 24 * 60 * 60

	stake = 100 * nano
	fee   = nano / 100 // covers every fee
)

// delegator is a delegation as platform.getCurrentValidators shows it.
type delegator struct {
	TxID                                        string
	StartTime, EndTime, Weight, PotentialReward json.Number
}

func number(n json.Number) *big.Int {
	b, _ := new(big.Int).SetString(n.String(), 10) // the node answers with decimal numbers
	return b
}

// reward is what a stake earns by the rates that the network had from its beginning until Helicon, of all AVAX that there will ever be.
func reward(d *delegator, supply *big.Int) *big.Int {
	const million, most, least = 1_000_000, 120_000, 100_000
	year, duration := big.NewInt(365*day), new(big.Int).Sub(number(d.EndTime), number(d.StartTime))
	rate := new(big.Int).Mul(big.NewInt(most-least), duration)
	rate.Add(rate, new(big.Int).Mul(big.NewInt(least), year))
	r := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(720_000_000), big.NewInt(nano)), supply)
	r.Mul(r, rate).Mul(r, number(d.Weight)).Mul(r, duration)
	r.Div(r, new(big.Int).Mul(year, big.NewInt(million))).Div(r, supply)
	return r.Div(r, year)
}

// delegate delegates ten days from now until the last validator ends, and expects the reward that it has calculated.
func delegate() error {
	advance, err := http.Post(os.Getenv("SNOWGLOBE_URL")+"/sim/clock", "application/json", bytes.NewReader([]byte(`{"advance":"240h"}`)))
	if err != nil {
		return err
	}
	advance.Body.Close()
	key, err := txs.KeyFromBytes(common.FromHex(os.Getenv("SNOWGLOBE_WHALE_KEY")))
	if err != nil {
		return err
	}
	asset, owner := struct{ AssetID ids.ID }{}, txs.NewOwner(key.Address())
	var unspent struct{ UTXOs []string }
	var supply struct{ Supply json.Number }
	var current struct {
		Validators []struct {
			NodeID     ids.NodeID
			EndTime    json.Number
			Delegators []delegator
		}
	}
	address := txs.FormatAddress(txs.PChain, "avax", key.Address())
	if err := errors.Join(platform(&asset, "getStakingAssetID", nil), platform(&unspent, "getUTXOs", map[string]any{"addresses": []string{address}}),
		platform(&supply, "getCurrentSupply", nil), platform(&current, "getCurrentValidators", nil)); err != nil {
		return err
	}
	tx := &txs.AddPermissionlessDelegatorTx{RewardsOwner: &owner, StakeOuts: []*txs.TransferableOutput{txs.NewTransferableOutput(asset.AssetID, stake, owner)}}
	tx.BaseTx = txs.BaseTx{NetworkID: 1, Memo: txs.HexBytes{}, Outs: []*txs.TransferableOutput{}}
	for _, text := range unspent.UTXOs {
		raw, err := formatting.Decode(formatting.Hex, text)
		if err != nil {
			return err
		}
		u, err := txs.ParseUTXO(txs.PChain, raw)
		if err != nil {
			return err
		}
		out, plain := u.Out.(*txs.TransferOutput)
		if plain && u.AssetID == asset.AssetID && out.Amount > stake+fee && out.OutputOwners.Equals(&owner) {
			tx.Outs = []*txs.TransferableOutput{txs.NewTransferableOutput(u.AssetID, out.Amount-stake-fee, owner)}
			tx.Ins = []*txs.TransferableInput{{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: out.Amount, Input: txs.Input{SigIndices: []uint32{0}}}}}
			break
		}
	}
	best := current.Validators[0]
	for _, v := range current.Validators {
		if number(v.EndTime).Cmp(number(best.EndTime)) > 0 {
			best = v
		}
	}
	tx.Validator = txs.Validator{NodeID: best.NodeID, End: number(best.EndTime).Uint64(), Weight: stake}
	signed, err := txs.NewSigned(txs.PChain, tx, []*txs.Key{key})
	if err != nil {
		return err
	}
	text, err := formatting.Encode(formatting.Hex, signed.Bytes())
	if err != nil {
		return err
	}
	if err := errors.Join(platform(&struct{}{}, "issueTx", map[string]any{"tx": text, "encoding": "hex"}),
		platform(&current, "getCurrentValidators", map[string]any{"nodeIDs": []ids.NodeID{best.NodeID}})); err != nil {
		return err
	}
	for _, d := range current.Validators[0].Delegators {
		switch expected := reward(&d, number(supply.Supply)); {
		case d.TxID != signed.ID().String():
		case expected.Cmp(number(d.PotentialReward)) != 0:
			return fmt.Errorf("the reward will be %s nAVAX, not %s", d.PotentialReward, expected)
		default:
			return nil
		}
	}
	return errors.New("the delegation is missing")
}

// platform calls a method of the P-Chain.
func platform(result any, method string, params any) error {
	return callAt(os.Getenv("SNOWGLOBE_URL")+"/ext/bc/P", result, "platform."+method, params)
}

package data

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// AssetAmount is an amount of an asset.
type AssetAmount struct {
	AssetID      string `json:"assetId" format:"cb58"`
	Name         string `json:"name"`
	Symbol       string `json:"symbol"`
	Denomination int    `json:"denomination"`
	Type         string `json:"type" enum:"secp256k1,nft"`
	Amount       string `json:"amount" format:"uint"`
}

// avax is an amount of nAVAX.
func avax(l *sim.Ledger, amount uint64) AssetAmount {
	return AssetAmount{l.Rules.AVAXAssetID.String(), "Avalanche", "AVAX", 9, "secp256k1", decimals(amount)}
}

// BlsCredentials are a BLS key with the proof that someone has its secret.
type BlsCredentials struct {
	PublicKey         string `json:"publicKey" format:"hex"`
	ProofOfPossession string `json:"proofOfPossession" format:"hex"`
}

// blsCredentials are those of a transaction with a signer, nil for one without.
func blsCredentials(key, proof []byte) *BlsCredentials {
	if key == nil {
		return nil
	}
	return &BlsCredentials{hexutil.Encode(key), hexutil.Encode(proof)}
}

// BlsKey is the key with which an L1 validator signs.
type BlsKey struct {
	PublicKey string `json:"publicKey" format:"hex"`
}

// perPercent is a percent of what shares and uptimes are counted in, a million.
const perPercent = 10_000

// percentage writes a part of a million as percent with the sixteen places of the live service; empty for none.
func percentage(millionths int64) string {
	if millionths == noValue {
		return ""
	}
	return fmt.Sprintf("%d.%04d000000000000", millionths/perPercent, millionths%perPercent)
}

// owned tells whether one of the addresses is in a control group.
func owned(owner []byte, addresses []ids.ShortID) bool {
	return slices.ContainsFunc(store.ParseOwners(owner).Addresses, func(o []byte) bool {
		return slices.Contains(addresses, ids.ShortID(o))
	})
}

// rewardOwners are all whom a staker's rewards go to, each once.
func rewardOwners(s *store.Staker) [][]byte {
	owners := store.ParseOwners(s.Owner).Addresses
	for _, o := range store.ParseOwners(s.FeeOwner).Addresses {
		if !slices.ContainsFunc(owners, func(p []byte) bool { return bytes.Equal(o, p) }) {
			owners = append(owners, o)
		}
	}
	return owners
}

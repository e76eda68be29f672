package data

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
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

// AVAX returns an amount of nAVAX.
func AVAX(n *sim.Network, amount uint64) AssetAmount {
	return AssetAmount{n.Rules.AVAXAssetID.String(), "Avalanche", "AVAX", 9, "secp256k1", Decimals(amount)}
}

// BlsCredentials is a BLS key with its proof of possession.
type BlsCredentials struct {
	PublicKey         string `json:"publicKey" format:"hex"`
	ProofOfPossession string `json:"proofOfPossession" format:"hex"`
}

// NewBlsCredentials returns the credentials of a transaction's signer, or nil without one.
func NewBlsCredentials(key, proof []byte) *BlsCredentials {
	if key == nil {
		return nil
	}
	return &BlsCredentials{hexutil.Encode(key), hexutil.Encode(proof)}
}

// BlsKey is an L1 validator's BLS key.
type BlsKey struct {
	PublicKey string `json:"publicKey" format:"hex"`
}

// Percentage formats a part of a million as percent with sixteen decimals, as the live service does; "" for none.
func Percentage(millionths int64) string {
	if millionths == query.NoValue {
		return ""
	}
	return fmt.Sprintf("%d.%04d000000000000", millionths/rules.Percent, millionths%rules.Percent)
}

// OwnedBy reports whether one of the addresses is in a control group.
func OwnedBy(owner []byte, addresses []ids.ShortID) bool {
	return slices.ContainsFunc(store.ParseOutputOwners(owner).Addresses, func(o []byte) bool {
		return slices.Contains(addresses, ids.ShortID(o))
	})
}

// RewardOwners returns a staker's reward owners without duplicates.
func RewardOwners(s *store.Staker) [][]byte {
	owners := store.ParseOutputOwners(s.Owner).Addresses
	for _, o := range store.ParseOutputOwners(s.FeeOwner).Addresses {
		if !slices.ContainsFunc(owners, func(p []byte) bool { return bytes.Equal(o, p) }) {
			owners = append(owners, o)
		}
	}
	return owners
}

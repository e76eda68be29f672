package primary

import (
	"bytes"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// PrimaryAsset is an asset of the X-Chain.
type PrimaryAsset struct {
	AssetID            string `json:"assetId" format:"cb58"`
	Name               string `json:"name"`
	Symbol             string `json:"symbol"`
	Denomination       int    `json:"denomination"`
	Type               string `json:"type" enum:"secp256k1,nft"`
	CreatedAtTimestamp int64  `json:"createdAtTimestamp"`
	Cap                string `json:"cap" enum:"fixed,variable" doc:"Whether the asset's supply can grow."`
}

func (a *primaryAPI) assetOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "getAsset", Path: primaryBlocksPath + "/assets/{assetId}", Summary: "Get an asset of the X-Chain",
		Params: data.JoinParams(data.PathNetworkParam, xChainParam, rest.Param{Name: "assetId", Kind: schema.KindID}),
		Answer: reflect.TypeFor[PrimaryAsset](), Handle: a.onPrimary(a.getAsset),
	}}
}

func (a *primaryAPI) getAsset(r *rest.Request, c *primaryChain) (any, error) {
	id := rest.Value[ids.ID](r, "assetId")
	shown, err := a.view(r, c.Network).primaryAsset(id[:])
	return shown, data.OrNotFound(err, rest.NotFound("asset %s does not exist on the X-Chain of %s", id, c.Name))
}

// primaryAsset returns the X-Chain asset with this id.
func (b *chainView) primaryAsset(id []byte) (*PrimaryAsset, error) {
	row, err := b.DB.AssetByHash(b.Ctx, b.Chain(txs.XChain), id)
	if err != nil {
		return nil, err
	}
	made, err := b.BlockTime(row.ID)
	if err != nil {
		return nil, err
	}
	shown := &PrimaryAsset{AssetID: data.CB58(id), Name: row.Name, Symbol: row.Symbol, Denomination: int(row.Denomination), Type: assetType(row),
		CreatedAtTimestamp: made.Unix, Cap: "fixed"}
	if row.ID.Number() == 0 {
		shown.CreatedAtTimestamp = fixtures.PrimaryNetworkTime
		return shown, nil
	}
	tx, err := b.Tx(txs.XChain, row.ID)
	if err != nil {
		return nil, err
	}
	if u, ok := tx.Unsigned.(*txs.CreateAssetTx); ok && mintable(u) {
		shown.Cap = "variable"
	}
	return shown, nil
}

// nftFx is the index of the feature extension for NFTs.
const nftFx = 1

func assetType(a *store.PrimaryAsset) string {
	if bytes.IndexByte(a.Fxs, nftFx) >= 0 {
		return "nft"
	}
	return "secp256k1"
}

// mintable reports whether an asset was created with a right to mint more of it.
func mintable(u *txs.CreateAssetTx) bool {
	for _, state := range u.States {
		for _, out := range state.Outs {
			switch out.(type) {
			case *txs.MintOutput, *txs.NFTMintOutput, *txs.PropertyMintOutput:
				return true
			}
		}
	}
	return false
}

package avm

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
)

// AssetArgs names an asset by its id or alias.
type AssetArgs struct {
	AssetID string `json:"assetID"`
}

// AssetReply describes an asset.
type AssetReply struct {
	AssetID      ids.ID        `json:"assetID"`
	Name         string        `json:"name"`
	Symbol       string        `json:"symbol"`
	Denomination jsonrpc.Uint8 `json:"denomination"`
}

// avaxAlias is the only alias of an asset.
const avaxAlias = "AVAX"

var errNoAsset = errors.New("transaction doesn't create an asset")

// asset resolves an asset's id. The asset need not exist.
func (a *Service) asset(name string) (ids.ID, error) {
	if name == avaxAlias {
		return a.Network.Rules.AVAXAssetID, nil
	}
	id, err := parse.ID(name)
	if err != nil {
		return ids.Empty, fmt.Errorf("asset '%s' not found", name)
	}
	return id, nil
}

// GetAssetDescription returns an asset's name, symbol and denomination.
func (a *Service) GetAssetDescription(r *http.Request, args *AssetArgs, reply *AssetReply) error {
	id, err := a.asset(args.AssetID)
	if err != nil {
		return err
	}
	row, err := a.Network.DB.AssetByHash(r.Context(), a.StoreChain(), id[:])
	if errors.Is(err, store.ErrNotFound) {
		return a.notAsset(r, id)
	}
	*reply = AssetReply{id, row.Name, row.Symbol, jsonrpc.Uint8(row.Denomination)}
	return err
}

// notAsset returns different errors for an id of something else and for an unknown id.
func (a *Service) notAsset(r *http.Request, id ids.ID) error {
	if _, err := a.Network.DB.PrimaryTxByHash(r.Context(), a.StoreChain(), id[:]); err != nil {
		return err
	}
	return errNoAsset
}

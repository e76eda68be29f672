package data

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// UTXO is an output as the X- and the C-Chain show it.
type UTXO struct {
	Addresses            []string         `json:"addresses"`
	Asset                AssetAmount      `json:"asset"`
	ConsumedOnChainID    string           `json:"consumedOnChainId" format:"cb58" doc:"Where it can be or was spent."`
	ConsumingTxHash      string           `json:"consumingTxHash,omitempty" format:"cb58"`
	CreatedOnChainID     string           `json:"createdOnChainId" format:"cb58"`
	UTXOID               string           `json:"utxoId" format:"cb58"`
	UTXOBytes            string           `json:"utxoBytes,omitempty" doc:"Hexadecimal with a checksum, as a node's getUTXOs gives them."`
	ConsumingTxTimestamp int64            `json:"consumingTxTimestamp,omitempty"`
	CreationTxHash       string           `json:"creationTxHash" format:"cb58" doc:"Of an output of the genesis: the asset's id. No transaction made it."`
	Credentials          []UTXOCredential `json:"credentials,omitempty" doc:"That let the consuming transaction spend it."`
	GroupID              *uint32          `json:"groupId,omitempty" doc:"Of an NFT, or of the right to mint some."`
	Locktime             uint64           `json:"locktime"`
	OutputIndex          string           `json:"outputIndex" format:"uint"`
	Payload              string           `json:"payload,omitempty" format:"hex" doc:"Of an NFT."`
	Threshold            uint32           `json:"threshold"`
	Timestamp            int64            `json:"timestamp"`
	UTXOType             string           `json:"utxoType" enum:"transfer,mint" doc:"mint is the right to make more of the asset."`
}

// PlatformUTXO is an output as the P-Chain shows it.
type PlatformUTXO struct {
	Addresses               []string    `json:"addresses"`
	Asset                   AssetAmount `json:"asset"`
	ConsumedOnChainID       string      `json:"consumedOnChainId" format:"cb58" doc:"Where it can be or was spent."`
	ConsumingTxHash         string      `json:"consumingTxHash,omitempty" format:"cb58"`
	CreatedOnChainID        string      `json:"createdOnChainId" format:"cb58"`
	UTXOID                  string      `json:"utxoId" format:"cb58"`
	UTXOBytes               string      `json:"utxoBytes,omitempty" doc:"Hexadecimal with a checksum, as a node's getUTXOs gives them."`
	Amount                  string      `json:"amount" format:"uint" deprecated:"true" doc:"As in asset."`
	AssetID                 string      `json:"assetId" format:"cb58" deprecated:"true" doc:"As in asset."`
	BlockNumber             string      `json:"blockNumber" format:"uint" doc:"Of the block that made it, on the chain that did."`
	BlockTimestamp          int64       `json:"blockTimestamp"`
	ConsumingBlockNumber    string      `json:"consumingBlockNumber,omitempty" format:"uint"`
	ConsumingBlockTimestamp int64       `json:"consumingBlockTimestamp,omitempty"`
	PlatformLocktime        uint64      `json:"platformLocktime"`
	OutputIndex             uint32      `json:"outputIndex"`
	RewardType              string      `json:"rewardType,omitempty" enum:"VALIDATOR,DELEGATOR,VALIDATOR_FEE" doc:"Of an output that pays a reward."`
	StakeableLocktime       uint64      `json:"stakeableLocktime,omitempty"`
	Staked                  bool        `json:"staked" doc:"Whether it is locked until a validation or delegation ends."`
	Threshold               uint32      `json:"threshold"`
	TxHash                  string      `json:"txHash" format:"cb58" doc:"Of an output of the genesis: 11111111111111111111111111111111LpoYY. No transaction made it."`
	UTXOEndTimestamp        int64       `json:"utxoEndTimestamp,omitempty" doc:"When the stake ends."`
	UTXOStartTimestamp      int64       `json:"utxoStartTimestamp,omitempty" doc:"When the stake began."`
	UTXOType                string      `json:"utxoType" enum:"STAKE,TRANSFER" doc:"STAKE is or was staked."`
}

// anyOutput is an output in the shape of a chain.
type anyOutput struct{}

// Schema is one of the shapes.
func (anyOutput) Schema(d *handlers.Schemas) *handlers.Schema {
	return either(d, reflect.TypeFor[PlatformUTXO](), reflect.TypeFor[UTXO]())
}

// outputKey is an output in a state that does not change any more, in one of its shapes.
type outputKey struct {
	number store.UTXONumber
	live   bool
	kind   primary.Chain
}

// text is an output as JSON in a chain's shape, or is remembered.
func (b *book) text(kind primary.Chain, number store.UTXONumber, live bool) (written, error) {
	key := outputKey{number, live, kind}
	if text, ok := b.api.memory.outputs.Get(key); ok {
		return text, nil
	}
	row, err := b.DB.UTXO(b.ctx, number)
	if err != nil {
		return nil, err
	}
	o, err := b.output(row)
	if err != nil {
		return nil, err
	}
	shown, err := b.shape(kind, o)
	if err != nil {
		return nil, err
	}
	text, err := marshal(shown)
	if err == nil {
		b.api.memory.outputs.Add(outputKey{number, row.Spent == nil, kind}, text)
	}
	return text, err
}

// shape is an output as a chain shows it.
func (b *book) shape(kind primary.Chain, o *output) (any, error) {
	if kind == primary.PChain {
		return b.platformUTXO(o)
	}
	return b.exchangeUTXO(o)
}

func (b *book) platformUTXO(o *output) (PlatformUTXO, error) {
	asset, err := b.asset(o.AssetID, o.amount())
	if err != nil {
		return PlatformUTXO{}, err
	}
	shown := PlatformUTXO{
		Addresses: shortBech32s(b.Rules, o.Owners().Addresses), Asset: asset, ConsumedOnChainID: b.Rules.BlockchainID(o.usedBy).String(),
		ConsumingTxHash: o.spentBy, CreatedOnChainID: b.Rules.BlockchainID(o.madeBy).String(), UTXOID: o.id.String(),
		Amount: asset.Amount, AssetID: asset.AssetID, BlockNumber: decimals(o.height), BlockTimestamp: o.made.unix,
		PlatformLocktime: o.Owners().Locktime, OutputIndex: o.OutputIndex, RewardType: o.reward, StakeableLocktime: o.StakeableUntil(),
		Staked: o.locked, Threshold: o.Owners().Threshold, TxHash: o.TxID.String(), UTXOType: "TRANSFER",
	}
	if o.spent != nil {
		shown.ConsumingBlockNumber, shown.ConsumingBlockTimestamp = decimals(o.spent.Number()), o.used.unix
	}
	if o.staker != nil {
		shown.UTXOType, shown.UTXOStartTimestamp, shown.UTXOEndTimestamp = "STAKE", o.staker.Start, o.staker.End
	}
	shown.UTXOBytes, err = formatting.Encode(formatting.Hex, o.raw)
	return shown, err
}

func (b *book) exchangeUTXO(o *output) (UTXO, error) {
	asset, err := b.asset(o.AssetID, o.amount())
	if err != nil {
		return UTXO{}, err
	}
	shown := UTXO{
		Addresses: shortBech32s(b.Rules, o.Owners().Addresses), Asset: asset, ConsumedOnChainID: b.Rules.BlockchainID(o.usedBy).String(),
		ConsumingTxHash: o.spentBy, CreatedOnChainID: b.Rules.BlockchainID(o.madeBy).String(), UTXOID: o.id.String(), CreationTxHash: o.TxID.String(),
		Locktime: o.Owners().Locktime, OutputIndex: strconv.FormatUint(uint64(o.OutputIndex), 10), Threshold: o.Owners().Threshold,
		Timestamp: o.made.unix, UTXOType: "transfer",
	}
	switch out := o.Out.(type) {
	case *primary.MintOutput, *primary.PropertyMintOutput:
		shown.UTXOType = "mint"
	case *primary.NFTMintOutput:
		shown.UTXOType, shown.GroupID = "mint", &out.GroupID
	case *primary.NFTTransferOutput:
		shown.GroupID, shown.Payload = &out.GroupID, hexutil.Encode(out.Payload)
	}
	if o.spent != nil {
		w, err := b.witnesses(*o.spent)
		if err != nil {
			return UTXO{}, err
		}
		shown.ConsumingTxTimestamp, shown.Credentials = o.used.unix, w[o.id]
	}
	shown.UTXOBytes, err = formatting.Encode(formatting.Hex, o.raw)
	return shown, err
}

// amount is what an output holds of its asset: one of an NFT or a property, none as a right to mint.
func (o *output) amount() uint64 {
	switch o.Out.(type) {
	case *primary.NFTTransferOutput, *primary.PropertyOwnedOutput:
		return 1
	}
	return o.Amount()
}

// asset is an amount of an asset of the X-Chain, AVAX among them.
func (b *book) asset(id ids.ID, amount uint64) (AssetAmount, error) {
	if id == b.Rules.AVAXAssetID {
		return avax(b.Ledger, amount), nil
	}
	row, err := b.DB.AssetByHash(b.ctx, b.Chain(primary.XChain), id[:])
	if err != nil {
		return AssetAmount{}, fmt.Errorf("asset %s: %w", id, err)
	}
	return AssetAmount{id.String(), row.Name, row.Symbol, int(row.Denomination), assetType(row), decimals(amount)}, nil
}

// shortBech32s writes addresses of the network without a chain's prefix.
func shortBech32s(rules *primary.Network, addresses []ids.ShortID) []string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = rules.Bech32(a)
	}
	return texts
}

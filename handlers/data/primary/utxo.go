package primary

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"reflect"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// CommonUTXO holds the fields of an output that all chains share.
type CommonUTXO struct {
	Addresses         []string         `json:"addresses"`
	Asset             data.AssetAmount `json:"asset"`
	ConsumedOnChainID string           `json:"consumedOnChainId" format:"cb58" doc:"The chain that can spend the output, or that spent it."`
	ConsumingTxHash   string           `json:"consumingTxHash,omitempty" format:"cb58"`
	CreatedOnChainID  string           `json:"createdOnChainId" format:"cb58"`
	UTXOID            string           `json:"utxoId" format:"cb58"`
	UTXOBytes         string           `json:"utxoBytes,omitempty" doc:"Hexadecimal with a checksum, as in a node's getUTXOs."`
}

// UTXO is an output in the shape of the X- and C-Chain.
type UTXO struct {
	CommonUTXO
	ConsumingTxTimestamp int64            `json:"consumingTxTimestamp,omitempty"`
	CreationTxHash       string           `json:"creationTxHash" format:"cb58" doc:"For an output of the genesis, which no transaction created: the asset's id."`
	Credentials          []UTXOCredential `json:"credentials,omitempty" doc:"The credentials with which the consuming transaction spent it."`
	GroupID              *uint32          `json:"groupId,omitempty" doc:"Only for an NFT, or the right to mint some."`
	Locktime             uint64           `json:"locktime"`
	OutputIndex          string           `json:"outputIndex" format:"uint"`
	Payload              string           `json:"payload,omitempty" format:"hex" doc:"Only for an NFT."`
	Threshold            uint32           `json:"threshold"`
	Timestamp            int64            `json:"timestamp"`
	UTXOType             string           `json:"utxoType" enum:"transfer,mint" doc:"mint is the right to create more of the asset."`
}

// PlatformUTXO is an output in the P-Chain's shape.
type PlatformUTXO struct {
	CommonUTXO
	Amount                  string  `json:"amount" format:"uint" deprecated:"true" doc:"As in asset."`
	AssetID                 string  `json:"assetId" format:"cb58" deprecated:"true" doc:"As in asset."`
	BlockNumber             string  `json:"blockNumber" format:"uint" doc:"Number of the block that created the output, on its chain. For a reward, the block of the RewardValidatorTx; for a returned stake, the block of the staking transaction."`
	BlockTimestamp          int64   `json:"blockTimestamp"`
	ConsumingBlockNumber    string  `json:"consumingBlockNumber,omitempty" format:"uint"`
	ConsumingBlockTimestamp int64   `json:"consumingBlockTimestamp,omitempty"`
	PlatformLocktime        *uint64 `json:"platformLocktime,omitempty" doc:"Absent in lists for transfers between chains, as on the live service."`
	OutputIndex             uint32  `json:"outputIndex"`
	RewardType              string  `json:"rewardType,omitempty" enum:"VALIDATOR,DELEGATOR,VALIDATOR_FEE" doc:"Only for an output that pays a reward, and only in transactions."`
	StakeableLocktime       uint64  `json:"stakeableLocktime,omitempty"`
	Staked                  bool    `json:"staked" doc:"Whether the output is locked until a validation or delegation ends."`
	Threshold               uint32  `json:"threshold"`
	TxHash                  string  `json:"txHash" format:"cb58" doc:"For an output of the genesis, which no transaction created: 11111111111111111111111111111111LpoYY."`
	UTXOEndTimestamp        int64   `json:"utxoEndTimestamp,omitempty" doc:"When the stake ends; only for staked outputs."`
	UTXOStartTimestamp      int64   `json:"utxoStartTimestamp,omitempty" doc:"When the stake began; only for staked outputs."`
	UTXOType                string  `json:"utxoType" enum:"STAKE,TRANSFER" doc:"STAKE outputs have a stakeableLocktime, whether staked or not."`
}

// anyOutput is an output in a chain's shape.
type anyOutput struct{}

// Schema lists the shapes.
func (anyOutput) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[PlatformUTXO](), reflect.TypeFor[UTXO]())
}

// outputKey identifies an output in a final state, in one of its shapes.
type outputKey struct {
	number store.UTXONumber
	live   bool
	kind   txs.Chain
}

// text returns an output as JSON in a chain's shape, from the cache if it can.
func (b *chainView) text(kind txs.Chain, number store.UTXONumber, live bool) (data.RawJSON, error) {
	key := outputKey{number, live, kind}
	if text, ok := b.api.outputs.Get(key); ok {
		return text, nil
	}
	o, err := b.OutputNumbered(number)
	if err != nil {
		return nil, err
	}
	shown, err := b.listed(kind, o)
	if err != nil {
		return nil, err
	}
	text, err := data.Marshal(shown)
	if err == nil {
		b.api.outputs.Add(outputKey{number, o.Spent == nil, kind}, text)
	}
	return text, err
}

// listed returns an output in the shape of a chain's list, without the fields that only transactions show.
func (b *chainView) listed(kind txs.Chain, o *query.Output) (any, error) {
	if kind != txs.PChain {
		return b.xChainUTXO(o)
	}
	shown, err := b.pChainUTXO(o)
	if shown.RewardType = ""; o.MadeBy != o.UsedBy {
		shown.PlatformLocktime = nil
	}
	return shown, err
}

func (b *chainView) commonUTXO(o *query.Output) (shown CommonUTXO, err error) {
	if shown.Asset, err = b.asset(o.AssetID, o.Amount()); err != nil {
		return shown, err
	}
	shown.Addresses, shown.UTXOID = data.Bech32s(b.Rules, o.Owners().Addresses), o.ID.String()
	shown.CreatedOnChainID = b.Rules.BlockchainID(o.MadeBy).String()
	shown.ConsumedOnChainID, shown.ConsumingTxHash = b.Rules.BlockchainID(o.UsedBy).String(), o.SpentBy
	shown.UTXOBytes, err = formatting.Encode(formatting.Hex, o.Raw)
	return shown, err
}

func (b *chainView) pChainUTXO(o *query.Output) (PlatformUTXO, error) {
	common, err := b.commonUTXO(o)
	locktime := o.Owners().Locktime
	shown := PlatformUTXO{
		CommonUTXO: common, Amount: common.Asset.Amount, AssetID: common.Asset.AssetID, BlockNumber: data.Decimals(o.Height),
		BlockTimestamp: o.Made.Unix, PlatformLocktime: &locktime, OutputIndex: o.OutputIndex, RewardType: o.Reward,
		StakeableLocktime: o.StakeableUntil(), Staked: o.Locked, Threshold: o.Owners().Threshold, TxHash: o.TxID.String(), UTXOType: "TRANSFER",
	}
	if o.Spent != nil {
		shown.ConsumingBlockNumber, shown.ConsumingBlockTimestamp = data.Decimals(o.Spent.Number()), o.Used.Unix
	}
	if shown.StakeableLocktime != 0 {
		shown.UTXOType = "STAKE"
	}
	if o.Staker != nil {
		shown.UTXOStartTimestamp, shown.UTXOEndTimestamp = o.Staker.Start, o.Staker.End
	}
	return shown, err
}

func (b *chainView) xChainUTXO(o *query.Output) (UTXO, error) {
	common, err := b.commonUTXO(o)
	if err != nil {
		return UTXO{}, err
	}
	shown := UTXO{
		CommonUTXO: common, CreationTxHash: o.TxID.String(), Locktime: o.Owners().Locktime,
		OutputIndex: strconv.FormatUint(uint64(o.OutputIndex), 10), Threshold: o.Owners().Threshold, Timestamp: o.Made.Unix, UTXOType: "transfer",
	}
	switch out := o.Out.(type) {
	case *txs.MintOutput, *txs.PropertyMintOutput:
		shown.UTXOType = "mint"
	case *txs.NFTMintOutput:
		shown.UTXOType, shown.GroupID = "mint", &out.GroupID
	case *txs.NFTTransferOutput:
		shown.GroupID, shown.Payload = &out.GroupID, hexutil.Encode(out.Payload)
	}
	if o.Spent != nil {
		w, err := b.txCredentials(*o.Spent)
		if err != nil {
			return UTXO{}, err
		}
		shown.ConsumingTxTimestamp, shown.Credentials = o.Used.Unix, w[o.ID]
	}
	return shown, nil
}

// asset returns an amount of an X-Chain asset, AVAX included.
func (b *chainView) asset(id ids.ID, amount uint64) (data.AssetAmount, error) {
	if id == b.Rules.AVAXAssetID {
		return data.AVAX(b.Network, amount), nil
	}
	row, err := b.DB.AssetByHash(b.Ctx, b.Chain(txs.XChain), id[:])
	if err != nil {
		return data.AssetAmount{}, fmt.Errorf("asset %s: %w", id, err)
	}
	return data.AssetAmount{AssetID: id.String(), Name: row.Name, Symbol: row.Symbol, Denomination: int(row.Denomination), Type: assetType(row),
		Amount: data.Decimals(amount)}, nil
}

// sums adds up amounts by asset, in order of first appearance.
func (b *chainView) sums(outputs []*query.Output) ([]data.AssetAmount, error) {
	var order []ids.ID
	totals := map[ids.ID]*big.Int{}
	for _, o := range outputs {
		if totals[o.AssetID] == nil {
			order = append(order, o.AssetID)
			totals[o.AssetID] = new(big.Int)
		}
		totals[o.AssetID].Add(totals[o.AssetID], new(big.Int).SetUint64(o.Amount()))
	}
	return data.TryList(order, func(id ids.ID) (data.AssetAmount, error) {
		sum, err := b.asset(id, 0)
		sum.Amount = totals[id].String()
		return sum, err
	})
}

// txCredentials maps the outputs that a transaction spends to its credentials.
type txCredentials map[ids.ID][]UTXOCredential

// UTXOCredential is a signature with the key that made it.
type UTXOCredential struct {
	Signature string `json:"signature,omitempty" doc:"Base64."`
	PublicKey string `json:"publicKey,omitempty" doc:"Base64, compressed."`
}

// txCredentials returns the credentials of the transaction at a position.
func (b *chainView) txCredentials(at store.Position) (txCredentials, error) {
	if w, ok := b.api.credentials.Get(at); ok {
		return w, nil
	}
	tx, err := b.Tx(b.Kind(at.Chain()), at)
	if err != nil {
		return nil, err
	}
	w, known := txCredentials{}, map[txs.Signature]UTXOCredential{}
	for _, c := range tx.SpentOutputs() {
		if w[c.InputID()], err = credentialsOf(tx, c.Signatures, known); err != nil {
			return nil, err
		}
	}
	b.api.credentials.Add(at, w)
	return w, nil
}

// credentialsOf recovers the signers; one key's signatures over the same transaction are identical.
func credentialsOf(tx *txs.Tx, signatures []txs.Signature, known map[txs.Signature]UTXOCredential) ([]UTXOCredential, error) {
	all := make([]UTXOCredential, len(signatures))
	for i, s := range signatures {
		if _, done := known[s]; !done {
			key, err := tx.PublicKey(s)
			if err != nil {
				return nil, err
			}
			known[s] = UTXOCredential{base64.RawStdEncoding.EncodeToString(s[:]), base64.RawStdEncoding.EncodeToString(key)}
		}
		all[i] = known[s]
	}
	return all, nil
}

package primary

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/query"
	"snowglobe/sim/txs"
)

// PlatformTransaction is a transaction of the P-Chain. It consumes exactly what it emits, burns and adds to the balances of L1 validators;
// a RewardValidatorTx emits rewards.
type PlatformTransaction struct {
	TxHash                         string               `json:"txHash" format:"cb58"`
	TxType                         pChainTxType         `json:"txType"`
	BlockTimestamp                 int64                `json:"blockTimestamp"`
	BlockNumber                    string               `json:"blockNumber" format:"uint"`
	BlockHash                      string               `json:"blockHash" format:"cb58"`
	ConsumedUTXOs                  []PlatformUTXO       `json:"consumedUtxos"`
	EmittedUTXOs                   []PlatformUTXO       `json:"emittedUtxos" doc:"The staked outputs among the emitted ones."`
	SourceChain                    string               `json:"sourceChain,omitempty" format:"cb58" doc:"Only for an import or export."`
	DestinationChain               string               `json:"destinationChain,omitempty" format:"cb58" doc:"Only for an import or export."`
	Value                          []data.AssetAmount   `json:"value" doc:"Value of the outputs it created."`
	AmountBurned                   []data.AssetAmount   `json:"amountBurned"`
	AmountStaked                   []data.AssetAmount   `json:"amountStaked"`
	AmountL1ValidatorBalanceBurned []data.AssetAmount   `json:"amountL1ValidatorBalanceBurned" doc:"Value added to the balances of L1 validators."`
	StartTimestamp                 *int64               `json:"startTimestamp,omitempty" doc:"Only for a staking transaction."`
	EndTimestamp                   *int64               `json:"endTimestamp,omitempty" doc:"Only for a staking transaction."`
	DelegationFeePercent           string               `json:"delegationFeePercent,omitempty" format:"decimal"`
	NodeID                         string               `json:"nodeId,omitempty" format:"nodeId"`
	SubnetID                       string               `json:"subnetId,omitempty" format:"cb58"`
	L1ValidatorManagerDetails      *L1Manager           `json:"l1ValidatorManagerDetails,omitempty" doc:"Only for a conversion."`
	L1ValidatorDetails             []L1Change           `json:"l1ValidatorDetails,omitempty" doc:"The L1 validators that the transaction changed, as it left them."`
	EstimatedReward                string               `json:"estimatedReward,omitempty" format:"uint" doc:"nAVAX; only for a staking transaction."`
	RewardTxHash                   string               `json:"rewardTxHash,omitempty" format:"cb58" doc:"Only for a stake that ended."`
	RewardAddresses                []string             `json:"rewardAddresses,omitempty"`
	Memo                           string               `json:"memo,omitempty" format:"hex"`
	StakingTxHash                  string               `json:"stakingTxHash,omitempty" format:"cb58" doc:"Only for a transaction that rewards or configures a staker."`
	SubnetOwnershipInfo            *SubnetOwnershipInfo `json:"subnetOwnershipInfo,omitempty" doc:"The subnet's owner after the transaction."`
	BlsCredentials                 *data.BlsCredentials `json:"blsCredentials,omitempty" doc:"Only for a validator."`
	BlockchainInfo                 *BlockchainInfo      `json:"blockchainInfo,omitempty" doc:"Only for a CreateChainTx."`
}

// pChainTxType is the type of a transaction of the P-Chain.
type pChainTxType string

// Schema names the types.
func (pChainTxType) Schema(d *schema.Schemas) *schema.Schema {
	if d.Dialect == schema.Upstream {
		return &schema.Schema{Type: "string", Enum: pChainTxTypes}
	}
	return &schema.Schema{Type: "string", Enum: slices.Concat(pChainTxTypes, heliconTxTypes)}
}

// typeName returns a transaction type's name in the dialect.
func (b *chainView) typeName(txType string) pChainTxType {
	if b.dialect == schema.Upstream && slices.Contains(heliconTxTypes, txType) {
		return unknownTx
	}
	return pChainTxType(txType)
}

// BlockchainInfo describes the blockchain that a transaction creates.
type BlockchainInfo struct {
	ChainName   string      `json:"chainName"`
	VMID        string      `json:"vmId" format:"cb58"`
	GenesisData genesisData `json:"genesisData" doc:"The genesis of an EVM chain as an object, any other in hexadecimal."`
}

type genesisData []byte

// quantities lists the members of an EVM genesis that the live service writes in hexadecimal, however they were given.
var quantities = []string{"timestamp", "gasLimit", "gasUsed", "difficulty", "nonce", "number"}

// MarshalJSON writes a JSON object unchanged, and anything else in hexadecimal.
func (g genesisData) MarshalJSON() ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(g, &members) != nil {
		return json.Marshal(hexutil.Encode(g))
	}
	for _, name := range quantities {
		if n, err := strconv.ParseUint(string(members[name]), 10, 64); err == nil {
			members[name] = json.RawMessage(strconv.Quote(hexutil.EncodeUint64(n)))
		}
	}
	return json.Marshal(members)
}

// Schema lists both.
func (genesisData) Schema(*schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "object", AdditionalProperties: &schema.Schema{}}, {Type: "string"}}}
}

func (b *chainView) pChainTransaction(t *query.TxUTXOs) (*PlatformTransaction, error) {
	shown := &PlatformTransaction{
		TxHash: data.CB58(t.Row.Hash), TxType: b.typeName(t.Row.Type), BlockTimestamp: t.Block.Unix, BlockNumber: data.Decimals(t.Row.ID.Number()), BlockHash: t.Block.Hash(),
		AmountBurned: b.avaxOrNone(uint64(t.Row.Burned)), AmountStaked: []data.AssetAmount{}, AmountL1ValidatorBalanceBurned: []data.AssetAmount{},
	}
	var err error
	if shown.ConsumedUTXOs, err = data.TryList(t.ConsumedUTXOs, b.pChainUTXO); err != nil {
		return nil, err
	}
	if shown.EmittedUTXOs, err = data.TryList(t.EmittedUTXOs, b.pChainUTXO); err != nil {
		return nil, err
	}
	if shown.Value, err = b.sums(t.EmittedUTXOs); err != nil {
		return nil, err
	}
	if base := t.Unsigned.Base(); base != nil {
		shown.Memo = hexutil.Encode(base.Memo)
	}
	shown.SourceChain, shown.DestinationChain = b.route(t)
	if t.Staker != nil {
		b.stakes(shown, t)
	}
	b.subnet(shown, t)
	shown.L1ValidatorDetails, err = b.l1Changes(t)
	var paid uint64
	for _, c := range shown.L1ValidatorDetails {
		if c.BalanceChange != nil {
			paid += uint64(max(*c.BalanceChange, 0))
		}
	}
	shown.AmountL1ValidatorBalanceBurned = b.avaxOrNone(paid)
	return shown, err
}

// avaxOrNone returns a list with an amount of nAVAX, or an empty list for zero.
func (b *chainView) avaxOrNone(amount uint64) []data.AssetAmount {
	if amount == 0 {
		return []data.AssetAmount{}
	}
	return []data.AssetAmount{data.AVAX(b.Network, amount)}
}

// route returns the source and destination of an import or export, or nothing for other transactions.
func (b *chainView) route(t *query.TxUTXOs) (from, to string) {
	own := b.Rules.BlockchainID(t.Kind).String()
	switch u := t.Unsigned.(type) {
	case *txs.ImportTx:
		return u.SourceChain.String(), own
	case *txs.ExportTx:
		return own, u.DestinationChain.String()
	case *txs.AtomicImportTx:
		return u.SourceChain.String(), own
	case *txs.AtomicExportTx:
		return own, u.DestinationChain.String()
	}
	return "", ""
}

// stakes adds the fields about a staker.
func (b *chainView) stakes(shown *PlatformTransaction, t *query.TxUTXOs) {
	s := t.Staker
	shown.NodeID, shown.SubnetID = ids.NodeID(s.Node).String(), data.CB58(s.Subnet)
	shown.RewardAddresses = data.Bech32s(b.Rules, data.RewardOwners(s))
	if _, reward := txs.Rewarded(t.Unsigned); reward {
		shown.StakingTxHash = data.CB58(s.Tx)
		return
	}
	shown.StartTimestamp, shown.EndTimestamp = &s.Start, &s.End
	shown.BlsCredentials = data.NewBlsCredentials(s.BLS, s.Proof)
	if s.RewardTx != nil {
		shown.RewardTxHash = data.CB58(s.RewardTx)
	}
	if !query.OnPrimaryNetwork(s.Subnet) {
		return
	}
	shown.EstimatedReward = data.Decimals(uint64(s.PotentialReward))
	shown.AmountStaked = b.avaxOrNone(uint64(s.Weight))
	if !s.Delegator {
		shown.DelegationFeePercent = data.Percentage(int64(s.Shares))
	}
}

// subnet adds the fields about a subnet.
func (b *chainView) subnet(shown *PlatformTransaction, t *query.TxUTXOs) {
	switch u := t.Unsigned.(type) {
	case *txs.CreateSubnetTx:
		shown.SubnetID, shown.SubnetOwnershipInfo = shown.TxHash, b.ownership(u.Owner)
	case *txs.TransferSubnetOwnershipTx:
		shown.SubnetID, shown.SubnetOwnershipInfo = u.SubnetID.String(), b.ownership(u.Owner)
	case *txs.RemoveSubnetValidatorTx:
		shown.SubnetID, shown.NodeID = u.SubnetID.String(), u.NodeID.String()
	case *txs.SetAutoRenewedValidatorConfigTx:
		shown.StakingTxHash = u.TxID.String()
	case *txs.CreateChainTx:
		shown.SubnetID = u.SubnetID.String()
		shown.BlockchainInfo = &BlockchainInfo{u.ChainName, u.VMID.String(), genesisData(u.GenesisData)}
	case *txs.ConvertSubnetToL1Tx:
		shown.SubnetID = u.SubnetID.String()
		shown.L1ValidatorManagerDetails = &L1Manager{u.ChainID.String(), common.BytesToAddress(u.Address).Hex()}
	}
}

func (b *chainView) ownership(a txs.Owner) *SubnetOwnershipInfo {
	o, ok := a.(*txs.OutputOwners)
	if !ok {
		return nil
	}
	return &SubnetOwnershipInfo{o.Locktime, o.Threshold, data.Bech32s(b.Rules, o.Addresses)}
}

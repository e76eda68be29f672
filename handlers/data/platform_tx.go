package data

import (
	"encoding/json"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
)

// PlatformTransaction is a transaction of the P-Chain. What it consumed is what it emitted, burned and put into balances
// of L1 validators; a RewardValidatorTx emits rewards.
type PlatformTransaction struct {
	TxHash                         string               `json:"txHash" format:"cb58"`
	TxType                         pChainTxType         `json:"txType"`
	BlockTimestamp                 int64                `json:"blockTimestamp"`
	BlockNumber                    string               `json:"blockNumber" format:"uint"`
	BlockHash                      string               `json:"blockHash" format:"cb58"`
	ConsumedUTXOs                  []PlatformUTXO       `json:"consumedUtxos"`
	EmittedUTXOs                   []PlatformUTXO       `json:"emittedUtxos" doc:"What is staked among them."`
	SourceChain                    string               `json:"sourceChain,omitempty" format:"cb58" doc:"Of an import or export."`
	DestinationChain               string               `json:"destinationChain,omitempty" format:"cb58" doc:"Of an import or export."`
	Value                          []AssetAmount        `json:"value" doc:"What it emitted."`
	AmountBurned                   []AssetAmount        `json:"amountBurned"`
	AmountStaked                   []AssetAmount        `json:"amountStaked"`
	AmountL1ValidatorBalanceBurned []AssetAmount        `json:"amountL1ValidatorBalanceBurned" doc:"What it put into balances of L1 validators."`
	StartTimestamp                 *int64               `json:"startTimestamp,omitempty" doc:"Of a staking transaction."`
	EndTimestamp                   *int64               `json:"endTimestamp,omitempty" doc:"Of a staking transaction."`
	DelegationFeePercent           string               `json:"delegationFeePercent,omitempty" format:"decimal"`
	NodeID                         string               `json:"nodeId,omitempty" format:"nodeId"`
	SubnetID                       string               `json:"subnetId,omitempty" format:"cb58"`
	L1ValidatorManagerDetails      *L1Manager           `json:"l1ValidatorManagerDetails,omitempty" doc:"Of a conversion."`
	L1ValidatorDetails             []L1Change           `json:"l1ValidatorDetails,omitempty" doc:"The L1 validators that it is about, as it left them."`
	EstimatedReward                string               `json:"estimatedReward,omitempty" format:"uint" doc:"nAVAX; of a staking transaction."`
	RewardTxHash                   string               `json:"rewardTxHash,omitempty" format:"cb58" doc:"Of a stake that ended."`
	RewardAddresses                []string             `json:"rewardAddresses,omitempty"`
	Memo                           string               `json:"memo,omitempty" format:"hex"`
	StakingTxHash                  string               `json:"stakingTxHash,omitempty" format:"cb58" doc:"Of a RewardValidatorTx."`
	SubnetOwnershipInfo            *SubnetOwnershipInfo `json:"subnetOwnershipInfo,omitempty" doc:"Who owns the subnet afterwards."`
	BlsCredentials                 *BlsCredentials      `json:"blsCredentials,omitempty" doc:"Of a validator."`
	BlockchainInfo                 *BlockchainInfo      `json:"blockchainInfo,omitempty" doc:"Of a CreateChainTx."`
}

// pChainTxType is the type of a transaction of the P-Chain.
type pChainTxType string

// Schema names the types.
func (pChainTxType) Schema(*handlers.Schemas) *handlers.Schema {
	return &handlers.Schema{Type: "string", Enum: pChainTxTypes}
}

// BlockchainInfo is a blockchain as the transaction that made it describes it.
type BlockchainInfo struct {
	ChainName   string      `json:"chainName"`
	VMID        string      `json:"vmId" format:"cb58"`
	GenesisData genesisData `json:"genesisData" doc:"The genesis of an EVM chain as an object, any other in hexadecimal."`
}

// genesisData is what a blockchain begins with.
type genesisData []byte

// quantities are the members of an EVM's genesis that the live service writes in hexadecimal, whatever they came as.
var quantities = []string{"timestamp", "gasLimit", "gasUsed", "difficulty", "nonce", "number"}

// MarshalJSON writes an object as one, anything else in hexadecimal.
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

// Schema is that of both.
func (genesisData) Schema(*handlers.Schemas) *handlers.Schema {
	return &handlers.Schema{AnyOf: []*handlers.Schema{{Type: "object", AdditionalProperties: &handlers.Schema{}}, {Type: "string"}}}
}

func (b *chainView) pChainTransaction(t *txUTXOs) (*PlatformTransaction, error) {
	shown := &PlatformTransaction{
		TxHash: cb58(t.row.Hash), TxType: pChainTxType(t.row.Type), BlockTimestamp: t.block.unix, BlockNumber: decimals(t.row.ID.Number()), BlockHash: t.block.hash,
		AmountBurned: b.avaxOrNone(uint64(t.row.Burned)), AmountStaked: []AssetAmount{}, AmountL1ValidatorBalanceBurned: []AssetAmount{},
	}
	var err error
	if shown.ConsumedUTXOs, err = b.pChainUTXOs(t.consumed); err != nil {
		return nil, err
	}
	if shown.EmittedUTXOs, err = b.pChainUTXOs(t.emitted); err != nil {
		return nil, err
	}
	if shown.Value, err = b.sums(t.emitted); err != nil {
		return nil, err
	}
	if base := t.Unsigned.Base(); base != nil {
		shown.Memo = hexutil.Encode(base.Memo)
	}
	shown.SourceChain, shown.DestinationChain = b.route(t)
	if t.staker != nil {
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

func (b *chainView) pChainUTXOs(outputs []*output) ([]PlatformUTXO, error) {
	all := make([]PlatformUTXO, len(outputs))
	for i, o := range outputs {
		var err error
		if all[i], err = b.pChainUTXO(o); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// avaxOrNone is an amount of nAVAX in a list, which is empty for none.
func (b *chainView) avaxOrNone(amount uint64) []AssetAmount {
	if amount == 0 {
		return []AssetAmount{}
	}
	return []AssetAmount{avax(b.Ledger, amount)}
}

// route is where an import or export leads from and to; empty for other transactions.
func (b *chainView) route(t *txUTXOs) (from, to string) {
	own := b.Rules.BlockchainID(t.kind).String()
	switch u := t.Unsigned.(type) {
	case *primary.ImportTx:
		return u.SourceChain.String(), own
	case *primary.ExportTx:
		return own, u.DestinationChain.String()
	case *primary.AtomicImportTx:
		return u.SourceChain.String(), own
	case *primary.AtomicExportTx:
		return own, u.DestinationChain.String()
	}
	return "", ""
}

// stakes adds what a transaction says of a staker.
func (b *chainView) stakes(shown *PlatformTransaction, t *txUTXOs) {
	s := t.staker
	shown.NodeID, shown.SubnetID = ids.NodeID(s.Node).String(), cb58(s.Subnet)
	shown.RewardAddresses = bech32s(b.Rules, rewardOwners(s))
	if _, reward := t.Unsigned.(*primary.RewardValidatorTx); reward {
		shown.StakingTxHash = cb58(s.Tx)
		return
	}
	shown.StartTimestamp, shown.EndTimestamp = &s.Start, &s.End
	shown.BlsCredentials = blsCredentials(s.BLS, s.Proof)
	if s.RewardTx != nil {
		shown.RewardTxHash = cb58(s.RewardTx)
	}
	if !onPrimaryNetwork(s.Subnet) {
		return
	}
	shown.EstimatedReward = decimals(uint64(s.Reward))
	shown.AmountStaked = b.avaxOrNone(uint64(s.Weight))
	if !s.Delegator {
		shown.DelegationFeePercent = percentage(int64(s.Shares))
	}
}

// subnet adds what a transaction says of a subnet.
func (b *chainView) subnet(shown *PlatformTransaction, t *txUTXOs) {
	switch u := t.Unsigned.(type) {
	case *primary.CreateSubnetTx:
		shown.SubnetID, shown.SubnetOwnershipInfo = shown.TxHash, b.ownership(u.Owner)
	case *primary.TransferSubnetOwnershipTx:
		shown.SubnetID, shown.SubnetOwnershipInfo = u.SubnetID.String(), b.ownership(u.Owner)
	case *primary.RemoveSubnetValidatorTx:
		shown.SubnetID, shown.NodeID = u.SubnetID.String(), u.NodeID.String()
	case *primary.CreateChainTx:
		shown.SubnetID = u.SubnetID.String()
		shown.BlockchainInfo = &BlockchainInfo{u.ChainName, u.VMID.String(), genesisData(u.GenesisData)}
	case *primary.ConvertSubnetToL1Tx:
		shown.SubnetID = u.SubnetID.String()
		shown.L1ValidatorManagerDetails = &L1Manager{u.ChainID.String(), common.BytesToAddress(u.Address).Hex()}
	}
}

func (b *chainView) ownership(a primary.Authority) *SubnetOwnershipInfo {
	o, ok := a.(*primary.OutputOwners)
	if !ok {
		return nil
	}
	return &SubnetOwnershipInfo{o.Locktime, o.Threshold, shortBech32s(b.Rules, o.Addresses)}
}

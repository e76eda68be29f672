package export

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/price"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// FundTransferType values, named as in the live API.
const (
	credit       = "CREDIT"
	debit        = "DEBIT"
	creditStake  = "CREDIT_STAKING_SET"
	creditAtomic = "CREDIT_ATOMIC"
	debitAtomic  = "DEBIT_ATOMIC"
)

// primaryRow is an output that a transaction created or spent, on a P- or X-Chain or in the atomic memory of a C-Chain.
type primaryRow struct {
	*primaryReader
	tx      *store.PrimaryTx
	first   bool // first row of its transaction
	memo    []byte
	time    int64
	kind    string
	peer    txs.Chain // other chain of an atomic transfer
	owners  []string
	output  *output // nil for a C-Chain account
	asset   *asset
	amount  uint64
	dollars *big.Int // price of one whole unit, 10^-8, nil without a market
	stake   *stake   // of a staking transaction or the end of its stake
	reward  string   // VALIDATOR, DELEGATOR or VALIDATOR_FEE
}

// output locates an amount in a transaction's outputs.
type output struct {
	id    ids.ID
	tx    ids.ID
	index uint32
	out   txs.Output
}

type asset struct {
	id       ids.ID
	name     string
	symbol   string
	decimals int
}

// stake is a staker's node, subnet and period.
type stake struct {
	tx         ids.ID
	node       ids.NodeID
	subnet     ids.ID
	start, end uint64
}

var primaryTable = table[primaryRow]{
	{Column{"ChainName", "`p-chain`, `x-chain` or `c-chain`"}, func(m *primaryRow) string { return strings.ToLower(string(m.source.Kind)) + "-chain" }},
	{Column{"TxHash", "id of the transaction that moved the output"}, func(m *primaryRow) string { return ids.ID(m.tx.Hash).String() }},
	{Column{"Network", "`mainnet` or `fuji`"}, func(m *primaryRow) string { return m.source.Network }},
	{Column{"BlockchainId", "id of the chain"}, func(m *primaryRow) string { return m.source.rules.BlockchainID(m.source.primary()).String() }},
	{Column{"BlockHeight", "height of the transaction's block"}, func(m *primaryRow) string { return strconv.FormatUint(m.tx.ID.Number(), 10) }},
	{Column{"BlockTimestamp", "time of the block, RFC 3339 in UTC"}, func(m *primaryRow) string { return rfc3339(m.time) }},
	{Column{"TxType", "the network's name of the transaction's type; `Genesis` for the genesis"}, func(m *primaryRow) string { return m.tx.Type }},
	{
		Column{"FundTransferType", "`CREDIT` (an output was made), `DEBIT` (spent), `CREDIT_STAKING_SET` (locked as stake), `CREDIT_ATOMIC` " +
			"(exported to another chain) or `DEBIT_ATOMIC` (imported from one)"},
		func(m *primaryRow) string { return m.kind },
	},
	{Column{"PeerChain", "the other chain of an atomic movement"}, (*primaryRow).other},
	{
		Column{"Owners", "addresses of the output, separated by semicolons; on the C-Chain also accounts"},
		func(m *primaryRow) string { return strings.Join(m.owners, ";") },
	},
	{Column{"Threshold", "how many of the owners must sign"}, func(m *primaryRow) string {
		return m.owned(func(o *txs.OutputOwners) uint64 { return uint64(o.Threshold) })
	}},
	{Column{"Locktime", "Unix seconds before which nobody can spend it"}, func(m *primaryRow) string {
		return m.owned(func(o *txs.OutputOwners) uint64 { return o.Locktime })
	}},
	{Column{"UtxoId", "id of the output; empty for an account"}, func(m *primaryRow) string { return m.held(func(o *output) string { return o.id.String() }) }},
	{Column{"UtxoTxHash", "id of the transaction whose output it is; stake and rewards are outputs of the staking transaction"}, func(m *primaryRow) string {
		return m.held(func(o *output) string { return o.tx.String() })
	}},
	{Column{"OutputIndex", "its place among that transaction's outputs"}, func(m *primaryRow) string {
		return m.held(func(o *output) string { return strconv.FormatUint(uint64(o.index), 10) })
	}},
	{
		Column{"OutputType", "`TRANSFER`, `STAKEABLE_LOCK`, `MINT`, `NFT_MINT`, `NFT_TRANSFER`, `PROPERTY_MINT` or `PROPERTY_OWNED`; " +
			"`ACCOUNT` for an account"},
		(*primaryRow).form,
	},
	{Column{"AssetId", "id of the asset"}, func(m *primaryRow) string { return m.asset.id.String() }},
	{Column{"AssetName", "name of the asset"}, func(m *primaryRow) string { return m.asset.name }},
	{Column{"AssetSymbol", "symbol of the asset"}, func(m *primaryRow) string { return m.asset.symbol }},
	{Column{"AssetDecimals", "decimals of the asset"}, func(m *primaryRow) string { return strconv.Itoa(m.asset.decimals) }},
	{
		Column{"Value", "amount in the asset's smallest unit; 1 for an NFT or a property, 0 for the right to make some"},
		func(m *primaryRow) string { return strconv.FormatUint(m.amount, 10) },
	},
	{Column{"Amount", "the same in whole units, exact"}, func(m *primaryRow) string { return price.Decimal(m.big(), m.asset.decimals) }},
	{Column{"PriceUSD", "price of one whole unit in the hour of the block, empty without a market"}, func(m *primaryRow) string { return cost(m.dollars) }},
	{Column{"ValueUSD", "value of the amount, exact"}, func(m *primaryRow) string { return worth(m.big(), m.asset.decimals, m.dollars) }},
	{Column{"RewardType", "`VALIDATOR`, `DELEGATOR` or `VALIDATOR_FEE` for an output that pays a reward"}, func(m *primaryRow) string { return m.reward }},
	{
		Column{"StakingTxHash", "id of the transaction that staked"},
		func(m *primaryRow) string { return m.staked(func(s *stake) string { return s.tx.String() }) },
	},
	{
		Column{"NodeId", "the validator, or the one that the delegator chose"},
		func(m *primaryRow) string { return m.staked(func(s *stake) string { return s.node.String() }) },
	},
	{Column{"SubnetId", "the subnet that the node validates"}, func(m *primaryRow) string { return m.staked(func(s *stake) string { return s.subnet.String() }) }},
	{
		Column{"StakingStart", "when staking began, RFC 3339 in UTC"},
		func(m *primaryRow) string { return m.staked(func(s *stake) string { return rfc3339(int64(s.start)) }) },
	},
	{
		Column{"StakingEnd", "when it ends, RFC 3339 in UTC"},
		func(m *primaryRow) string { return m.staked(func(s *stake) string { return rfc3339(int64(s.end)) }) },
	},
	{
		Column{"TxFee", "nAVAX that the transaction burned; on its first row only"},
		func(m *primaryRow) string { return m.once(strconv.FormatUint(uint64(m.tx.Burned), 10)) },
	},
	{Column{"Memo", "the transaction's memo in hexadecimal; on its first row only"}, func(m *primaryRow) string { return m.once(hexutil.Encode(m.memo)) }},
}

// Tables with fewer columns.
var (
	simpleTable  = primaryTable.only("ChainName TxHash BlockTimestamp TxType FundTransferType Owners AssetSymbol Amount ValueUSD")
	stakingTable = primaryTable.only("ChainName TxHash Network BlockHeight BlockTimestamp TxType FundTransferType RewardType StakingTxHash NodeId " +
		"SubnetId StakingStart StakingEnd Owners UtxoId AssetSymbol AssetDecimals Value Amount PriceUSD ValueUSD")
)

func (m *primaryRow) big() *big.Int { return new(big.Int).SetUint64(m.amount) }

func (m *primaryRow) other() string {
	if m.kind != creditAtomic && m.kind != debitAtomic {
		return ""
	}
	return strings.ToLower(m.peer.String()) + "-chain"
}

func (m *primaryRow) held(what func(*output) string) string {
	if m.output == nil {
		return ""
	}
	return what(m.output)
}

func (m *primaryRow) owned(what func(*txs.OutputOwners) uint64) string {
	return m.held(func(o *output) string {
		u := txs.UTXO{Out: o.out}
		return strconv.FormatUint(what(u.Owners()), 10)
	})
}

func (m *primaryRow) staked(what func(*stake) string) string {
	if m.stake == nil {
		return ""
	}
	return what(m.stake)
}

func (m *primaryRow) once(text string) string {
	if !m.first {
		return ""
	}
	return text
}

func (m *primaryRow) form() string {
	if m.output == nil {
		return "ACCOUNT"
	}
	switch m.output.out.(type) {
	case *txs.StakeableLockOut:
		return "STAKEABLE_LOCK"
	case *txs.MintOutput:
		return "MINT"
	case *txs.NFTMintOutput:
		return "NFT_MINT"
	case *txs.NFTTransferOutput:
		return "NFT_TRANSFER"
	case *txs.PropertyMintOutput:
		return "PROPERTY_MINT"
	case *txs.PropertyOwnedOutput:
		return "PROPERTY_OWNED"
	}
	return "TRANSFER"
}

package evm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/big"
	"sync"
	"weak"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// Genesis holds everything that a chain starts from, and the upgrades that activate and disable its precompiles later.
type Genesis struct {
	Kind        Kind
	ChainID     uint64
	Timestamp   uint64
	Extra       []byte             // the header's extra data
	Alloc       types.GenesisAlloc // nil in a parsed genesis: use Allocation
	Precompiles precompile.Upgrades

	alloc json.RawMessage
}

// document is a genesis as the network's virtual machines read it.
type document struct {
	Config     json.RawMessage       `json:"config"`
	Alloc      json.RawMessage       `json:"alloc"`
	Nonce      math.HexOrDecimal64   `json:"nonce"`
	Timestamp  math.HexOrDecimal64   `json:"timestamp"`
	Extra      hexutil.Bytes         `json:"extraData"`
	GasLimit   math.HexOrDecimal64   `json:"gasLimit"`
	Difficulty *math.HexOrDecimal256 `json:"difficulty"`
	MixHash    common.Hash           `json:"mixHash"`
	Coinbase   common.Address        `json:"coinbase"`
	Number     math.HexOrDecimal64   `json:"number"`
	GasUsed    math.HexOrDecimal64   `json:"gasUsed"`
	ParentHash common.Hash           `json:"parentHash"`
}

// config is the chain configuration of a genesis. Precompile configs are further fields, under their own keys.
type config struct {
	ChainID            uint64                `json:"chainId"`
	Fees               *precompile.FeeConfig `json:"feeConfig,omitempty"` // of an L1
	AllowFeeRecipients bool                  `json:"allowFeeRecipients,omitempty"`
}

// Block 0 of a C-Chain has the gas limit of the network's own genesis and the base fee that dynamic fees began with (Apricot phase 3).
// Neither applies to block 1.
const (
	genesisGasLimitC = 100_000_000
	genesisBaseFeeC  = 225_000_000_000 // wei
)

var (
	errRecipients = errors.New("config.allowFeeRecipients: fees are always burned")
	errHeader     = errors.New("only timestamp, extraData and the chain's own gasLimit may be set in the header")
	errFees       = errors.New("config.feeConfig: an L1 has one, a C-Chain has none")
)

// parsed caches parsed geneses in use, by their source: a world and its copies share them.
var parsed = struct {
	sync.Mutex
	geneses map[genesisKey]weak.Pointer[Genesis]
}{geneses: map[genesisKey]weak.Pointer[Genesis]{}}

// genesisKey identifies the source of a parsed genesis.
type genesisKey struct {
	kind          Kind
	raw, upgrades uint64 // hashes
}

var genesisSeed = maphash.MakeSeed()

// ParseGenesis parses a genesis and its upgrades, as a node has them: two JSON documents. Callers must not change the result.
func ParseGenesis(kind Kind, raw, upgrades []byte) (*Genesis, error) {
	key := genesisKey{kind, maphash.Bytes(genesisSeed, raw), maphash.Bytes(genesisSeed, upgrades)}
	parsed.Lock()
	g := parsed.geneses[key].Value()
	parsed.Unlock()
	if g != nil {
		return g, nil
	}
	g, err := parseGenesis(kind, raw, upgrades)
	if err != nil {
		return nil, err
	}
	parsed.Lock()
	defer parsed.Unlock()
	maps.DeleteFunc(parsed.geneses, func(_ genesisKey, p weak.Pointer[Genesis]) bool { return p.Value() == nil })
	parsed.geneses[key] = weak.Make(g)
	return g, nil
}

func parseGenesis(kind Kind, raw, upgrades []byte) (*Genesis, error) {
	var d document
	rest, alloc := cutAlloc(raw)
	if err := json.Unmarshal(rest, &d); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if alloc != nil {
		d.Alloc = alloc
	}
	var c config
	if err := json.Unmarshal(d.Config, &c); err != nil {
		return nil, fmt.Errorf("genesis: config: %w", err)
	}
	g := &Genesis{Kind: kind, ChainID: c.ChainID, Timestamp: uint64(d.Timestamp), Extra: d.Extra, alloc: d.Alloc}
	if (kind == KindL1) != (c.Fees != nil) {
		return nil, fmt.Errorf("genesis: %w", errFees)
	}
	if c.Fees != nil {
		if err := c.Fees.Check(); err != nil {
			return nil, fmt.Errorf("genesis: invalid fee config: %w", err)
		}
		g.Precompiles.FeeConfig = *c.Fees
	}
	err := g.Precompiles.Parse(d.Config, upgrades)
	switch {
	case err != nil:
	case c.AllowFeeRecipients:
		err = errRecipients
	case d.other(uint64(d.GasLimit) != g.gasLimit()):
		err = errHeader
	}
	if err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return g, nil
}

// cutAlloc replaces the accounts object of a genesis by null: parsing the rest takes far less time without it. It finds nothing in a
// genesis with unusual formatting.
func cutAlloc(raw []byte) (rest, alloc []byte) {
	depth, start := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			from := i
			i += endOfString(raw[i:])
			if value := i + 2; depth == 1 && start == 0 && value < len(raw) && string(raw[from:value]) == `"alloc":` && raw[value] == '{' {
				start = value
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 1 && start > 0 {
				alloc = raw[start : i+1]
				rest = append(append(bytes.Clone(raw[:start]), "null"...), raw[i+1:]...)
				if bytes.Contains(rest[start:], []byte(`"alloc":`)) { // the last one holds
					return raw, nil
				}
				return rest, alloc
			}
		}
	}
	return raw, nil
}

// endOfString returns the end of the string that starts at a quotation mark: the closing one.
func endOfString(text []byte) int {
	end := 1 + bytes.IndexByte(text[1:], '"')
	if end > 0 && bytes.IndexByte(text[:end], '\\') < 0 {
		return end
	}
	for end = 1; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	return end
}

// other reports whether the header has something that no chain of a world has.
func (d *document) other(limit bool) bool {
	return limit || d.Nonce != 0 || d.Number != 0 || d.GasUsed != 0 || d.MixHash != (common.Hash{}) ||
		d.ParentHash != (common.Hash{}) || d.Coinbase != (common.Address{}) || d.Difficulty != nil && (*big.Int)(d.Difficulty).Sign() != 0
}

// Allocation returns the initial accounts. A parsed genesis can have many, so they are decoded on request: serving a chain does not need
// them.
func (g *Genesis) Allocation() (types.GenesisAlloc, error) {
	if g.Alloc != nil || g.alloc == nil {
		return g.Alloc, nil
	}
	var accounts map[common.UnprefixedAddress]types.Account
	if err := json.Unmarshal(g.alloc, &accounts); err != nil {
		return nil, fmt.Errorf("genesis: alloc: %w", err)
	}
	alloc := types.GenesisAlloc{}
	for address, account := range accounts {
		alloc[common.Address(address)] = account
	}
	return alloc, nil
}

// Encode returns the genesis and the upgrades as a node reads them. Their JSON has only one form.
func (g *Genesis) Encode() (raw, upgrades []byte, err error) {
	c := config{ChainID: g.ChainID}
	if g.Kind == KindL1 {
		c.Fees = &g.Precompiles.FeeConfig
	}
	settings, err := g.Precompiles.Genesis.MarshalWith(c)
	if err != nil {
		return nil, nil, err
	}
	from, err := g.Allocation()
	if err != nil {
		return nil, nil, err
	}
	alloc := map[common.UnprefixedAddress]types.Account{}
	for address, account := range from {
		if account.Balance == nil {
			account.Balance = new(big.Int)
		}
		alloc[common.UnprefixedAddress(address)] = account
	}
	accounts, err := json.Marshal(alloc)
	if err != nil {
		return nil, nil, err
	}
	d := document{
		Config: settings, Alloc: accounts, Timestamp: math.HexOrDecimal64(g.Timestamp), Extra: g.Extra,
		GasLimit: math.HexOrDecimal64(g.gasLimit()), Difficulty: new(math.HexOrDecimal256),
	}
	if raw, err = json.Marshal(d); err != nil {
		return nil, nil, err
	}
	upgrades, err = g.Precompiles.EncodeUpgrades()
	return raw, upgrades, err
}

// ChainConfig returns the one set of rules that applies to a whole chain: Cancun from the first block on.
func (g *Genesis) ChainConfig() *params.ChainConfig {
	zero := uint64(0)
	return &params.ChainConfig{
		ChainID:                 new(big.Int).SetUint64(g.ChainID),
		HomesteadBlock:          new(big.Int),
		EIP150Block:             new(big.Int),
		EIP155Block:             new(big.Int),
		EIP158Block:             new(big.Int),
		ByzantiumBlock:          new(big.Int),
		ConstantinopleBlock:     new(big.Int),
		PetersburgBlock:         new(big.Int),
		IstanbulBlock:           new(big.Int),
		MuirGlacierBlock:        new(big.Int),
		BerlinBlock:             new(big.Int),
		LondonBlock:             new(big.Int),
		ShanghaiTime:            &zero,
		CancunTime:              &zero,
		TerminalTotalDifficulty: new(big.Int),
	}
}

func (g *Genesis) gasLimit() uint64 {
	if g.Kind == KindC {
		return genesisGasLimitC
	}
	return g.Precompiles.FeeConfig.GasLimit.Uint64()
}

func (g *Genesis) baseFee() *big.Int {
	if g.Kind == KindC {
		return big.NewInt(genesisBaseFeeC)
	}
	return new(big.Int).Set(g.Precompiles.FeeConfig.MinBaseFee)
}

// header returns the header of block 0 without the state root.
func (g *Genesis) header() *Header {
	return &Header{
		UncleHash:        types.EmptyUncleHash,
		TxHash:           types.EmptyTxsHash,
		ReceiptHash:      types.EmptyReceiptsHash,
		Difficulty:       new(big.Int),
		Number:           new(big.Int),
		GasLimit:         g.gasLimit(),
		Time:             g.Timestamp,
		Extra:            g.Extra,
		BaseFee:          g.baseFee(),
		ExtDataGasUsed:   new(big.Int),
		BlockGasCost:     new(big.Int),
		TimeMilliseconds: g.Timestamp * 1000,
		MinDelayExcess:   initialDelay,
	}
}

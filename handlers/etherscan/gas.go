package etherscan

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/price"
)

var gasActions = map[string]action{
	"gastracker.gasoracle":   {handle: gasOracle},
	"gastracker.gasestimate": {handle: gasEstimate},
}

// oracle holds prices in Gwei, and the shares of the last blocks' gas limits that were used.
type oracle struct {
	LastBlock       string `json:"LastBlock"`
	SafeGasPrice    string `json:"SafeGasPrice"`
	ProposeGasPrice string `json:"ProposeGasPrice"`
	FastGasPrice    string `json:"FastGasPrice"`
	SuggestBaseFee  string `json:"suggestBaseFee"`
	GasUsedRatio    string `json:"gasUsedRatio"`
}

// recent is how many blocks gasUsedRatio tells of.
const recent = 5

// gweiDecimals is the number of wei's decimals in a Gwei.
const gweiDecimals = 9

// prices returns the base fee of the next block, and the tip that a node suggests.
func (r *request) prices() (baseFee, tip *big.Int, err error) {
	for _, m := range r.world.Miners {
		if m.Chain == r.chain {
			return m.Prices(r.Context())
		}
	}
	return nil, nil, fmt.Errorf("chain %d has no miner", r.chain.Row.ID)
}

// gwei formats wei in Gwei.
func gwei(wei *big.Int) string { return price.Decimal(wei, gweiDecimals) }

func gasOracle(r *request) (any, error) {
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	baseFee, tip, err := r.prices()
	if err != nil {
		return nil, err
	}
	history, err := r.chain.FeeHistory(r.Context(), reader.HistoryRange{Count: recent}, nil)
	if err != nil {
		return nil, err
	}
	ratios := make([]string, len(history.Used))
	for i, ratio := range history.Used {
		ratios[i] = strconv.FormatFloat(ratio, 'f', -1, 64)
	}
	at := func(tips int64) string {
		return gwei(new(big.Int).Add(baseFee, new(big.Int).Mul(tip, big.NewInt(tips))))
	}
	return oracle{decimal(head.Number), at(0), at(1), at(2), gwei(baseFee), strings.Join(ratios, ",")}, nil
}

// gasEstimate tells in how many seconds a transaction at a price would be in a block: in the next one, if the price covers the base fee.
func gasEstimate(r *request) (any, error) {
	offered, ok := new(big.Int).SetString(r.values["gasprice"], 10)
	if !ok || offered.Sign() < 0 {
		return nil, refusal("Error! Invalid gasprice: expected wei")
	}
	baseFee, _, err := r.prices()
	switch {
	case err != nil:
		return nil, err
	case offered.Cmp(baseFee) < 0:
		return nil, refusal("Error! The gas price is below the base fee: no block takes the transaction")
	}
	return "1", nil
}

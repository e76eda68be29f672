package metric

// Quantity is a column of the tallies, under the column's name.
type Quantity string

// Quantities that metrics combine.
const (
	Txs          Quantity = "txs"
	Gas          Quantity = "gas"
	Contracts    Quantity = "contracts"
	Fees         Quantity = "fees"
	Prices       Quantity = "prices"
	TopPrice     Quantity = "top_price"
	TopGas       Quantity = "top_gas"
	TopGasTime   Quantity = "top_gas_seconds"
	TopTxs       Quantity = "top_txs"
	TopTxsTime   Quantity = "top_txs_seconds"
	Addresses    Quantity = "addresses"
	Senders      Quantity = "senders"
	Deployers    Quantity = "deployers"
	NewAddresses Quantity = "new_addresses"
	NewDeployers Quantity = "new_deployers"
)

// Metric defines a chain metric as a function of tallies.
type Metric struct {
	Name   string
	Amount Quantity
	Over   Quantity // divisor of the amount, if any
	Long   bool     // has points of other intervals than a day

	Elapsed bool // divide the amount by the time since the last block before the interval
	Running bool // sum the amount from the first interval on,
	Before  bool // without the point's own interval
	Highest bool // over several tallies, take the highest rate instead of the sum

	// Latest returns the quantity whose sum over the last intervals is the distinct count over all of them.
	Latest Quantity
	// Rolling reports whether the metric has values for windows that end at the clock.
	Rolling bool
}

// Metrics lists the chain metrics in the specification's order.
var Metrics = []Metric{
	{Name: "activeAddresses", Amount: Addresses, Long: true, Rolling: true, Latest: "last_addresses"},
	{Name: "activeSenders", Amount: Senders, Long: true, Rolling: true, Latest: "last_senders"},
	{Name: "cumulativeTxCount", Amount: Txs, Running: true},
	{Name: "cumulativeAddresses", Amount: NewAddresses, Running: true},
	{Name: "cumulativeContracts", Amount: Contracts, Running: true, Before: true},
	{Name: "cumulativeDeployers", Amount: NewDeployers, Running: true},
	{Name: "contracts", Amount: Contracts, Rolling: true},
	{Name: "deployers", Amount: Deployers, Rolling: true, Latest: "last_deployers"},
	{Name: "gasUsed", Amount: Gas, Long: true, Rolling: true},
	{Name: "txCount", Amount: Txs, Long: true, Rolling: true},
	{Name: "avgGps", Amount: Gas, Elapsed: true, Rolling: true},
	{Name: "maxGps", Amount: TopGas, Over: TopGasTime, Highest: true, Rolling: true},
	{Name: "avgTps", Amount: Txs, Elapsed: true, Rolling: true},
	{Name: "maxTps", Amount: TopTxs, Over: TopTxsTime, Highest: true, Rolling: true},
	{Name: "avgGasPrice", Amount: Prices, Over: Txs, Rolling: true},
	{Name: "maxGasPrice", Amount: TopPrice, Highest: true, Rolling: true},
	{Name: "feesPaid", Amount: Fees, Rolling: true},
}

// ByName returns the metric with this name, or nil.
func ByName(name string) *Metric {
	for i := range Metrics {
		if Metrics[i].Name == name {
			return &Metrics[i]
		}
	}
	return nil
}

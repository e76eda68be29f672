package metric

// Quantity is something that tallies count; its name is that of the column.
type Quantity string

// The quantities that metrics are made of.
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

// Metric is the definition of a chain metric: how a value follows from tallies.
type Metric struct {
	Name   string
	Amount Quantity
	Over   Quantity // what the amount is divided by, if anything
	Long   bool     // whether it has points of other intervals than a day

	Elapsed bool // the amount is divided by the time since the last block before the interval
	Running bool // the amount is summed from the first interval on,
	Before  bool // up to but without the point's own
	Highest bool // over several tallies the highest rate counts, not the sum

	// Latest is the quantity that, summed over the last intervals, gives the distinct count over all of them.
	Latest Quantity
	// Rolling says that there are values for windows that end at the clock.
	Rolling bool
}

// Metrics are the chain metrics in the order of the specification.
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

// ByName is the metric with this name, or nil.
func ByName(name string) *Metric {
	for i := range Metrics {
		if Metrics[i].Name == name {
			return &Metrics[i]
		}
	}
	return nil
}

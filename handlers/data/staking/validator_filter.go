package staking

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
)

// stakerStatuses names a staker's statuses by number.
var stakerStatuses = []string{"pending", "active", "completed", "removed"}

var (
	sortBys          = []string{"blockIndex", "delegationCapacity", "timeRemaining", "delegationFee", "uptimePerformance"}
	validationStatus = rest.Param{Name: "validationStatus", Kind: schema.KindEnum, Enum: []string{"completed", "active", "pending", "removed"}}
	subnetParam      = rest.Param{Name: "subnetId", Kind: schema.KindID, List: true, MaxItems: 64, Doc: "Only validators of these subnets."}
)

// validatorFilters lists the filters of the list of validators. A range drops validators without that property (a subnet's validator has no
// fee) as soon as either end is given.
var validatorFilters = data.JoinParams(
	rest.Param{Name: "nodeIds", Kind: schema.KindNodeIDPart, List: true, MaxItems: 64,
		Doc: "Parts of node ids, NodeID- included, in the right case. Lists the validators whose node's id contains one of them."},
	rest.Param{Name: "sortBy", Kind: schema.KindEnum, Enum: sortBys, Default: "blockIndex",
		Doc: "blockIndex, which the live service also accepts to sort by time, is the block of the staking transaction. Ties go by transaction hash, in the same direction. In descending order, validators without a value come last. " +
			"delegationFee works only on mainnet, with the primary network's subnetId."},
	data.SortOrderParam, validationStatus,
	rest.Param{Name: "minDelegationCapacity", Kind: schema.KindAmount, Min: "0", Max: "720000000000000000", NotAbove: "maxDelegationCapacity",
		Doc: "nAVAX, inclusive. Leaves out all but active validators of the primary network, because only they have a capacity."},
	rest.Param{Name: "maxDelegationCapacity", Kind: schema.KindAmount, Min: "0", Max: "720000000000000000", Doc: "nAVAX, inclusive."},
	rest.Param{Name: "minTimeRemaining", Kind: schema.KindNumber, Min: "0", Max: "2147483647", NotAbove: "maxTimeRemaining",
		Doc: "Seconds, inclusive. Leaves out all but active and pending validators, because only they have time left."},
	rest.Param{Name: "maxTimeRemaining", Kind: schema.KindNumber, Min: "0", Max: "2147483647", Doc: "Seconds, inclusive."},
	rest.Param{Name: "minFeePercentage", Kind: schema.KindNumber, Min: "2", Max: "100", Default: "2", NotAbove: "maxFeePercentage",
		Doc: "Percent, inclusive. Leaves out validators of other subnets. The default applies only if you set maxFeePercentage."},
	rest.Param{Name: "maxFeePercentage", Kind: schema.KindNumber, Min: "2", Max: "100", Default: "100",
		Doc: "Percent, inclusive. Leaves out validators of other subnets."},
	rest.Param{Name: "minUptimePerformance", Kind: schema.KindNumber, Min: "0", Max: "100", Default: "90", NotAbove: "maxUptimePerformance",
		Doc: "Percent, inclusive. Leaves out all but active validators, because only they have an uptime. " +
			"The default applies only if you set maxUptimePerformance."},
	rest.Param{Name: "maxUptimePerformance", Kind: schema.KindNumber, Min: "0", Max: "100", Default: "100", Doc: "Percent, inclusive."},
	subnetParam,
)

// validatorFilter decides which validators a list includes.
type validatorFilter struct {
	network  *sim.Network
	now      int64
	parts    []string
	subnets  []ids.ID
	status   string
	capacity intRange
	time     intRange
	fee      intRange
	uptime   intRange
}

// intRange is an inclusive range of integers; without ends, it holds everything.
type intRange struct {
	given     bool
	low, high int64
}

const largest = 1<<63 - 1

// holds reports whether a value is in range. A missing value is in no range.
func (b intRange) holds(n int64) bool { return !b.given || n >= max(b.low, 0) && n <= b.high }

// unbounded returns the range with a name before its ends are read.
func unbounded(r *rest.Request, name string) intRange {
	return intRange{given: r.Given("min"+name) || r.Given("max"+name), high: largest}
}

// numbers reads a range of decimal numbers in units of 1/scale. Rounding inwards neither adds nor loses an integer.
func numbers(r *rest.Request, name string, scale int64) intRange {
	b := unbounded(r, name)
	if n := r.Number("min" + name); n != nil {
		floor := scaled(new(big.Rat).Neg(n), scale)
		b.low = -floor
	}
	if n := r.Number("max" + name); n != nil {
		b.high = scaled(n, scale)
	}
	return b
}

// scaled returns the largest integer up to n × scale.
func scaled(n *big.Rat, scale int64) int64 {
	n = new(big.Rat).Mul(n, new(big.Rat).SetInt64(scale))
	return new(big.Int).Div(n.Num(), n.Denom()).Int64()
}

func amounts(r *rest.Request, name string) intRange {
	b := unbounded(r, name)
	if n := r.Amount("min" + name); n != nil {
		b.low = n.Int64()
	}
	if n := r.Amount("max" + name); n != nil {
		b.high = n.Int64()
	}
	return b
}

func (a *stakingAPI) validatorFilter(r *rest.Request, n *sim.Network, now int64) (*validatorFilter, error) {
	f := &validatorFilter{
		network: n, now: now, parts: rest.List[string](r, "nodeIds"), subnets: rest.List[ids.ID](r, "subnetId"),
		status: r.Text("validationStatus"), capacity: amounts(r, "DelegationCapacity"), time: numbers(r, "TimeRemaining", 1),
		fee: numbers(r, "FeePercentage", rules.Percent), uptime: numbers(r, "UptimePerformance", rules.Percent),
	}
	if r.Text("sortBy") == "delegationFee" && (n.Name != fixtures.MainnetName || len(f.subnets) == 0 || slices.ContainsFunc(f.subnets, func(s ids.ID) bool { return s != ids.Empty })) {
		return nil, rest.BadRequest(fmt.Sprintf("sortBy delegationFee works only on mainnet with subnetId %s", ids.Empty))
	}
	return f, nil
}

func (f *validatorFilter) holds(v *query.ValidatorEntry) bool {
	return (f.status == "" || stakerStatuses[v.StatusNow] == f.status) &&
		(len(f.subnets) == 0 || slices.Contains(f.subnets, ids.ID(v.Subnet))) &&
		(len(f.parts) == 0 || slices.ContainsFunc(f.parts, func(part string) bool { return strings.Contains(v.NodeID, part) })) &&
		f.fee.holds(v.Fee()) && f.uptime.holds(v.Uptime()) && f.time.holds(v.Remaining(f.now)) && f.capacity.holds(v.Capacity(f.network))
}

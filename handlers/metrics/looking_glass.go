package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// CompositeQuery asks for the addresses that meet several conditions, or any of them.
type CompositeQuery struct {
	PageToken string     `json:"pageToken,omitempty"`
	PageSize  uint64     `json:"pageSize,omitempty" min:"1" max:"10000" doc:"Default: 1000."`
	Queries   []SubQuery `json:"queries"`
	Operator  string     `json:"operator" enum:"AND,OR"`
}

// SubQuery is a condition.
type SubQuery struct {
	ID     string         `json:"id" doc:"Names the condition in the response."`
	Type   string         `json:"type" enum:"AllTimeNativeBalance,AnyTimeNativeBalance,AllTimeErc20Balance,AnyTimeErc20Balance,AllTimeNftHolders,AnyTimeNftHolders,LatestBalance,AllTimeStarsArenaBalance,AnyTimeStarsArenaBalance,LatestBalanceStarsArena" doc:"AllTime means at every block of the range, AnyTime at any one of them. Nobody in a world holds shares of Stars Arena."`
	Params SubQueryParams `json:"params"`
}

// SubQueryParams holds the parameters of all types; each type takes some.
type SubQueryParams struct {
	EVMChainID      string `json:"evmChainId,omitempty"`
	ContractAddress string `json:"contractAddress,omitempty" format:"address"`
	MinBalance      string `json:"minBalance,omitempty" format:"uint" doc:"In the smallest unit."`
	TokenType       string `json:"tokenType,omitempty" enum:"ERC20,NATIVE" doc:"Only for LatestBalance."`
	FirstDate       string `json:"firstDate,omitempty" doc:"YYYY-MM-DD, inclusive."`
	LastDate        string `json:"lastDate,omitempty" doc:"YYYY-MM-DD, inclusive."`
	StartTimestamp  *int64 `json:"startTs,omitempty" doc:"Unix seconds; only for NFT holders, instead of the dates."`
	EndTimestamp    *int64 `json:"endTs,omitempty" doc:"Unix seconds; only for NFT holders, instead of the dates."`
	SubjectAddress  string `json:"subjectAddress,omitempty" format:"address" doc:"Only for Stars Arena."`
}

// Canonical returns the query without its page.
func (q *CompositeQuery) Canonical() any {
	c := *q
	c.PageToken, c.PageSize = "", 0
	return plainQuery(c)
}

type plainQuery CompositeQuery

// CompositeAddresses lists the addresses that a composite query finds.
type CompositeAddresses struct {
	NextPageToken  string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	SubQueryCounts map[string]int `json:"subQueryCounts" doc:"How many addresses meet each condition, by its id."`
	TotalCount     int            `json:"totalCount"`
	Addresses      []string       `json:"addresses"`
}

// compositePage is the default number of addresses on a page.
const compositePage = 1000

// maxSubQueries bounds the work of one query.
const maxSubQueries = 16

func (a *api) lookingGlass() []rest.Operation {
	return append([]rest.Operation{{
		ID: "compositeQuery", Method: http.MethodPost, Path: "/v2/lookingGlass/compositeQuery", AllNetworks: true,
		Summary: "Find the addresses whose holdings meet conditions, sorted by address",
		Body:    reflect.TypeFor[CompositeQuery](), Answer: reflect.TypeFor[CompositeAddresses](), Handle: a.composite,
	}}, a.addressOperations()...)
}

func (a *api) composite(r *rest.Request) (any, error) {
	q := rest.Body[CompositeQuery](r)
	switch {
	case len(q.Queries) == 0:
		return nil, rest.BadRequest("queries is empty: expected at least one condition")
	case len(q.Queries) > maxSubQueries:
		return nil, rest.BadRequest(fmt.Sprintf("queries has %d items: expected at most %d", len(q.Queries), maxSubQueries))
	}
	after, err := r.ResumeAt(q.PageToken)
	if err != nil {
		return nil, err
	}
	answer := CompositeAddresses{SubQueryCounts: map[string]int{}, Addresses: []string{}}
	var met []common.Address // an address repeats for each condition it meets
	for i := range q.Queries {
		found, err := a.condition(r, fmt.Sprintf("queries[%d]", i), &q.Queries[i])
		if err != nil {
			return nil, err
		}
		if _, twice := answer.SubQueryCounts[q.Queries[i].ID]; twice {
			return nil, rest.BadRequest(fmt.Sprintf("queries[%d].id %q appears twice: expected a unique id", i, schema.Shorten(q.Queries[i].ID)))
		}
		answer.SubQueryCounts[q.Queries[i].ID] = len(found)
		met = append(met, found...)
	}
	all := metBy(met, len(q.Queries), q.Operator == "OR")
	answer.TotalCount = len(all)
	size := cmp.Or(int(q.PageSize), compositePage)
	page, next := pageOf(r, all, number(after), size)
	for _, address := range page {
		answer.Addresses = append(answer.Addresses, address.Hex())
	}
	answer.NextPageToken = next
	return answer, nil
}

// metBy returns the sorted addresses that meet all of some conditions, or any, repeating each as often as it meets one.
func metBy(met []common.Address, conditions int, any bool) (all []common.Address) {
	slices.SortFunc(met, common.Address.Cmp)
	for i := 0; i < len(met); {
		end := i + 1
		for end < len(met) && met[end] == met[i] {
			end++
		}
		if any || end-i == conditions {
			all = append(all, met[i])
		}
		i = end
	}
	return all
}

// number returns the index in a list at which a page begins.
func number(position []byte) (n int) {
	for _, b := range position {
		n = n<<8 | int(b)
	}
	return n
}

// pageOf cuts a page out of a list and makes the token of the next one.
func pageOf[T any](r *rest.Request, all []T, from, size int) (page []T, next string) {
	page = all[min(from, len(all)):]
	if len(page) > size {
		page, next = page[:size], r.NextPageToken(rest.Position(uint64(from+size)))
	}
	return page, next
}

// condition finds the addresses that meet a condition; where is its place in the body.
func (a *api) condition(r *rest.Request, where string, q *SubQuery) ([]common.Address, error) {
	c := &condition{api: a, r: r, where: where + ".params.", params: &q.Params}
	var find func(passes) ([]common.Address, error)
	least := uint256.NewInt(1)
	switch q.Type {
	case "AllTimeNativeBalance", "AnyTimeNativeBalance":
		least, find = c.amount(), c.native
		c.dates()
	case "AllTimeErc20Balance", "AnyTimeErc20Balance":
		least, find = c.amount(), c.token(store.ERC20)
		c.dates()
	case "AllTimeNftHolders", "AnyTimeNftHolders":
		find = c.token(store.ERC721, store.ERC1155)
		c.dates()
	case "LatestBalance":
		least = c.amount()
		if find = c.native; q.Params.TokenType == "ERC20" {
			find = c.token(store.ERC20)
		} else if q.Params.TokenType == "" {
			c.fail("tokenType is required: expected ERC20 or NATIVE")
		}
	default: // Stars Arena
		c.amount()
		return nil, c.problem()
	}
	c.findChain()
	if err := c.problem(); err != nil {
		return nil, err
	}
	if begun, err := c.blocks(); err != nil || !begun {
		return nil, err
	}
	return find(func(h *query.HeldRange) bool {
		switch q.Type[:min(len(q.Type), len("AllTime"))] {
		case "AllTime":
			return !h.Lowest.Lt(least)
		case "AnyTime":
			return !h.Highest.Lt(least)
		}
		return !h.Last.Lt(least)
	})
}

// passes reports whether a holding meets a condition.
type passes func(*query.HeldRange) bool

// condition is a parsed condition with its faults.
type condition struct {
	*api
	r           *rest.Request
	where       string
	params      *SubQueryParams
	chain       *reader.Chain
	from, to    int64 // Unix seconds; to is exclusive
	first, last uint64
	problems    []string
}

func (c *condition) fail(format string, args ...any) {
	c.problems = append(c.problems, c.where+fmt.Sprintf(format, args...))
}

func (c *condition) problem() error {
	if len(c.problems) == 0 {
		return nil
	}
	return rest.BadRequest(c.problems...)
}

// amount returns the least required holding.
func (c *condition) amount() *uint256.Int {
	n, err := uint256.FromDecimal(c.params.MinBalance)
	if err != nil {
		c.fail("minBalance %q is not allowed: expected an integer of up to 256 bits", schema.Shorten(c.params.MinBalance))
		return new(uint256.Int)
	}
	return n
}

func (c *condition) findChain() {
	id, err := strconv.ParseUint(c.params.EVMChainID, 10, 64)
	if err == nil {
		c.chain = c.world.ChainNamed(strconv.FormatUint(id, 10))
	}
	if c.chain == nil {
		c.fail("evmChainId %q is not allowed: expected the EVM chain id of one of /v2/chains", schema.Shorten(c.params.EVMChainID))
	}
}

// dates reads the range of days, or of times where a type takes those.
func (c *condition) dates() {
	if c.params.StartTimestamp != nil && c.params.EndTimestamp != nil && c.params.FirstDate == "" && c.params.LastDate == "" {
		c.from, c.to = *c.params.StartTimestamp, *c.params.EndTimestamp
		return
	}
	first, last := c.day("firstDate", c.params.FirstDate), c.day("lastDate", c.params.LastDate)
	if c.from, c.to = first.Unix(), last.AddDate(0, 0, 1).Unix(); len(c.problems) == 0 && last.Before(first) {
		c.fail("lastDate %s is before firstDate %s", c.params.LastDate, c.params.FirstDate)
	}
}

func (c *condition) day(name, text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		c.fail("%s %q is not allowed: expected a date such as 2026-05-01", name, schema.Shorten(text))
	}
	return t
}

// blocks finds the range's blocks; without a range, an empty one after the head. begun is false if the chain began later.
func (c *condition) blocks() (begun bool, err error) {
	head, err := c.chain.Head(c.r.Context())
	if err != nil {
		return false, err
	}
	if c.first, c.last = head.Number+1, head.Number; c.to == 0 {
		return true, nil
	}
	if c.first, err = c.world.DB.FirstSince(c.r.Context(), c.chain.Row.ID, c.from); err != nil {
		return false, err
	}
	after, err := c.world.DB.FirstSince(c.r.Context(), c.chain.Row.ID, c.to)
	if err != nil || after == 0 {
		return false, err
	}
	c.last = after - 1
	return true, nil
}

// native finds the holders of the chain's native token.
func (c *condition) native(meets passes) ([]common.Address, error) {
	return query.NativeHolders(c.r.Context(), c.world.DB, c.chain, c.first, c.last, meets)
}

// token finds the holders of the token at the address, which must follow one of some standards.
func (c *condition) token(standards ...store.Standard) func(passes) ([]common.Address, error) {
	if !common.IsHexAddress(c.params.ContractAddress) {
		c.fail("contractAddress %q is not allowed: expected 0x and 40 hexadecimal digits", schema.Shorten(c.params.ContractAddress))
	}
	return func(meets passes) ([]common.Address, error) {
		address := common.HexToAddress(c.params.ContractAddress)
		token, err := c.world.DB.TokenAt(c.r.Context(), c.chain.Row.ID, address[:])
		if errors.Is(err, store.ErrNotFound) || err == nil && !slices.Contains(standards, token.ID.Standard()) {
			c.fail("contractAddress %s is not allowed: there is no such token on chain %d", address, c.chain.Row.EVMID)
			return nil, c.problem()
		}
		if err != nil {
			return nil, err
		}
		return query.TokenHolders(c.r.Context(), c.world.DB, c.chain, token, c.first, c.last, meets)
	}
}

package primary

import (
	"errors"
	"reflect"
	"runtime"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"golang.org/x/sync/errgroup"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// anyTransaction is a transaction in its chain's shape.
type anyTransaction struct{}

// Schema lists the shapes.
func (anyTransaction) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[PlatformTransaction](), reflect.TypeFor[ExchangeTransaction](),
		reflect.TypeFor[AtomicExport](), reflect.TypeFor[AtomicImport]())
}

// shownTx is a transaction in a dialect.
type shownTx struct {
	at      store.Position
	dialect schema.Dialect
}

// cachedTx is a transaction as of one block and one second of the clock: outputs get spent and stakes end.
type cachedTx struct {
	version, unix int64
	text          data.RawJSON
	outputs       int // spent and created
}

const (
	// mostOutputs bounds the outputs of the transactions on a page, which is cut short to stay below it.
	mostOutputs = 10_000
	// keptText bounds the size of a cached transaction.
	keptText = 64 << 10
)

type primaryTransactions struct {
	NextPageToken string           `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []anyTransaction `json:"transactions"`
	ChainInfo     ChainInfo        `json:"chainInfo"`
}

// pChainTxTypes lists the names of the P-Chain's transaction types that the API knows; a world does not have all of them.
var pChainTxTypes = []string{
	"AddValidatorTx", "AddSubnetValidatorTx", "AddDelegatorTx", "CreateChainTx", "CreateSubnetTx", "ImportTx", "ExportTx",
	"AdvanceTimeTx", "RewardValidatorTx", "RemoveSubnetValidatorTx", "TransformSubnetTx", "AddPermissionlessValidatorTx",
	"AddPermissionlessDelegatorTx", "BaseTx", "TransferSubnetOwnershipTx", "ConvertSubnetToL1Tx", "RegisterL1ValidatorTx",
	"SetL1ValidatorWeightTx", "DisableL1ValidatorTx", "IncreaseL1ValidatorBalanceTx", unknownTx,
}

// heliconTxTypes lists the types that the specification does not know. The live API has no names for them either.
var heliconTxTypes = []string{"AddAutoRenewedValidatorTx", "SetAutoRenewedValidatorConfigTx", "RewardAutoRenewedValidatorTx"}

// unknownTx is the live API's name of such a type.
const unknownTx = "UNKNOWN"

// txTypes lists the type names of all primary chains.
var txTypes = slices.Concat(pChainTxTypes, heliconTxTypes, []string{"CreateAssetTx", "OperationTx"})

// mostAddresses bounds the addresses in a query; a body may name more.
const mostAddresses = 64

var (
	touchedParam = rest.Param{Name: "addresses", Kind: schema.KindPrimaryParticipant, List: true, MaxItems: mostAddresses,
		Doc: "Only transactions that spent, created or staked outputs of one of these addresses, or that pay them rewards. With or without a chain's prefix; addresses of the other network are an error. " +
			"An EVM address finds imports to it and exports from it on the C-Chain."}
	typesParam = rest.Param{Name: "txTypes", Kind: schema.KindEnum, Enum: txTypes, List: true, MaxItems: len(txTypes), Doc: "Only transactions of these types. A type that the chain does not have matches nothing."}
	// pChainParam names the P-Chain.
	pChainParam = rest.Param{Name: "blockchainId", Kind: schema.KindEnum, Doc: "The P-Chain, by id or alias.",
		Same: data.SameChain, Enum: []string{ids.Empty.String(), data.ChainNames[txs.PChain]}}
)

func (a *primaryAPI) primaryTransactionOperations() []rest.Operation {
	validation := rest.Param{Name: "l1ValidationId", Kind: schema.KindIDOrHex,
		Doc: "Only P-Chain transactions about this L1 validation, by its id in cb58 or hexadecimal."}
	id := rest.Param{Name: "txHash", Kind: schema.KindID, Doc: "A transaction's id in cb58; on the C-Chain, an atomic transaction's."}
	answer := reflect.TypeFor[primaryTransactions]()
	return []rest.Operation{
		{ID: "listPrimaryTransactions", Path: primaryBlocksPath + "/transactions", Summary: "List transactions of a primary chain; on the C-Chain, the atomic ones. A page is shorter if its transactions have very many outputs",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, touchedParam, validation, typesParam, data.TimeParams, rest.Paging(10, 100), data.SortOrderParam),
			Answer: answer, Handle: a.onPrimary(a.listPrimaryTransactions)},
		{ID: "getPrimaryTransaction", Path: primaryBlocksPath + "/transactions/{txHash}", Summary: "Get a transaction of a primary chain",
			Params: data.JoinParams(data.PathNetworkParam, data.PrimaryParam, id), Answer: reflect.TypeFor[anyTransaction](), Handle: a.onPrimary(a.getPrimaryTransaction)},
		{ID: "listStakingTransactions", Path: primaryBlocksPath + "/transactions:listStaking",
			Summary: "List the transactions whose validation or delegation is active at the time of the world's clock",
			Params:  data.JoinParams(data.PathNetworkParam, pChainParam, touchedParam, typesParam, data.TimeParams, rest.Paging(10, 100), data.SortOrderParam),
			Answer:  answer, Handle: a.onPrimary(a.listStakingTransactions)},
		{ID: "listAssetTransactions", Path: primaryBlocksPath + "/assets/{assetId}/transactions", Summary: "List the X-Chain's transactions with an asset",
			Params: data.JoinParams(data.PathNetworkParam, xChainParam, rest.Param{Name: "assetId", Kind: schema.KindID}, typesParam, data.TimeParams, rest.Paging(10, 100)),
			Answer: answer, Handle: a.onPrimary(a.listAssetTransactions)},
	}
}

// txRange returns the part of the chain that a page may cover, one transaction longer than the page.
func (c *primaryChain) txRange(r *rest.Request) (f store.TxRange, err error) {
	f = store.TxRange{Types: rest.List[string](r, "txTypes"), Ascending: r.Text("sortOrder") == "asc", Limit: r.PageSize() + 1}
	if r.Dialect() == schema.Upstream && slices.Contains(f.Types, unknownTx) {
		f.Types = append(slices.Clone(f.Types), heliconTxTypes...)
	}
	n, resumed := r.PositionNumber()
	after := store.First(c.number()) + store.Position(n)
	if f.High, f.Low, err = c.times(r, c.number()); err != nil || !resumed {
		return f, err
	}
	if f.Ascending {
		f.Low = max(f.Low, after+1)
	} else {
		f.High = min(f.High, after-1)
	}
	return f, nil
}

func (a *primaryAPI) listPrimaryTransactions(r *rest.Request, c *primaryChain) (any, error) {
	owners, f, err := c.ownersAndRange(r)
	if err != nil {
		return nil, err
	}
	var at []store.Position
	switch {
	case r.Given("l1ValidationId") && c.kind != txs.PChain:
		return nil, rest.BadRequest("l1ValidationId works only on the p-chain")
	case r.Given("l1ValidationId"):
		id := rest.Value[ids.ID](r, "l1ValidationId")
		at, err = c.search(r, f, func(f store.TxRange) ([]store.Position, error) {
			return c.DB.ActivityIDs(r.Context(), [][]byte{id[:]}, f)
		}, func(at store.Position) (bool, error) { return c.touches(r, at, owners) })
	default:
		at, err = c.involving(r, owners, f)
	}
	if err != nil {
		return nil, err
	}
	return a.transactionPage(r, c, at)
}

// ownersAndRange returns the addresses that a request names, and the part of the chain that its page may cover.
func (c *primaryChain) ownersAndRange(r *rest.Request) (owners []ids.ShortID, f store.TxRange, err error) {
	if owners, err = data.AddressesOf(r, c.Network, "addresses"); err == nil {
		f, err = c.txRange(r)
	}
	return owners, f, err
}

// involving finds the transactions that involve one of some addresses, or all if there are no addresses.
func (c *primaryChain) involving(r *rest.Request, owners []ids.ShortID, f store.TxRange) ([]store.Position, error) {
	if len(owners) > 0 {
		return c.DB.ActivityIDs(r.Context(), query.Subjects(owners), f)
	}
	return c.DB.PrimaryTxIDs(r.Context(), f)
}

// touches reports whether a transaction involves one of some addresses; without any, every transaction does.
func (c *primaryChain) touches(r *rest.Request, at store.Position, owners []ids.ShortID) (bool, error) {
	for i := range owners {
		if touched, err := c.DB.PrimaryTouched(r.Context(), owners[i][:], at); err != nil || touched {
			return touched, err
		}
	}
	return len(owners) == 0, nil
}

func (a *primaryAPI) listAssetTransactions(r *rest.Request, c *primaryChain) (any, error) {
	id := rest.Value[ids.ID](r, "assetId")
	if _, err := c.DB.AssetByHash(r.Context(), c.number(), id[:]); err != nil {
		return nil, data.OrNotFound(err, rest.NotFound("asset %s does not exist on the X-Chain of %s", id, c.Name))
	}
	f, err := c.txRange(r)
	if err != nil {
		return nil, err
	}
	at, err := c.DB.ActivityIDs(r.Context(), [][]byte{id[:]}, f)
	if err != nil {
		return nil, err
	}
	return a.transactionPage(r, c, at)
}

func (a *primaryAPI) getPrimaryTransaction(r *rest.Request, c *primaryChain) (any, error) {
	id := rest.Value[ids.ID](r, "txHash")
	row, err := c.DB.PrimaryTxByHash(r.Context(), c.number(), id[:])
	if err != nil {
		return nil, c.noTransaction(id, err)
	}
	t, err := a.primaryTransaction(r, c, row.ID)
	if err != nil {
		return nil, err
	}
	return t.text, nil
}

// noTransaction explains why a transaction does not exist. The outputs of the P-Chain's genesis name one that was never issued.
func (c *primaryChain) noTransaction(id ids.ID, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if c.kind == txs.PChain && id == ids.Empty {
		return rest.NotFound("transaction %s does not exist: its id only labels the outputs of the genesis, block 0 of the %s of %s", id, data.ChainNames[c.kind], c.Name)
	}
	return rest.NotFound("transaction %s does not exist on the %s of %s", id, data.ChainNames[c.kind], c.Name)
}

// readAtOnce bounds the transactions read in parallel. Only afterwards are their outputs counted, and there may be many.
const readAtOnce = 8

// transactionPage shows as many transactions as fit on a page and leaves the rest to the next.
func (a *primaryAPI) transactionPage(r *rest.Request, c *primaryChain, at []store.Position) (any, error) {
	shown, next := data.CutPage(r, at, data.Position)
	page := &data.JSONPage{Name: "transactions", More: c.more(), Next: next}
	outputs := 0
	for some := range slices.Chunk(shown, readAtOnce) {
		read, err := a.readTransactions(r, c, some)
		if err != nil {
			return nil, err
		}
		for _, t := range read {
			if outputs += t.outputs; outputs > mostOutputs && len(page.Items) > 0 {
				page.Next = r.NextPageToken(data.Position(&shown[len(page.Items)-1]))
				return page, nil
			}
			page.Items = append(page.Items, t.text)
		}
	}
	return page, nil
}

// readTransactions reads transactions on all processors.
func (a *primaryAPI) readTransactions(r *rest.Request, c *primaryChain, at []store.Position) ([]*cachedTx, error) {
	read := make([]*cachedTx, len(at))
	var reading errgroup.Group
	reading.SetLimit(runtime.GOMAXPROCS(0))
	for i := range at {
		reading.Go(func() (err error) {
			read[i], err = a.primaryTransaction(r, c, at[i])
			return err
		})
	}
	return read, reading.Wait()
}

// primaryTransaction returns a transaction as JSON.
func (a *primaryAPI) primaryTransaction(r *rest.Request, c *primaryChain, at store.Position) (*cachedTx, error) {
	version, unix := c.DB.PrimaryCommits(), c.Clock.Unix()
	if s, ok := a.txs.Get(shownTx{at, r.Dialect()}); ok && s.version == version && s.unix == unix {
		return s, nil
	}
	b := a.view(r, c.Network)
	t, err := b.TxUTXOs(c.kind, at)
	if err != nil {
		return nil, err
	}
	shown, err := b.transaction(t)
	if err != nil {
		return nil, err
	}
	text, err := data.Marshal(shown)
	if err != nil {
		return nil, err
	}
	s := &cachedTx{version, unix, text, len(t.ConsumedUTXOs) + len(t.EmittedUTXOs)}
	if len(text) <= keptText {
		a.txs.Add(shownTx{at, r.Dialect()}, s)
	}
	return s, nil
}

func (b *chainView) transaction(t *query.TxUTXOs) (any, error) {
	switch t.Kind {
	case txs.PChain:
		return b.pChainTransaction(t)
	case txs.XChain:
		return b.xChainTransaction(t)
	}
	return b.cChainTransaction(t)
}

func (a *primaryAPI) listStakingTransactions(r *rest.Request, c *primaryChain) (any, error) {
	owners, f, err := c.ownersAndRange(r)
	if err != nil {
		return nil, err
	}
	if len(f.Types) == 0 {
		f.Types = query.StakingTypes
	}
	f.Limit = max(f.Limit, stakesAtOnce)
	var active map[store.Position]bool // of the last batch found
	at, err := c.search(r, f, func(f store.TxRange) (found []store.Position, err error) {
		found, err = c.involving(r, owners, f)
		if err == nil && len(found) > 0 {
			active, err = query.ActiveStakes(r.Context(), c.Network, min(found[0], found[len(found)-1]), max(found[0], found[len(found)-1]))
		}
		return found, err
	}, func(at store.Position) (bool, error) { return active[at], nil })
	if err != nil {
		return nil, err
	}
	return a.transactionPage(r, c, at)
}

// stakesAtOnce is the least number of staking transactions read together: many of their stakes have ended.
const stakesAtOnce = 128

// search reads on until enough of its finds pass.
func (c *primaryChain) search(r *rest.Request, f store.TxRange, find func(store.TxRange) ([]store.Position, error),
	passes func(store.Position) (bool, error)) (page []store.Position, err error) {
	for {
		found, err := find(f)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			ok, err := passes(at)
			if err != nil {
				return nil, err
			}
			if ok {
				page = append(page, at)
			}
			if len(page) > r.PageSize() {
				return page, nil
			}
		}
		if len(found) < f.Limit {
			return page, nil
		}
		if last := found[len(found)-1]; f.Ascending {
			f.Low = last + 1
		} else {
			f.High = last - 1
		}
	}
}

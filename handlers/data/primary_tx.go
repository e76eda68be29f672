package data

import (
	"errors"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// anyTransaction is a transaction in the shape of its chain.
type anyTransaction struct{}

// Schema is one of the shapes.
func (anyTransaction) Schema(d *handlers.Schemas) *handlers.Schema {
	return either(d, reflect.TypeFor[PlatformTransaction](), reflect.TypeFor[ExchangeTransaction](),
		reflect.TypeFor[AtomicExport](), reflect.TypeFor[AtomicImport]())
}

// cachedTx is a transaction as one block and one second of the clock have it: outputs are spent, stakes end.
type cachedTx struct {
	version, unix int64
	text          rawJSON
	outputs       int // that it spent and made
}

const (
	// mostOutputs is how many outputs the transactions of a page may have: a page that would have more is shorter.
	mostOutputs = 10_000
	// keptText is the size above which a transaction is not kept in the cache.
	keptText = 64 << 10
)

type primaryTransactions struct {
	NextPageToken string           `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []anyTransaction `json:"transactions"`
	ChainInfo     ChainInfo        `json:"chainInfo"`
}

// pChainTxTypes are the names of the types of the P-Chain's transactions that the API knows; a world has not all of them.
var pChainTxTypes = []string{
	"AddValidatorTx", "AddSubnetValidatorTx", "AddDelegatorTx", "CreateChainTx", "CreateSubnetTx", "ImportTx", "ExportTx",
	"AdvanceTimeTx", "RewardValidatorTx", "RemoveSubnetValidatorTx", "TransformSubnetTx", "AddPermissionlessValidatorTx",
	"AddPermissionlessDelegatorTx", "BaseTx", "TransferSubnetOwnershipTx", "ConvertSubnetToL1Tx", "RegisterL1ValidatorTx",
	"SetL1ValidatorWeightTx", "DisableL1ValidatorTx", "IncreaseL1ValidatorBalanceTx", "UNKNOWN",
}

// txTypes are the names of the types of all primary chains.
var txTypes = slices.Concat(pChainTxTypes, []string{"CreateAssetTx", "OperationTx"})

// mostAddresses is how many addresses a query may name; a body may name more.
const mostAddresses = 64

var (
	touchedParam = handlers.Param{Name: "addresses", Kind: handlers.KindToucher, List: true, MaxItems: mostAddresses,
		Doc: "Only transactions that touched one of these addresses, as owner of what they spent, made, staked or reward; with a chain's prefix or without; one of the other network is refused. " +
			"An EVM address finds imports to it and exports from it on the C-Chain."}
	typesParam = handlers.Param{Name: "txTypes", Kind: handlers.KindEnum, Enum: txTypes, List: true, MaxItems: len(txTypes), Doc: "Only transactions of these types; a type that the chain does not know finds none."}
	// pChainParam names the P-Chain.
	pChainParam = handlers.Param{Name: "blockchainId", Kind: handlers.KindEnum, Doc: "The P-Chain, by id or alias.",
		Same: sameChain, Enum: []string{ids.Empty.String(), chainNames[primary.PChain]}}
)

func (a *primaryAPI) primaryTransactionOperations() []handlers.Operation {
	validation := handlers.Param{Name: "l1ValidationId", Kind: handlers.KindHexID,
		Doc: "Only transactions of the P-Chain about this L1 validation, by its id in cb58 or hexadecimal."}
	id := handlers.Param{Name: "txHash", Kind: handlers.KindID, Doc: "A transaction's id in cb58; on the C-Chain that of an atomic one."}
	answer := reflect.TypeFor[primaryTransactions]()
	return []handlers.Operation{
		{ID: "listPrimaryTransactions", Path: primaryBlocksPath + "/transactions", Summary: "List transactions of a primary chain; of the C-Chain the atomic ones. A page is shorter if they have very many outputs",
			Params: with(pathNetworkParam, primaryParam, touchedParam, validation, typesParam, timeParams, handlers.Paging(10, 100), sortOrderParam),
			Answer: answer, Handle: a.onPrimary(a.listPrimaryTransactions)},
		{ID: "getPrimaryTransaction", Path: primaryBlocksPath + "/transactions/{txHash}", Summary: "Get a transaction of a primary chain",
			Params: with(pathNetworkParam, primaryParam, id), Answer: reflect.TypeFor[anyTransaction](), Handle: a.onPrimary(a.getPrimaryTransaction)},
		{ID: "listStakingTransactions", Path: primaryBlocksPath + "/transactions:listStaking",
			Summary: "List the transactions whose validation or delegation is active by the world's clock",
			Params:  with(pathNetworkParam, pChainParam, touchedParam, typesParam, timeParams, handlers.Paging(10, 100), sortOrderParam),
			Answer:  answer, Handle: a.onPrimary(a.listStakingTransactions)},
		{ID: "listAssetTransactions", Path: primaryBlocksPath + "/assets/{assetId}/transactions", Summary: "List the X-Chain's transactions with an asset",
			Params: with(pathNetworkParam, xChainParam, handlers.Param{Name: "assetId", Kind: handlers.KindID}, typesParam, timeParams, handlers.Paging(10, 100)),
			Answer: answer, Handle: a.onPrimary(a.listAssetTransactions)},
	}
}

// txRange is the part of the chain that a page may show, one transaction longer than the page.
func (c *primaryChain) txRange(r *handlers.Request) (f store.TxRange, err error) {
	f = store.TxRange{Types: handlers.List[string](r, "txTypes"), Ascending: r.Text("sortOrder") == "asc", Limit: r.PageSize() + 1}
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

func (a *primaryAPI) listPrimaryTransactions(r *handlers.Request, c *primaryChain) (any, error) {
	owners, err := addressesOf(r, c.Ledger, "addresses")
	if err != nil {
		return nil, err
	}
	f, err := c.txRange(r)
	if err != nil {
		return nil, err
	}
	var at []store.Position
	switch {
	case r.Given("l1ValidationId") && c.kind != primary.PChain:
		return nil, handlers.BadRequest("l1ValidationId is only possible on the p-chain")
	case r.Given("l1ValidationId"):
		id := handlers.Value[ids.ID](r, "l1ValidationId")
		at, err = c.search(r, f, func(f store.TxRange) ([]store.Position, error) {
			return c.DB.ActivityIDs(r.Context(), [][]byte{id[:]}, f)
		}, func(at store.Position) (bool, error) { return c.touches(r, at, owners) })
	case len(owners) > 0:
		at, err = c.DB.ActivityIDs(r.Context(), subjects(owners), f)
	default:
		at, err = c.DB.PrimaryTxIDs(r.Context(), f)
	}
	if err != nil {
		return nil, err
	}
	return a.transactionPage(r, c, at)
}

// touches tells whether a transaction touched one of some addresses; without any, every transaction does.
func (c *primaryChain) touches(r *handlers.Request, at store.Position, owners []ids.ShortID) (bool, error) {
	for i := range owners {
		if touched, err := c.DB.PrimaryTouched(r.Context(), owners[i][:], at); err != nil || touched {
			return touched, err
		}
	}
	return len(owners) == 0, nil
}

func (a *primaryAPI) listAssetTransactions(r *handlers.Request, c *primaryChain) (any, error) {
	id := handlers.Value[ids.ID](r, "assetId")
	if _, err := c.DB.AssetByHash(r.Context(), c.number(), id[:]); err != nil {
		return nil, or(err, handlers.NotFound("asset %s does not exist on the X-Chain of %s", id, c.Network))
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

func (a *primaryAPI) getPrimaryTransaction(r *handlers.Request, c *primaryChain) (any, error) {
	id := handlers.Value[ids.ID](r, "txHash")
	row, err := c.DB.PrimaryTxByHash(r.Context(), c.number(), id[:])
	if err != nil {
		return nil, c.noTransaction(r, id, err)
	}
	t, err := a.primaryTransaction(r, c, row.ID)
	if err != nil {
		return nil, err
	}
	return t.text, nil
}

// noTransaction says why there is no transaction. The outputs of a genesis name one that nobody made.
func (c *primaryChain) noTransaction(r *handlers.Request, id ids.ID, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	genesis := c.kind == primary.PChain && id == ids.Empty
	if c.kind == primary.XChain {
		asset, err := c.DB.AssetByHash(r.Context(), c.number(), id[:])
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		genesis = err == nil && asset.ID.Number() == 0
	}
	if genesis {
		return handlers.NotFound("transaction %s does not exist: outputs name it that the genesis of the %s of %s made, which is block 0", id, chainNames[c.kind], c.Network)
	}
	return handlers.NotFound("transaction %s does not exist on the %s of %s", id, chainNames[c.kind], c.Network)
}

// transactionPage shows as many transactions as fit on a page; those that do not are the next page's.
func (a *primaryAPI) transactionPage(r *handlers.Request, c *primaryChain, at []store.Position) (any, error) {
	shown, next := cut(r, at, position)
	page := &jsonPage{name: "transactions", more: c.more()}
	outputs := 0
	for i := range shown {
		t, err := a.primaryTransaction(r, c, shown[i])
		if err != nil {
			return nil, err
		}
		if outputs += t.outputs; outputs > mostOutputs && i > 0 {
			next = r.NextPageToken(position(&shown[i-1]))
			break
		}
		page.items = append(page.items, t.text)
	}
	page.next = next
	return page, nil
}

// primaryTransaction is a transaction as JSON.
func (a *primaryAPI) primaryTransaction(r *handlers.Request, c *primaryChain, at store.Position) (*cachedTx, error) {
	version, unix := c.DB.Primaries(), c.Clock.Unix()
	if s, ok := a.txs.Get(at); ok && s.version == version && s.unix == unix {
		return s, nil
	}
	b := a.view(r, c.Ledger)
	t, err := b.txUTXOs(c.kind, at)
	if err != nil {
		return nil, err
	}
	shown, err := b.transaction(t)
	if err != nil {
		return nil, err
	}
	text, err := marshal(shown)
	if err != nil {
		return nil, err
	}
	s := &cachedTx{version, unix, text, len(t.consumed) + len(t.emitted)}
	if len(text) <= keptText {
		a.txs.Add(at, s)
	}
	return s, nil
}

func (b *chainView) transaction(t *txUTXOs) (any, error) {
	switch t.kind {
	case primary.PChain:
		return b.pChainTransaction(t)
	case primary.XChain:
		return b.xChainTransaction(t)
	}
	return b.cChainTransaction(t)
}

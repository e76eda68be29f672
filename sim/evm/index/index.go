package index

import (
	"bytes"
	"context"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// Index adds to each block of a chain the rows of transfers, balances, tokens, deployments and messages; it holds the chain's tokens.
//
// A contract is a token if it behaves like one (see ContractReader.standard); Index calls it when it is deployed, and again when a contract
// that was no token reports a transfer. Balances are the contract's own answers after the block, for everyone its Transfer, Deposit and
// Withdrawal logs name, so they equal a call to balanceOf. If a token changes the balance of an address that no log names, Index misses the
// change.
type Index struct {
	chain      int
	blockchain ids.ID // the chain's ID
	network    WorldChains
	tokens     map[common.Address]store.TokenID
	counts     [3]int
	documents  *Documents // nil except while the world is being made
}

func New(chain int) *Index {
	return &Index{chain: chain, tokens: map[common.Address]store.TokenID{}}
}

// WorldChains knows which blockchains are EVM chains of the world.
type WorldChains interface {
	Simulates(blockchain ids.ID) bool
}

// SetNetwork sets the blockchain of the index and the world's EVM chains. A Teleporter message from any other chain is indexed on arrival,
// because the world does not have the log that sent it.
func (x *Index) SetNetwork(blockchain ids.ID, world WorldChains) {
	x.blockchain, x.network = blockchain, world
}

// Remember shares a cache of documents with the index.
func (x *Index) Remember(d *Documents) { x.documents = d }

// Restore reads the tokens that a chain already has.
func (x *Index) Restore(ctx context.Context, db *store.DB) error {
	for s := store.ERC20; s <= store.ERC1155; s++ {
		rows, err := db.Tokens(ctx, x.chain, s, 0)
		if err != nil {
			return err
		}
		for i := range rows {
			x.tokens[common.BytesToAddress(rows[i].Address)] = rows[i].ID
			x.counts[s] = rows[i].ID.Count()
		}
	}
	return nil
}

// blockIndex adds the rows of one block.
type blockIndex struct {
	*Index
	delta  *store.Delta
	block  store.Position
	time   int64
	open   func() (*ContractReader, error)
	reader *ContractReader // opened when first needed

	tokenBalances map[string]bool // owner and asset of holdings that already have a row
	nftStates     map[string]bool
}

// Add completes a block's delta with its index rows. open makes a reader of contracts on the state after the block.
func (x *Index) Add(delta *store.Delta, number uint64, time int64, open func() (*ContractReader, error)) error {
	w := &blockIndex{Index: x, delta: delta, block: store.At(x.chain, number, 0), time: time, open: open,
		tokenBalances: map[string]bool{}, nftStates: map[string]bool{}}
	if err := w.addDeployments(number); err != nil {
		return err
	}
	for i := range delta.Logs {
		if err := w.addLog(&delta.Logs[i]); err != nil {
			return err
		}
		w.addTeleporterLog(&delta.Logs[i])
	}
	w.addTouches()
	if w.reader != nil {
		w.reader.release()
		return store.Inside(w.reader.state.Error())
	}
	return nil
}

func (w *blockIndex) contractReader() (*ContractReader, error) {
	if w.reader != nil {
		return w.reader, nil
	}
	var err error
	w.reader, err = w.open()
	return w.reader, err
}

// addDeployments lists the contracts created in the block, and adds the tokens among them. Contracts in the genesis have no deployment.
func (w *blockIndex) addDeployments(number uint64) error {
	hasCode := map[common.Address]bool{}
	for i := range w.delta.Accounts {
		if a := &w.delta.Accounts[i]; a.CodeHash != nil {
			hasCode[common.BytesToAddress(a.Address)] = true
			if number == 0 {
				if err := w.addToken(common.BytesToAddress(a.Address)); err != nil {
					return err
				}
			}
		}
	}
	next := 0
	for i := range w.delta.Transactions {
		tx := &w.delta.Transactions[i]
		if tx.Created != nil && tx.Status == 1 && hasCode[common.BytesToAddress(tx.Created)] {
			if err := w.addDeployment(i, tx.Created, nil); err != nil {
				return err
			}
		}
		for ; next < len(w.delta.Calls) && w.delta.Calls[next].Tx == i; next++ {
			c := &w.delta.Calls[next]
			created := (c.Type == "CREATE" || c.Type == "CREATE2") && !c.Reverted && c.Error == ""
			if !created || !hasCode[common.BytesToAddress(c.Recipient)] {
				continue
			}
			if err := w.addDeployment(i, c.Recipient, c.Sender); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *blockIndex) addDeployment(tx int, address, creator []byte) error {
	w.delta.Deployments = append(w.delta.Deployments, store.Deployment{
		ID: w.block + store.Position(len(w.delta.Deployments)), Tx: tx, Address: address,
		Sender: w.delta.Transactions[tx].Sender, Creator: creator,
	})
	return w.addToken(common.BytesToAddress(address))
}

func (w *blockIndex) addToken(contract common.Address) error {
	if _, known := w.tokens[contract]; known {
		return nil
	}
	p, err := w.contractReader()
	if err != nil {
		return err
	}
	s, ok := p.standard(contract)
	if !ok || w.counts[s] == store.MaxTokens {
		return nil
	}
	w.counts[s]++
	t := p.token(contract, s)
	t.ID, t.Block = store.NewTokenID(w.chain, s, w.counts[s]), w.block.Number()
	w.tokens[contract] = t.ID
	w.delta.Tokens = append(w.delta.Tokens, t)
	return nil
}

// addLog adds a log's transfers, holders and metadata.
func (w *blockIndex) addLog(l *store.Log) error {
	contract := common.BytesToAddress(l.Address)
	token, known := w.tokens[contract]
	if !known {
		if !IsTransfer(l) {
			return nil
		}
		if err := w.addToken(contract); err != nil {
			return err
		}
		if token, known = w.tokens[contract]; !known {
			return nil
		}
	}
	p, err := w.contractReader()
	if err != nil {
		return err
	}
	for _, m := range tokenTransfers(token.Standard(), l) {
		w.addTransfer(p, contract, token, l, m)
	}
	if holder := wrappedHolder(l); holder != nil && token.Standard() == store.ERC20 {
		w.addTokenBalance(p, contract, token.Asset(nil), holder)
	}
	if item := updatedItem(token.Standard(), l); item != nil {
		w.addNFTState(p, contract, token.Asset(item))
	}
	return nil
}

// addTransfer adds a transfer. A block's gas limit keeps their number below what positions have room for.
func (w *blockIndex) addTransfer(p *ContractReader, contract common.Address, token store.TokenID, l *store.Log, m tokenTransfer) {
	asset := token.Asset(m.item)
	if len(w.delta.Transfers) <= store.MaxIndex {
		w.delta.Transfers = append(w.delta.Transfers, store.Transfer{
			ID: w.block + store.Position(len(w.delta.Transfers)), Tx: l.Tx, Log: l.ID.Index(), Standard: token.Standard(),
			Asset: asset, Sender: bytes.Clone(m.from), Recipient: bytes.Clone(m.to), Amount: m.amount,
		})
	}
	if token.Standard() != store.ERC20 {
		w.addNFTState(p, contract, asset)
	}
	w.addTokenBalance(p, contract, asset, m.from)
	w.addTokenBalance(p, contract, asset, m.to)
}

func (w *blockIndex) addTokenBalance(p *ContractReader, contract common.Address, asset store.AssetKey, owner []byte) {
	key := string(owner) + string(asset)
	if w.tokenBalances[key] || common.BytesToAddress(owner) == (common.Address{}) {
		return
	}
	w.tokenBalances[key] = true
	var amount []byte
	switch asset.Token().Standard() {
	case store.ERC20:
		amount, _ = p.number(contract, methodBalanceOf, owner)
	case store.ERC1155:
		amount, _ = p.number(contract, methodBalanceOfItem, owner, asset.Item())
	case store.ERC721:
		if bytes.Equal(p.owner(contract, asset), owner) {
			amount = []byte{1}
		}
	}
	w.delta.TokenBalances = append(w.delta.TokenBalances, store.TokenBalance{
		Owner: bytes.Clone(owner), Asset: asset, Block: w.block.Number(), Amount: append([]byte{}, amount...),
	})
}

func (w *blockIndex) addNFTState(p *ContractReader, contract common.Address, asset store.AssetKey) {
	if w.nftStates[string(asset)] {
		return
	}
	w.nftStates[string(asset)] = true
	row := store.NFTState{Asset: asset, Block: w.block}
	method := methodURI
	if asset.Token().Standard() == store.ERC721 {
		row.Owner, method = p.owner(contract, asset), methodTokenURI
	}
	key, plain := w.documents.of(p.slots, contract, asset.Item())
	if plain {
		row.Known = w.documents.find(key)
	}
	if row.Known == nil {
		if text, ok := p.text(contract, method, asset.Item()); ok {
			uri := store.URI(text)
			row.URI = &uri
			if plain {
				w.documents.add(key, uri.Hash())
			}
		}
	}
	w.delta.NFTStates = append(w.delta.NFTStates, row)
}

// owner returns the holder of an ERC-721 token, nil for none.
func (p *ContractReader) owner(contract common.Address, asset store.AssetKey) []byte {
	answer := p.call(contract, methodOwnerOf, asset.Item())
	if len(answer) != 32 || common.BytesToAddress(answer) == (common.Address{}) {
		return nil
	}
	return answer[12:]
}

// addTouches lists the addresses that took part in a transaction, other than its sender and recipient.
func (w *blockIndex) addTouches() {
	type part struct {
		tx      int
		address common.Address
	}
	seen := make(map[part]bool, 2*len(w.delta.Transactions))
	for i := range w.delta.Transactions {
		tx := &w.delta.Transactions[i]
		for _, address := range [][]byte{tx.Sender, tx.Recipient, tx.Created} {
			if address != nil {
				seen[part{i, common.BytesToAddress(address)}] = true
			}
		}
	}
	touch := func(tx int, addresses ...[]byte) {
		for _, address := range addresses {
			key := part{tx, common.BytesToAddress(address)}
			if !seen[key] {
				seen[key] = true
				w.delta.Touches = append(w.delta.Touches, store.Touch{Address: address, Tx: w.block + store.Position(tx)})
			}
		}
	}
	for i := range w.delta.Transfers {
		t := &w.delta.Transfers[i]
		touch(t.Tx, t.Sender, t.Recipient)
	}
	for i := range w.delta.Calls {
		if c := &w.delta.Calls[i]; c.Type != "SELFDESTRUCT" {
			touch(c.Tx, c.Sender, c.Recipient)
		}
	}
}

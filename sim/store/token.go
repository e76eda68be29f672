package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"snowglobe/sim/store/bulk"
)

// Standard is a contract's token standard.
type Standard int

// The standards, in the sort order of assets.
const (
	ERC20 Standard = iota
	ERC721
	ERC1155
)

// String returns the standard's name.
func (s Standard) String() string { return [...]string{"ERC-20", "ERC-721", "ERC-1155"}[s] }

// TokenID orders the tokens of a world by chain, standard and first appearance.
type TokenID int64

const (
	tokenBits    = 28
	standardBits = 4
	// MaxTokens is the most tokens of one standard on a chain.
	MaxTokens = 1<<tokenBits - 1
)

// NewTokenID returns the id of the n-th token of a standard on a chain.
func NewTokenID(chain int, standard Standard, n int) TokenID {
	return TokenID(int64(chain)<<(tokenBits+standardBits) | int64(standard)<<tokenBits | int64(n))
}

// Chain returns the row id of the token's chain.
func (id TokenID) Chain() int { return int(id >> (tokenBits + standardBits)) }

// Standard returns the token's standard.
func (id TokenID) Standard() Standard { return Standard(id>>tokenBits) & (1<<standardBits - 1) }

// Count returns the token's number among the tokens of its standard on its chain.
func (id TokenID) Count() int { return int(id & MaxTokens) }

// AssetKey identifies an asset: a whole ERC-20, or one item of another token. It sorts by token and item number.
type AssetKey []byte

const assetToken = 6 // bytes for the token in an asset

// Asset returns the key of an item, given its number without leading zeros; an ERC-20 is a single asset.
func (id TokenID) Asset(item []byte) AssetKey {
	key := binary.BigEndian.AppendUint64(nil, uint64(id))[8-assetToken:]
	if id.Standard() == ERC20 {
		return key
	}
	return append(append(key, byte(len(item))), item...)
}

// Token returns the asset's token.
func (a AssetKey) Token() TokenID {
	var b [8]byte
	copy(b[8-assetToken:], a[:assetToken])
	return TokenID(binary.BigEndian.Uint64(b[:]))
}

// Item returns the item's number without leading zeros.
func (a AssetKey) Item() []byte {
	if len(a) <= assetToken {
		return nil
	}
	return a[assetToken+1:]
}

const (
	assetChain   = 2 // bytes for the chain in an asset
	compactToken = 2 // bytes for the token's number in a compact key
	compactItem  = 3 // bytes for the item's number
)

// Key returns the part of the asset that distinguishes it on its chain, for a page token: five bytes for all but the largest numbers.
func (a AssetKey) Key() []byte {
	token, item := a.Token(), a.Item()
	if token.Standard() == ERC20 {
		return a[assetChain:]
	}
	n := token.Count()<<standardBits | int(token.Standard())
	if n >= 1<<(8*compactToken) || len(item) > compactItem {
		return append([]byte{0}, a[assetChain:]...)
	}
	key := make([]byte, compactToken+compactItem)
	binary.BigEndian.PutUint16(key, uint16(n))
	copy(key[compactToken+compactItem-len(item):], item)
	return key
}

// AssetOf returns the chain's asset with this key, nil if no asset can have it.
func AssetOf(chain int, key []byte) AssetKey {
	switch n := len(key); {
	case n == assetToken-assetChain:
		return append(NewTokenID(chain, ERC20, 0).Asset(nil)[:assetChain:assetChain], key...)
	case n == compactToken+compactItem:
		number := int(binary.BigEndian.Uint16(key))
		id := NewTokenID(chain, Standard(number&(1<<standardBits-1)), number>>standardBits)
		return id.Asset(bytes.TrimLeft(key[compactToken:], "\x00"))
	case n > compactToken+compactItem:
		return append(NewTokenID(chain, ERC20, 0).Asset(nil)[:assetChain:assetChain], key[1:]...)
	default:
		return nil
	}
}

// Token is a contract that is a token.
type Token struct {
	ID       TokenID `db:"id"`
	Address  []byte  `db:"address"`
	Block    uint64  `db:"block"` // number of the block in which it was first seen
	Name     string  `db:"name"`
	Symbol   string  `db:"symbol"`
	Decimals int     `db:"decimals"`
}

const tokenColumns = `id, address, block, name, symbol, decimals`

// Token reads a token.
func (db *DB) Token(ctx context.Context, id TokenID) (*Token, error) {
	return Get[Token](ctx, db, `SELECT `+tokenColumns+` FROM token WHERE id = ?`, id)
}

// Tokens reads a chain's tokens of a standard after the first n, in order.
func (db *DB) Tokens(ctx context.Context, chain int, standard Standard, n int) ([]Token, error) {
	return List[Token](ctx, db, `SELECT `+tokenColumns+` FROM token WHERE id > ? AND id <= ? ORDER BY id`,
		NewTokenID(chain, standard, n), NewTokenID(chain, standard, MaxTokens))
}

// TokenAt reads the token at a contract address of a chain.
func (db *DB) TokenAt(ctx context.Context, chain int, address []byte) (*Token, error) {
	return Get[Token](ctx, db, `SELECT `+tokenColumns+` FROM token WHERE address = ? AND id > ? AND id <= ? LIMIT 0 + 1`,
		address, NewTokenID(chain, ERC20, 0), NewTokenID(chain, ERC1155, MaxTokens))
}

func (b *Batch) addToken(t *Token) error {
	b.tokens = true
	return b.exec(`INSERT INTO token (`+tokenColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		t.ID, t.Address, t.Block, t.Name, t.Symbol, t.Decimals)
}

// Market holds the price series and the reputation of a token.
type Market struct {
	Chain      int    `db:"chain"`
	Address    []byte `db:"address"`    // the zero address is the chain's own token
	Reputation string `db:"reputation"` // Malicious, or empty when nothing is known
	Series     string `db:"series"`     // name of the price series, empty without a market
	Price      int64  `db:"price"`      // about which the series moves, 10^-8 US dollars
	Amplitude  int64  `db:"swing"`      // how far it moves, millionths
}

// Markets lists the market data of a chain's tokens.
func (db *DB) Markets(ctx context.Context, chain int) ([]Market, error) {
	return List[Market](ctx, db, `SELECT chain, address, reputation, series, price, swing FROM market WHERE chain = ? ORDER BY address`,
		chain)
}

// AddMarket writes a token's market data.
func (b *Batch) AddMarket(m Market) error {
	b.tokens = true
	return b.exec(`INSERT INTO market (chain, address, reputation, series, price, swing) VALUES (?, ?, ?, ?, ?, ?)`,
		m.Chain, m.Address, m.Reputation, m.Series, m.Price, m.Amplitude)
}

// NFTState is an item of an ERC-721 or an ERC-1155 from a block on, until a later row.
type NFTState struct {
	Asset AssetKey `db:"asset"`
	Block Position `db:"block"`
	Owner []byte   `db:"owner"` // nil for an ERC-1155, and for a token that is gone
	URI   *URI     `db:"uri"`   // of the metadata, nil when the contract fails to say
	Known *URIHash // replaces a URI that an earlier row had
}

// NFT holds the current data of an item.
type NFT struct {
	Owner   []byte `db:"owner"`
	URI     *URI   `db:"uri"`
	Updated *int64 `db:"updated"` // when that became known, Unix seconds
}

// uriColumn selects the metadata URI of a row n of nft.
const uriColumn = `(SELECT uri FROM nft_uri WHERE id = n.uri) AS uri`

// nftColumns selects the columns of a row n of nft.
const nftColumns = `n.owner, ` + uriColumn + `, (SELECT time FROM block WHERE id = n.block) AS updated`

// NFT reads the current data of an item.
func (db *DB) NFT(ctx context.Context, asset AssetKey) (*NFT, error) {
	return Get[NFT](ctx, db, `SELECT `+nftColumns+` FROM nft n WHERE asset = ? ORDER BY block DESC LIMIT 1`, []byte(asset))
}

// Reindexed holds an indexer's findings after a client asked it to look at an item again.
type Reindexed struct {
	Asset    AssetKey `db:"asset"`
	Time     int64    `db:"time"` // Unix seconds
	URI      *string  `db:"uri"`
	Status   string   `db:"status"`
	Document string   `db:"document"`
}

// AnyReindexed reports whether a client asked for any item.
func (db *DB) AnyReindexed(ctx context.Context) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM nft_reindex WHERE asset > x'')`)
}

// Reindexed reads the findings about a reindexed item.
func (db *DB) Reindexed(ctx context.Context, asset AssetKey) (*Reindexed, error) {
	return Get[Reindexed](ctx, db, `SELECT asset, time, uri, status, document FROM nft_reindex WHERE asset = ?`, []byte(asset))
}

// PutReindexed writes the findings.
func (b *Batch) PutReindexed(r *Reindexed) error {
	return b.exec(`INSERT OR REPLACE INTO nft_reindex (asset, time, uri, status, document) VALUES (?, ?, ?, ?, ?)`,
		[]byte(r.Asset), r.Time, r.URI, r.Status, r.Document)
}

// NFTStateAt reads the row of an item that a block added.
func (db *DB) NFTStateAt(ctx context.Context, asset AssetKey, block Position) (*NFTState, error) {
	return Get[NFTState](ctx, db, `SELECT asset, block, owner, `+uriColumn+` FROM nft n WHERE asset = ? AND block = ?`, []byte(asset), block)
}

// NFTs reads at most limit items after one asset and before another, by number.
func (db *DB) NFTs(ctx context.Context, after, before AssetKey, limit int) ([]TokenBalanceView, error) {
	return List[TokenBalanceView](ctx, db, `
		WITH RECURSIVE item(asset) AS (
			SELECT min(asset) FROM nft WHERE asset > ?1 AND asset < ?2
			UNION ALL
			SELECT (SELECT min(asset) FROM nft WHERE asset > item.asset AND asset < ?2) FROM item WHERE item.asset IS NOT NULL
		)
		SELECT item.asset, x'01' AS amount, `+nftColumns+`
		FROM item CROSS JOIN nft n ON n.asset = item.asset
			AND n.block = (SELECT block FROM nft WHERE asset = item.asset ORDER BY block DESC LIMIT 1)
		LIMIT 0 + ?3`, []byte(after), []byte(before), limit)
}

var intoNFT = bulk.NewTable("nft", `asset, block, owner, uri`, true)

func (b *Batch) addNFTState(i *NFTState) error {
	var hash []byte
	if i.Known != nil {
		hash = i.Known[:]
	}
	if i.URI != nil {
		var err error
		if hash, err = b.addURI(*i.URI); err != nil {
			return err
		}
	}
	return b.insert(intoNFT, []byte(i.Asset), i.Block, i.Owner, hash)
}

// URIHash identifies a URI in rows: the beginning of its SHA-256.
type URIHash [16]byte

// Hash returns the URI's identifier in rows.
func (u URI) Hash() URIHash {
	sum := sha256.Sum256([]byte(u))
	return URIHash(sum[:])
}

// addURI writes a URI unless the file has it, and returns its identifier.
func (b *Batch) addURI(uri URI) ([]byte, error) {
	hash := uri.Hash()
	if _, known := b.uris[hash]; known {
		return hash[:], nil
	}
	b.uris[hash] = struct{}{}
	return hash[:], b.exec(`INSERT OR IGNORE INTO nft_uri (id, uri) VALUES (?, ?)`, hash[:], uri)
}

// CheckURIs checks that each URI matches its hash. It reads the whole table: only verify calls it.
func (db *DB) CheckURIs(ctx context.Context) error {
	var wrong error
	err := each(ctx, db, func(row *struct {
		ID  []byte `db:"id"`
		URI URI    `db:"uri"`
	}) {
		if hash := row.URI.Hash(); wrong == nil && !bytes.Equal(row.ID, hash[:]) {
			wrong = fmt.Errorf("table nft_uri: %x is not the hash of %.80q", row.ID, row.URI)
		}
	}, `SELECT id, uri FROM nft_uri ORDER BY id`)
	return errors.Join(err, wrong)
}

// TokenBalance is an address's balance of an asset from a block on, until a later row.
type TokenBalance struct {
	Owner  []byte   `db:"owner"`
	Asset  AssetKey `db:"asset"`
	Block  uint64   `db:"block"`
	Amount []byte   `db:"amount"` // without leading zeros, empty for nothing
}

// TokenBalance reads an address's balance of an asset after a block.
func (db *DB) TokenBalance(ctx context.Context, owner []byte, asset AssetKey, block uint64) (*TokenBalance, error) {
	return Get[TokenBalance](ctx, db, `SELECT owner, asset, block, amount FROM holding
		WHERE owner = ? AND asset = ? AND block <= ? ORDER BY block DESC LIMIT 1`, owner, []byte(asset), block)
}

// TokenBalancesOf reads an address's balances of a token's assets up to a block, each asset's newest first.
func (db *DB) TokenBalancesOf(ctx context.Context, owner []byte, token TokenID, block uint64) ([]TokenBalance, error) {
	return db.TokenBalancesAmong(ctx, [][]byte{owner}, token, block)
}

// TokenBalancesAmong reads the same for up to MostAmong addresses, one after another.
func (db *DB) TokenBalancesAmong(ctx context.Context, owners [][]byte, token TokenID, block uint64) ([]TokenBalance, error) {
	in, size := inList(len(owners))
	first, end := token.assets()
	return List[TokenBalance](ctx, db, `SELECT owner, asset, block, amount FROM holding WHERE owner IN `+in+` AND asset >= ? AND asset < ? AND block <= ?`,
		append(listArgs(owners, size), first, end, block)...)
}

// TokenBalanceView is an asset that an address holds, with the data of the item.
type TokenBalanceView struct {
	Asset  AssetKey `db:"asset"`
	Amount []byte   `db:"amount"`
	NFT
}

// heldAssets finds the assets of an address after ?2 and before ?3, one seek each, and its balance of each after block ?4. LIMIT -1 keeps
// the engine from computing an amount twice, to test it and to return it.
const heldAssets = `
	WITH RECURSIVE held(asset) AS (
		SELECT min(asset) FROM holding WHERE owner = ?1 AND asset > ?2 AND asset < ?3
		UNION ALL
		SELECT (SELECT min(asset) FROM holding WHERE owner = ?1 AND asset > held.asset AND asset < ?3)
		FROM held WHERE held.asset IS NOT NULL
	), kept(asset, amount) AS (
		SELECT asset, (SELECT amount FROM holding h WHERE owner = ?1 AND h.asset = held.asset AND block <= ?4 ORDER BY block DESC LIMIT 1)
		FROM held WHERE held.asset IS NOT NULL LIMIT -1 OFFSET 0
	)
	`

const (
	erc20Balances = heldAssets + `SELECT asset, amount FROM kept WHERE amount <> x'' LIMIT 0 + ?5`
	nftBalances   = heldAssets + `SELECT k.asset, k.amount, ` + nftColumns + `
		FROM kept k LEFT JOIN nft n ON n.asset = k.asset
			AND n.block = (SELECT block FROM nft WHERE asset = k.asset ORDER BY block DESC LIMIT 1)
		WHERE k.amount <> x'' LIMIT 0 + ?5`
)

// newestERC20Balances is heldAssets for current ERC-20 balances: one seek finds the next asset and its newest row, whose key and amount
// come as one value.
const newestERC20Balances = `
	WITH RECURSIVE held(row) AS (
		SELECT (SELECT CAST(asset || amount AS BLOB) FROM holding WHERE owner = ?1 AND asset > ?2 AND asset < ?3 ORDER BY asset, block DESC LIMIT 1)
		UNION ALL
		SELECT (SELECT CAST(asset || amount AS BLOB) FROM holding WHERE owner = ?1 AND asset > substr(held.row, 1, 6) AND asset < ?3 ORDER BY asset, block DESC LIMIT 1)
		FROM held WHERE held.row IS NOT NULL
	)
	SELECT row FROM held WHERE length(row) > 6 LIMIT 0 + ?4`

// ERC20Balances reads at most limit ERC-20 assets after one and before another that an address held after a block; use MaxNumber for now.
func (db *DB) ERC20Balances(ctx context.Context, owner []byte, after, before AssetKey, block uint64, limit int) ([]TokenBalanceView, error) {
	if block == MaxNumber {
		var all []TokenBalanceView
		err := each(ctx, db, func(row *[]byte) {
			all = append(all, TokenBalanceView{Asset: AssetKey((*row)[:assetToken:assetToken]), Amount: (*row)[assetToken:]})
		}, newestERC20Balances, owner, []byte(after), []byte(before), limit)
		return all, err
	}
	return List[TokenBalanceView](ctx, db, erc20Balances, owner, []byte(after), []byte(before), block, limit)
}

// HoldingHistory reads at most limit rows of an address's holdings, past and present, of the assets after one and before another: by asset,
// each one's newest first.
func (db *DB) HoldingHistory(ctx context.Context, owner []byte, after, before AssetKey, limit int) ([]TokenBalance, error) {
	return List[TokenBalance](ctx, db, `SELECT asset, block, amount FROM holding WHERE owner = ? AND asset > ? AND asset < ?
		ORDER BY asset, block DESC LIMIT 0 + ?`, owner, []byte(after), []byte(before), limit)
}

// heldCount counts the assets in heldAssets with a balance.
const heldCount = heldAssets + `SELECT count(*) FROM kept WHERE amount <> x''`

// HoldingCount counts the assets after one and before another that an address holds.
func (db *DB) HoldingCount(ctx context.Context, owner []byte, after, before AssetKey) (int, error) {
	return value[int](ctx, db, heldCount, owner, []byte(after), []byte(before), uint64(MaxNumber))
}

// HoldsTokens reports whether an address ever held a token.
func (db *DB) HoldsTokens(ctx context.Context, owner []byte) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM holding WHERE owner = ?)`, owner)
}

// NFTBalances is ERC20Balances for items of ERC-721 and ERC-1155 tokens, with their newest state.
func (db *DB) NFTBalances(ctx context.Context, owner []byte, after, before AssetKey, block uint64, limit int) ([]TokenBalanceView, error) {
	return List[TokenBalanceView](ctx, db, nftBalances, owner, []byte(after), []byte(before), block, limit)
}

var intoHolding = bulk.NewTable("holding", `owner, asset, block, amount`, true)

func (b *Batch) addTokenBalance(h *TokenBalance) error {
	return b.insert(intoHolding, h.Owner, []byte(h.Asset), h.Block, h.Amount)
}

// Deployment is the creation of a contract in a transaction.
type Deployment struct {
	ID      Position `db:"id"` // index counts the block's deployments
	Tx      int      `db:"tx"`
	Address []byte   `db:"address"`
	Sender  []byte   `db:"sender"`  // of the transaction
	Creator []byte   `db:"creator"` // the contract that made it, nil when the transaction did
}

// Transaction returns the position of the transaction.
func (d *Deployment) Transaction() Position { return d.ID.Block() + Position(d.Tx) }

const deploymentColumns = `id, tx, address, sender, creator`

// Deployment reads the newest deployment of a contract on a chain.
func (db *DB) Deployment(ctx context.Context, chain int, address []byte) (*Deployment, error) {
	return Get[Deployment](ctx, db, `SELECT `+deploymentColumns+` FROM deployment
		WHERE address = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`, address, First(chain), Last(chain))
}

// DeploymentView is a deployment with the hash of its transaction.
type DeploymentView struct {
	Deployment
	TxHash []byte `db:"tx_hash"`
}

// DeploymentsBy reads at most limit deployments caused by an address, as the transaction's sender or as the creating contract, from one
// position down to another.
func (db *DB) DeploymentsBy(ctx context.Context, address []byte, high, low Position, limit int) ([]DeploymentView, error) {
	return List[DeploymentView](ctx, db, `SELECT d.id, d.tx, d.address, d.sender, d.creator, t.hash AS tx_hash FROM (
			SELECT id AS page FROM deployment WHERE sender = ?1 AND id BETWEEN ?3 AND ?2
			UNION SELECT id FROM deployment WHERE creator IS NOT NULL AND creator = ?1 AND id BETWEEN ?3 AND ?2
			ORDER BY page DESC LIMIT 0 + ?4)
		CROSS JOIN deployment d ON d.id = page CROSS JOIN tx t ON t.id = (page & ~65535) + d.tx`, address, high, low, limit)
}

// DeploymentsIn reads the deployments of a block in order.
func (db *DB) DeploymentsIn(ctx context.Context, block Position) ([]Deployment, error) {
	return List[Deployment](ctx, db, `SELECT `+deploymentColumns+` FROM deployment WHERE id BETWEEN ? AND ? ORDER BY id`,
		block.Block(), block.End())
}

func (b *Batch) addDeployment(d *Deployment) error {
	return b.exec(`INSERT INTO deployment (`+deploymentColumns+`) VALUES (?, ?, ?, ?, ?)`, d.ID, d.Tx, d.Address, d.Sender, d.Creator)
}

// Contract is a contract with a role on its chain.
type Contract struct {
	Chain    int    `db:"chain"`
	Address  []byte `db:"address"`
	Role     string `db:"role"`     // unique on its chain
	Artifact string `db:"artifact"` // name of the compiled contract, empty if it is not one of the world's own
	ABI      string `db:"abi"`      // of such a contract, in JSON; empty if not given
	Logo     string `db:"logo"`     // URL of a token's logo, empty for one that is drawn
}

// Contracts lists the named contracts of a chain by role.
func (db *DB) Contracts(ctx context.Context, chain int) ([]Contract, error) {
	return List[Contract](ctx, db, `SELECT chain, address, role, artifact, abi, logo FROM contract WHERE chain = ? ORDER BY role`, chain)
}

// Logos returns the logos that token lists gave a chain's contracts, by address.
func (db *DB) Logos(ctx context.Context, chain int) (map[string]string, error) {
	contracts, err := db.Contracts(ctx, chain)
	logos := map[string]string{}
	for _, c := range contracts {
		if c.Logo != "" {
			logos[string(c.Address)] = c.Logo
		}
	}
	return logos, err
}

// TokensOfContracts lists the tokens among the named contracts of a chain.
func (db *DB) TokensOfContracts(ctx context.Context, chain int) ([]Token, error) {
	return List[Token](ctx, db, `SELECT t.id, t.address, t.block, t.name, t.symbol, t.decimals FROM contract c CROSS JOIN token t ON t.address = c.address
		WHERE c.chain = ? AND t.id > ? AND t.id <= ?`, chain, NewTokenID(chain, ERC20, 0), NewTokenID(chain, ERC1155, MaxTokens))
}

// AddContract writes a named contract, or another logo for it.
func (b *Batch) AddContract(c Contract) error {
	b.tokens, b.renamed = true, true
	return b.exec(`INSERT INTO contract (chain, address, role, artifact, abi, logo) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, address) DO UPDATE SET logo = excluded.logo`, c.Chain, c.Address, c.Role, c.Artifact, c.ABI, c.Logo)
}

// Transfer is a movement of a token in a log; a batch log has several.
type Transfer struct {
	ID        Position `db:"id"` // index counts the block's transfers
	Tx        int      `db:"tx"`
	Log       int      `db:"log"`
	Standard  Standard `db:"standard"`
	Asset     AssetKey `db:"asset"`
	Sender    []byte   `db:"sender"`    // zero address when minted
	Recipient []byte   `db:"recipient"` // zero address when burned
	Amount    []byte   `db:"amount"`    // without leading zeros; 1 of an ERC-721
}

// Transaction returns the position of the transaction.
func (t *Transfer) Transaction() Position { return t.ID.Block() + Position(t.Tx) }

const transferColumns = `id, tx, log, standard, asset, sender, recipient, amount`

// Transfers reads the transfers between two positions in order.
func (db *DB) Transfers(ctx context.Context, first, last Position) ([]Transfer, error) {
	return List[Transfer](ctx, db, `SELECT `+transferColumns+` FROM transfer WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// TransferView is a transfer with the other data that a list shows.
type TransferView struct {
	Transfer
	Inclusion
	NFT
}

// transferView completes a list of transfer ids, named page.
const transferView = `
	SELECT x.id, x.tx, x.log, x.standard, x.asset, x.sender, x.recipient, x.amount, ` + inclusionColumns + `, ` + nftColumns + `
	FROM (%s) CROSS JOIN transfer x ON x.id = page
	CROSS JOIN block b ON b.id = page & ~65535
	CROSS JOIN tx t ON t.id = (page & ~65535) + x.tx
	LEFT JOIN nft n ON x.standard > 0 AND n.asset = x.asset
		AND n.block = (SELECT block FROM nft WHERE asset = x.asset ORDER BY block DESC LIMIT 1)`

const pageOfTransfers = `SELECT id AS page FROM transfer WHERE sender = ?1 AND standard = ?2 AND id BETWEEN ?4 AND ?3
	UNION SELECT id FROM transfer WHERE recipient = ?1 AND standard = ?2 AND id BETWEEN ?4 AND ?3
	ORDER BY page DESC LIMIT 0 + ?5`

var (
	transfersOfAddress = fmt.Sprintf(transferView, pageOfTransfers)
	transfersOfToken   = fmt.Sprintf(transferView, `
		SELECT id AS page FROM transfer WHERE substr(asset, 1, 6) = ?1 AND id BETWEEN ?3 AND ?2
		ORDER BY page DESC LIMIT 0 + ?4`)
	transfersInRange = fmt.Sprintf(transferView, `SELECT id AS page FROM transfer WHERE id BETWEEN ?1 AND ?2 AND tx = ?3 ORDER BY page`)
)

// TransfersOfAddress reads at most limit transfers of a standard from or to an address, from one position down to
// another.
func (db *DB) TransfersOfAddress(ctx context.Context, address []byte, s Standard, high, low Position, limit int) ([]TransferView, error) {
	return List[TransferView](ctx, db, transfersOfAddress, address, s, high, low, limit)
}

// TransferIDs finds the ids for TransfersOfAddress.
func (db *DB) TransferIDs(ctx context.Context, address []byte, s Standard, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, pageOfTransfers, address, s, high, low, limit)
}

// One page of transfers of a standard from or to an address, and one of those of a token in it.
const (
	transfersWith = `SELECT id AS page FROM transfer WHERE sender = ?1 AND standard = ?5 AND id BETWEEN ?3 AND ?2
		UNION SELECT id FROM transfer WHERE recipient = ?1 AND standard = ?5 AND id BETWEEN ?3 AND ?2`
	tokenTransfersWith = `SELECT id AS page FROM transfer WHERE sender = ?1 AND standard = ?5 AND id BETWEEN ?3 AND ?2 AND substr(asset, 1, 6) = ?6
		UNION SELECT id FROM transfer WHERE recipient = ?1 AND standard = ?5 AND id BETWEEN ?3 AND ?2 AND substr(asset, 1, 6) = ?6`
	tokenTransfers = `SELECT id AS page FROM transfer WHERE substr(asset, 1, 6) = ?1 AND id BETWEEN ?3 AND ?2`
)

var (
	transfersWithIDs      = [2]string{transfersWith + newestFirst, transfersWith + oldestFirst}
	tokenTransfersWithIDs = [2]string{tokenTransfersWith + newestFirst, tokenTransfersWith + oldestFirst}
	tokenTransferIDs      = [2]string{tokenTransfers + newestFirst, tokenTransfers + oldestFirst}

	transferViewsAt = positionTable + fmt.Sprintf(transferView, `SELECT at AS page FROM k`)
)

// HistoryTransferIDs finds the transfers of a standard in a part of a history, of one token unless it is zero. Without an address, it finds
// those of the token.
func (db *DB) HistoryTransferIDs(ctx context.Context, i AddressHistory, s Standard, token TokenID) ([]Position, error) {
	asset := []byte(token.Asset(nil)[:assetToken])
	switch {
	case i.Address == nil:
		return db.ids(ctx, i.in(tokenTransferIDs), asset, i.High, i.Low, i.Limit)
	case token != 0:
		return db.ids(ctx, i.in(tokenTransfersWithIDs), append(i.args(), s, asset)...)
	}
	return db.ids(ctx, i.in(transfersWithIDs), append(i.args(), s)...)
}

// TransferViewsAt reads the transfers at up to MaxTransactionsAt positions.
func (db *DB) TransferViewsAt(ctx context.Context, at []Position) ([]TransferView, error) {
	return List[TransferView](ctx, db, transferViewsAt, positionArgs(at)...)
}

// TransfersOfToken reads at most limit transfers of a token, from one position down to another.
func (db *DB) TransfersOfToken(ctx context.Context, token TokenID, high, low Position, limit int) ([]TransferView, error) {
	return List[TransferView](ctx, db, transfersOfToken, []byte(token.Asset(nil)[:assetToken]), high, low, limit)
}

// EachTransferOfToken visits the transfers of a token up to a position, ascending, with only sender, recipient and amount.
func (db *DB) EachTransferOfToken(ctx context.Context, token TokenID, last Position, visit func(*Transfer)) error {
	return each(ctx, db, visit, `SELECT sender, recipient, amount FROM transfer WHERE substr(asset, 1, 6) = ? AND id <= ? ORDER BY id`,
		[]byte(token.Asset(nil)[:assetToken]), last)
}

// TransfersOfTransaction reads the transfers of a transaction in order.
func (db *DB) TransfersOfTransaction(ctx context.Context, tx Position) ([]TransferView, error) {
	return List[TransferView](ctx, db, transfersInRange, tx.Block(), tx.End(), tx.Index())
}

var intoTransfer = bulk.NewTable("transfer", transferColumns, false)

func (b *Batch) addTransfer(t *Transfer) error {
	return b.insert(intoTransfer, t.ID, t.Tx, t.Log, t.Standard, []byte(t.Asset), t.Sender, t.Recipient, t.Amount)
}

// TokenBalances reads at most limit balances of a token after a block, of all known past and present holders. It walks over all owners of
// the world.
func (db *DB) TokenBalances(ctx context.Context, token TokenID, block uint64, limit int) ([]TokenBalance, error) {
	first, end := token.assets()
	return List[TokenBalance](ctx, db, `
		WITH RECURSIVE holder(owner) AS (
			SELECT min(owner) FROM holding
			UNION ALL
			SELECT (SELECT min(owner) FROM holding WHERE owner > holder.owner) FROM holder WHERE holder.owner IS NOT NULL
		)
		SELECT h.owner, h.asset, h.block, h.amount FROM holder CROSS JOIN holding h
		WHERE h.owner = holder.owner AND h.asset >= ?1 AND h.asset < ?2
			AND h.block = (SELECT max(block) FROM holding WHERE owner = h.owner AND asset = h.asset AND block <= ?3)
		LIMIT 0 + ?4`, []byte(first), []byte(end), block, limit)
}

// NFTStates reads at most limit items of a token after a block, by number.
func (db *DB) NFTStates(ctx context.Context, token TokenID, block Position, limit int) ([]NFTState, error) {
	first, end := token.assets()
	return List[NFTState](ctx, db, `
		SELECT asset, block, owner, `+uriColumn+` FROM nft n WHERE asset >= ?1 AND asset < ?2
			AND block = (SELECT max(block) FROM nft WHERE asset = n.asset AND block <= ?3)
		ORDER BY asset LIMIT 0 + ?4`, []byte(first), []byte(end), block, limit)
}

// assets returns the first and last asset key of a token.
func (id TokenID) assets() (first, end AssetKey) {
	return id.Asset(nil)[:assetToken], (id + 1).Asset(nil)[:assetToken]
}

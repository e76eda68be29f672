package store

import (
	"context"
)

// TokenBalance is how much of an asset an address held from a block on, until a later row.
type TokenBalance struct {
	Owner  []byte   `db:"owner"`
	Asset  AssetKey `db:"asset"`
	Block  uint64   `db:"block"`
	Amount []byte   `db:"amount"` // without leading zeros, empty for nothing
}

// TokenBalance reads what an address held of an asset after a block.
func (db *DB) TokenBalance(ctx context.Context, owner []byte, asset AssetKey, block uint64) (*TokenBalance, error) {
	return get[TokenBalance](ctx, db, `SELECT owner, asset, block, amount FROM holding
		WHERE owner = ? AND asset = ? AND block <= ? ORDER BY block DESC LIMIT 1`, owner, []byte(asset), block)
}

// TokenBalancesOf reads what an address held of a token's assets up to a block, each asset's newest first.
func (db *DB) TokenBalancesOf(ctx context.Context, owner []byte, token TokenID, block uint64) ([]TokenBalance, error) {
	asset := []byte(token.Asset(nil)[:assetToken])
	return list[TokenBalance](ctx, db, `SELECT owner, asset, block, amount FROM holding
		WHERE owner = ?1 AND asset >= ?2 AND asset < CAST(?2 || x'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff' AS BLOB) AND block <= ?3`, owner, asset, block)
}

// TokenBalanceView is something that an address holds, with what is known of the item.
type TokenBalanceView struct {
	Asset  AssetKey `db:"asset"`
	Amount []byte   `db:"amount"`
	NFT
}

// heldAssets finds the assets of an address after ?2 and before ?3 one by one, one seek each, and what it held of each
// after block ?4. The limit that is none keeps the engine from working an amount out twice, to test it and to show it.
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

// newestERC20Balances is heldAssets for ERC-20 assets now: one seek finds the next asset and its newest row, whose key and
// amount come as one value.
const newestERC20Balances = `
	WITH RECURSIVE held(row) AS (
		SELECT (SELECT CAST(asset || amount AS BLOB) FROM holding WHERE owner = ?1 AND asset > ?2 AND asset < ?3 ORDER BY asset, block DESC LIMIT 1)
		UNION ALL
		SELECT (SELECT CAST(asset || amount AS BLOB) FROM holding WHERE owner = ?1 AND asset > substr(held.row, 1, 6) AND asset < ?3 ORDER BY asset, block DESC LIMIT 1)
		FROM held WHERE held.row IS NOT NULL
	)
	SELECT row FROM held WHERE length(row) > 6 LIMIT 0 + ?4`

// ERC20Balances reads at most limit ERC-20 assets after one and before another that an address held after a block, MaxNumber
// for now.
func (db *DB) ERC20Balances(ctx context.Context, owner []byte, after, before AssetKey, block uint64, limit int) ([]TokenBalanceView, error) {
	if block == MaxNumber {
		var all []TokenBalanceView
		err := each(ctx, db, func(row *[]byte) {
			all = append(all, TokenBalanceView{Asset: AssetKey((*row)[:assetToken:assetToken]), Amount: (*row)[assetToken:]})
		}, newestERC20Balances, owner, []byte(after), []byte(before), limit)
		return all, err
	}
	return list[TokenBalanceView](ctx, db, erc20Balances, owner, []byte(after), []byte(before), block, limit)
}

// NFTBalances is ERC20Balances for items of ERC-721 and ERC-1155 tokens, with their newest state.
func (db *DB) NFTBalances(ctx context.Context, owner []byte, after, before AssetKey, block uint64, limit int) ([]TokenBalanceView, error) {
	return list[TokenBalanceView](ctx, db, nftBalances, owner, []byte(after), []byte(before), block, limit)
}

func (b *Batch) addTokenBalance(h *TokenBalance) error {
	return b.exec(`INSERT INTO holding (owner, asset, block, amount) VALUES (?, ?, ?, ?)`, h.Owner, []byte(h.Asset), h.Block, h.Amount)
}

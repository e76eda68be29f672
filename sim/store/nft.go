package store

import (
	"context"
)

// NFTState is an item of an ERC-721 or an ERC-1155 from a block on, until a later row.
type NFTState struct {
	Asset AssetKey `db:"asset"`
	Block Position `db:"block"`
	Owner []byte   `db:"owner"` // nil for an ERC-1155, and for a token that is gone
	URI   *string  `db:"uri"`   // of the metadata, nil when the contract fails to say
}

// NFT is what is known of an item now.
type NFT struct {
	Owner   []byte  `db:"owner"`
	URI     *string `db:"uri"`
	Updated *int64  `db:"updated"` // when that became known, Unix seconds
}

// nftColumns are those of a row n of nft.
const nftColumns = `n.owner, n.uri, (SELECT time FROM block WHERE id = n.block) AS updated`

// NFT reads what is known of an item.
func (db *DB) NFT(ctx context.Context, asset AssetKey) (*NFT, error) {
	return get[NFT](ctx, db, `SELECT `+nftColumns+` FROM nft n WHERE asset = ? ORDER BY block DESC LIMIT 1`, []byte(asset))
}

// NFTStateAt reads the row of an item that a block added.
func (db *DB) NFTStateAt(ctx context.Context, asset AssetKey, block Position) (*NFTState, error) {
	return get[NFTState](ctx, db, `SELECT asset, block, owner, uri FROM nft WHERE asset = ? AND block = ?`, []byte(asset), block)
}

// NFTs reads at most limit items after one asset and before another, by number.
func (db *DB) NFTs(ctx context.Context, after, before AssetKey, limit int) ([]TokenBalanceView, error) {
	return list[TokenBalanceView](ctx, db, `
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

func (b *Batch) addNFTState(i *NFTState) error {
	return b.exec(`INSERT INTO nft (asset, block, owner, uri) VALUES (?, ?, ?, ?)`, []byte(i.Asset), i.Block, i.Owner, i.URI)
}

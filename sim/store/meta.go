package store

import "context"

// Meta is the identity of a world: everything that decides its bytes, and its digest.
type Meta struct {
	Generator string `db:"generator"`
	Seed      int64  `db:"seed"`
	Profile   string `db:"profile"`
	Shape     string `db:"shape"`
	Until     int64  `db:"until"`
	Clock     int64  `db:"clock"`
	Started   int64  `db:"started"` // operations, deleted ones included
	Chains    []byte `db:"chains"`  // digest of everything but operations
	Digest    []byte `db:"digest"`
}

// Meta reads the world's identity.
func (db *DB) Meta(ctx context.Context) (Meta, error) {
	var m Meta
	err := db.one(ctx, `
		SELECT generator, seed, profile, shape, until, clock, started, chains, digest
		FROM meta WHERE id = 1`, nil,
		&m.Generator, &m.Seed, &m.Profile, &m.Shape, &m.Until, &m.Clock, &m.Started, &m.Chains, &m.Digest)
	return m, err
}

// SetMeta writes the world's identity.
func (b *Batch) SetMeta(m Meta) error {
	return b.exec(`
		INSERT OR REPLACE INTO meta (id, generator, seed, profile, shape, until, clock, started, chains, digest)
		VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Generator, m.Seed, m.Profile, m.Shape, m.Until, m.Clock, m.Started, m.Chains, m.Digest)
}

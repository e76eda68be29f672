package store

import (
	"context"
	"database/sql"
)

// Node is the machine behind a validator.
type Node struct {
	Network     uint32
	Node        []byte // RIPEMD-160 of SHA-256 of the certificate
	Role        string // the situation that it is there for, empty for most
	Certificate []byte
	Secret      []byte // BLS secret key
	Version     string // of its software
	IP          string // with port
	Uptime      uint32 // of a million
	Connected   bool
	City        string
	Country     string
	Code        string // ISO 3166
	Latitude    int64  // millionths of a degree
	Longitude   int64
}

const nodeColumns = `network, node, role, certificate, secret, version, ip, uptime, connected, city, country, code, latitude, longitude`

func (n *Node) fields() []any {
	return []any{&n.Network, &n.Node, &n.Role, &n.Certificate, &n.Secret, &n.Version, &n.IP, &n.Uptime, &n.Connected,
		&n.City, &n.Country, &n.Code, &n.Latitude, &n.Longitude}
}

// Nodes lists a network's nodes by their ids.
func (db *DB) Nodes(ctx context.Context, network uint32) ([]Node, error) {
	return many(ctx, db, `SELECT `+nodeColumns+` FROM node WHERE network = ? ORDER BY node`, []any{network},
		func(r *sql.Rows, n *Node) error { return r.Scan(n.fields()...) })
}

// Node reads a node of a network.
func (db *DB) Node(ctx context.Context, network uint32, node []byte) (*Node, error) {
	var n Node
	err := db.one(ctx, `SELECT `+nodeColumns+` FROM node WHERE network = ? AND node = ?`, []any{network, node}, n.fields()...)
	return &n, err
}

// AddNode writes a node.
func (b *Batch) AddNode(n Node) error {
	return b.exec(`INSERT INTO node (`+nodeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n.Network, n.Node, n.Role, n.Certificate, n.Secret, n.Version, n.IP, n.Uptime, n.Connected,
		n.City, n.Country, n.Code, n.Latitude, n.Longitude)
}

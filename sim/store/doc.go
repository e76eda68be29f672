// Package store is the SQLite file that holds a world, and the only place with SQL.
//
// A world is made with Create, which writes into a temporary file next to the final one and renames it when it is
// whole, or opened with Open. One connection writes; many read-only connections read and never wait for it. Rows are
// plain structs; a Batch writes everything that one or more blocks add, in one transaction.
package store

// Package store is the SQLite file that holds a world, and the only place with SQL.
//
// A world is made with Create, which writes into a temporary file next to the final one and renames it when it is
// whole, or opened with Open. One connection writes; many read-only connections read and never wait for it.
//
// What is added to an open world is in FILE-wal first, and in the file once that is closed. The log of another file is
// recognised and never applied.
//
// There is a file for each noun, with the struct of its rows, the statements that read them and the one that writes them.
// Rows are plain structs whose db tags name the columns; a type named View is a row joined with what lists show beside it.
// A [Batch] writes everything that one or more blocks add, in one transaction, together with the roll-ups of the metrics.
//
// The tables are described in schema.sql (EVM chains) and primary.sql (P-, X- and the atomic part of C-Chains). A
// [Position] is the key of blocks, transactions and logs, and the cursor of pages.
package store

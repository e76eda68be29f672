// Package dbfile is what there is to know of a world's file without the database engine: whether it is one, by its header, whether
// the write-ahead log beside it is its own, who makes it, and where it is until it is whole. Bytes are read as SQLite's file
// format has them.
package dbfile

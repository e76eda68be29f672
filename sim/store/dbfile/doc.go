// Package dbfile examines a world's file without the database engine: whether its header is a world's, whether the write-ahead log beside
// it belongs to it, which process makes it, and where it is until it is complete. It reads bytes by SQLite's file format.
package dbfile

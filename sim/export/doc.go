// Package export makes transaction exports: CSV files about some addresses.
//
// A Scope defines an export and its file. It names the last block of each chain at the time of the request, so the file is the same
// whenever it is made. A Scanner reads a scope's transactions by time, chain by chain for equal times. Jobs runs the exports of a world in
// the background: Start adds one, and Run reads it through, to learn the file's length, its digest and whether it can be made at all. Only
// these are stored. A download makes the file again, and a job that was interrupted starts over.
//
// A file never holds part of a day. When there are more rows than a scope allows, it ends before the day that does not fit, unless that is
// the first. So a further export that starts with the next day misses no row and repeats none.
package export

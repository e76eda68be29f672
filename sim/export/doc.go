// Package export makes transaction exports: CSV files about some addresses, made in the background and kept in the world.
//
// A Scope defines an export. It names the last block of each chain at the time of the request, so the rows are the same however long the
// export waits and however often it restarts. A Scanner reads a scope's transactions by time, chain by chain for equal times, and can start
// after any of them. A Chunker writes their rows as CSV and divides the file into chunks, a pure function of the scope. Jobs runs the
// exports of a world: Start adds one, and Run makes one chunk after another and stores each with the world's digest. A killed program
// continues with the next chunk, and package verify can remake every chunk. A FileReader reads a file at any offset, plain or gzipped.
//
// The chunks are stored, although the file follows from its scope, for three reasons: a client can read a range, the end or the gzip form
// without remaking what comes before; the size is known when the job ends; and an impossible export fails as a job, not in the middle of a
// download.
//
// A file never holds part of a day. When there are more rows than a scope allows, it ends before the day that does not fit, unless that is
// the first. So a further export that starts with the next day misses no row and repeats none.
package export

// Package export makes transaction exports: files of CSV about some addresses, made in the background and kept in the world.
//
// A Scope says what an export is about. It names the last block of each chain at the time it was asked for, so the same rows
// come out however long the export waits and however often it has to begin again. A Scanner reads the transactions of
// a scope by time, chain by chain where times are equal, and can begin after any of them. A Chunker writes their rows as
// CSV and divides the file into chunks: a pure function of the scope. Jobs are the exports of a world: Start adds one, Run
// makes chunk after chunk and stores each with the world's digest, so a killed program goes on with the next chunk, and
// package verify can make every chunk again. A FileReader reads a file back at any offset, as it is or in gzip's form.
//
// Why chunks are stored although the file follows from its scope: a range, the end of a file or its gzip form are read
// without making what comes before, the size is known when the job ends, and an export that cannot be made fails as a job and
// not in the middle of a download.
//
// A file never holds a part of a day: when there are more rows than a scope allows, it ends before the day that does not
// fit, unless that is the first one. So an export that goes on with the next day brings every row once.
package export

// Package export turns what a world holds about some addresses into the file of a transaction export, and reads such files
// back. It only reads: package sim decides when an export runs and keeps what it made.
//
// A Scope says what an export is about. It names the height of each chain at the time it was asked for, so the same rows
// come out however long the export waits and however often it has to begin again. A Walk goes through the transactions of
// a scope by time, chain by chain where times are equal, and can begin after any of them. A Cutter lays their rows out as
// CSV and cuts the file into chunks: a pure function of the scope, so an export that was cut off goes on as if nothing had
// happened, and verify can make every chunk again.
//
// A file never holds a part of a day: when there are more rows than a scope allows, it ends before the day that does not
// fit, unless that is the first one. So an export that goes on with the next day brings every row once.
package export

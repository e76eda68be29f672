// Package cache keeps what was read or answered lately, within one budget of memory for the whole process.
//
// # Where the memory of a process goes
//
//	decoded rows, answers, code   this package: Budget, counted in bytes with keys and what values refer to
//	pages of the file             sim/store: readCacheKiB for each connection that reads, writeCacheKiB for the one that writes
//	code that runs                sim/evm/reader: maxExecutions at once in the process, of which two may be traces
//	large answers                 handlers/rest: largeAnswers made at once, largeBytes of them and of what turned out large on their way to clients
//	WebSocket connections         handlers/node/eth: connectionRequests under way for each; who does not read is closed
//	garbage                       handlers: gcPercent of what is in use; the rest of a peak is given back to the system at once
//
// What follows from the rows of a world and must be there as a whole is no cache: the staker index, the catalog of tokens.
package cache

// Package cache keeps recent reads and responses, within one memory budget for the whole process.
//
// # Where a process's memory goes
//
//	decoded rows, responses, code   this package: Budget, in bytes, including keys and the memory that values refer to
//	pages of the file               sim/store: readCacheKiB for each reading connection, writeCacheKiB for the writing one
//	running code                    sim/evm/reader: at most maxExecutions in the process, of which two may be traces
//	large responses                 handlers/rest: largeAnswers made at once, largeBytes of them and of other large ones on their way to clients
//	WebSocket connections           handlers/node/eth: connectionRequests under way for each; a client that does not read is closed
//	garbage                         handlers: gcPercent of the memory in use; memory from a peak returns to the system at once
//
// The staker index and the catalog of tokens are no caches: they follow from a world's rows, and must be there as a whole.
package cache

// Package worlds serves many worlds by one process: the one that it was started with, and others that clients make of it, of one of
// its snapshots, or of a seed, each below a path of its own:
//
//	POST /sim/worlds {"name":"a"}     copies the world as it is now
//	GET  /w/a/v1/chains               asks the copy
//
// A world is a value, so nothing here tells its handlers that there are others: [Set] takes the path of a world off a request and
// rest.Below remembers it for the links in the answer. Each has a file, a clock, a pool, caches, subscriptions, a journal, faults and
// figures of its own.
//
// The file is in a temporary folder and goes with the world. One that is kept lies beside the file of the main world, as snowglobe.w.a.db
// for the world a of snowglobe.db, and is opened again when it is first asked for.
package worlds

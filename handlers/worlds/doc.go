// Package worlds serves many worlds in one process: the one that it started with, and others that clients make from it, from one of its
// snapshots, or from a seed, each below its own path:
//
//	POST /sim/worlds {"name":"a"}     copies the world as it is now
//	GET  /w/a/v1/chains               asks the copy
//
// A world is a value, so a world's handlers do not know about the others: [Set] strips the world's path from a request, and rest.Below
// remembers it for links in the response. Each world has its own file, clock, pool, caches, subscriptions, journal, faults and figures.
//
// The file is in a temporary folder and is deleted with the world. A kept world's file lies beside the main world's, such as
// snowglobe.w.a.db for the world a of snowglobe.db, and is reopened on the first request.
package worlds

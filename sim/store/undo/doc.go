// Package undo records how to undo changes of rows, and undoes them.
//
// A Recorder listens to the writing connection (https://sqlite.org/c3ref/preupdate_blobwrite.html), so that it misses no statement and no
// table. It writes what a transaction did as one blob of steps in the order of the changes: the key of each added row, and the old values of
// each changed or deleted one. Undo takes the steps back, the last one first.
//
// The world goes back only to a boundary: to a snapshot or the beginning. A row that changes again and again between two of them, such as the
// roll-up of an hour, is therefore recorded only once.
package undo

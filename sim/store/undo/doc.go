// Package undo records changes to rows and undoes them.
//
// A Recorder hooks into the writing connection (https://sqlite.org/c3ref/preupdate_blobwrite.html), so it misses no statement and no table.
// For each transaction it writes one blob of steps in the order of the changes: the key of each added row, and the old values of each changed
// or deleted one. Undo reverses the steps, last one first.
//
// The world reverts only to a boundary: a snapshot or the generated world. A row that changes many times between two boundaries, such as an
// hourly roll-up, is therefore recorded only once. Merge makes one blob of those of many transactions, for which a row's first values are enough.
package undo

// Package undo notes what undoes the changes of rows, and undoes them.
//
// A Recorder listens to the connection that writes (https://sqlite.org/c3ref/preupdate_blobwrite.html), so that no statement and no
// table can be forgotten. What a transaction did is written as one blob of steps, in the order of the changes: of a row that was
// added, its key; of one that was changed or deleted, the row as it was. Apply takes the steps back, the last one first.
//
// Nobody goes back to a moment between two boundaries (a snapshot is one, so is the beginning), so that a row which changes again and
// again, such as the roll-up of an hour, is noted only once between them.
package undo

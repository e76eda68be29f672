// Package explain says what happened in an execution in the terms of its contracts' sources: which function failed where and why, what contracts
// logged to the console, and what calls and events mean.
//
// It executes again what has been executed, under a recorder, and so costs nothing while nobody asks: a call is explained when it fails and
// artifacts are known, or when it touched the console. The compiler's source maps tell where an instruction comes from. An optimizer shares code
// between places and inlines functions, so a place is compared with the last condition that was tested; where the map tells nothing, so does the
// explanation.
package explain

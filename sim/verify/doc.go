// Package verify makes a world again from the bytes of its transactions and compares every row of the file with the result: EVM chains
// block by block, the networks in a second file in memory, roll-ups of metrics from the blocks, the files of exports. It
// finds unaccounted rows by counting. The error names the first difference.
package verify

// Package icm serves the Data API's operations about interchain messages: Teleporter messages with what became of them, and the
// aggregation of the signatures of a subnet's validators.
package icm

// Package icm serves the Data API's operations on interchain messages: Teleporter messages with their delivery, and signature aggregation
// by a subnet's validators.
package icm

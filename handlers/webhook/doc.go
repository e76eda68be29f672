// Package webhook serves the webhooks of the Data API and delivers their messages.
//
// Package sim/webhook promises a message in the commit that causes it. A [Deliverer] sends each webhook's messages one at a time and in
// order, on the wall clock, and records the outcome of each attempt before the next. So a message is sent once, unless the process ends
// between a response and its record: then it is sent again under the same messageId.
//
//	target.go            where webhooks may lead, and the client that goes nowhere else
//	signature.go         canonical JSON (RFC 8785) and the signature over it
//	message.go           a message's text, out of the history: of EVM chains (evm_message.go) and of primary networks (primary_message.go)
//	deliver.go           the attempts and their schedule
//	webhook.go, body.go  the operations of the Data API; control.go those of the simulator
package webhook

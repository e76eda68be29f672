// Package webhook serves the webhooks of the Data API and delivers their messages.
//
// Package sim/webhook promises messages in the commit that they are about; a [Deliverer] sends them, for each webhook in order and one
// at a time, on the wall's clock, and writes down what became of each attempt before it goes on. So a message is sent once, unless the
// process ends between an answer and the note about it: then it is sent again under the same messageId.
//
//	target.go            where webhooks may lead, and the client that goes nowhere else
//	signature.go         canonical JSON (RFC 8785) and the signature over it
//	message.go           a message's text, out of the history: of EVM chains (evm_message.go) and of primary networks (primary_message.go)
//	deliver.go           the attempts and their schedule
//	webhook.go, body.go  the operations of the Data API; control.go those of the simulator
package webhook

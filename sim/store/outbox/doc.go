// Package outbox has the statements about webhooks: what each one watches, the messages promised to it, and their delivery.
//
// A message is promised in the commit of its block, and so survives a kill of the process; its text follows from the history. Delivery is
// recorded in separate tables, which a revert leaves alone.
package outbox

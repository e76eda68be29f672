// Package usage counts the requests that a server gets, and reports them as the live service reports an account's usage.
//
// It counts requests by minute of the world's clock and by the dimensions they can be grouped by. The counts live in memory only, so that a
// read-only server leaves the file unchanged. The days before the end of the generated history have a made-up history of requests that
// follows from the world's identity.
package usage

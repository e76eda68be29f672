// Package usage counts the requests that a server gets, and answers about them as the live service answers about an account's use of it.
//
// Requests are counted at the world's time, by minute and by what they can be grouped by. That is in memory only, so that a server
// which is only read from leaves the file as it is. For the days before the end of the generated history there is a history of requests
// that follows from the world's identity.
package usage

// Package rest is the HTTP contract that every REST interface of Snowglobe shares: the Data API, the Metrics API and the
// simulator's own. (The remainder is handlers/doc.go of today, which the script moves to handlers/rest/doc.go: replace its
// first line by the sentence above, "(page.go)" by page_token.go, "limit.go" by rate_limit.go, "memo.go" by response_cache.go.)
package rest

// Package rest is the HTTP contract that every REST interface of Snowglobe shares: the Data API, the Metrics API
// and the simulator's own.
//
// An endpoint is declared once, as an [Operation]: its path, its parameters with their kinds and bounds, the type of its body and of its answer. That
// declaration feeds the router, the parsing, the text of every 400 and the OpenAPI document at /openapi.json, so they cannot disagree.
//
// A handler receives a [Request] whose parameters are parsed and within bounds, makes one call into the simulator and
// returns an answer or an error. Everything else happens here and nowhere else: errors and their status codes
// (errors.go), page tokens (package pagetoken), the two dialects (baseurl.go), API keys (keys.go), rate limits (rate_limit.go),
// CORS, compression, ETags, request ids and the access log. The answer to a GET is kept in memory and given again until
// the world or its clock changes (response_writer.go).
//
// What the parser does with the doubtful cases:
//
//   - an unknown query parameter is ignored, as clients add their own (rltoken, cache busters);
//   - a parameter without a value is a 400, except pageToken, where it means the first page;
//   - a parameter that takes one value and comes twice is a 400, even if both values are the same;
//   - a list is taken repeated, comma-joined or both; an empty item is a 400;
//   - a range whose start is above its end is a 400, one that ends where it starts is not;
//   - a page token fits the query that it came from, however that is written: an alias for an id, an address with a
//     chain's prefix or without, the items of a list in another order or twice;
//   - all problems of a request are reported at once.
package rest

package rpc

import (
	"bytes"
	"fmt"
)

// Limits of a batch. A node has the first two (coreth plugin/evm/config.NewDefaultConfig, BatchRequestLimit and BatchResponseMaxSize). It would also let a batch run until its HTTP server's timeout (30 s), and answers the
// remaining calls as we do; Options.Batch sets a shorter time.
const (
	batchItems = 1_000
	batchBytes = 25_000_000
)

// Limits on the texts in a request, so that parsing cannot take long: avalanchego's types parse themselves, and cb58 takes time quadratic
// in the length. No id or address is longer than shortText bytes or takes more than a few microseconds. Longer texts are names, or bytes in
// hexadecimal, which take linear time.
const (
	mostTexts   = 4096 // four times the addresses of getUTXOs
	shortText   = 64
	longestText = 4096 // total of those longer than shortText and not hexadecimal

	mostValues = 1 << 17 // in lists and objects: ten times the values in a batch of a thousand calls, or in overrides of a whole state
)

// checkValues rejects a request with more values than any client needs: reading a value, even an empty one, costs many times as much as
// reading a byte of text.
func checkValues(body []byte) (problem string) {
	if bytes.Count(body, []byte{','}) < mostValues {
		return ""
	}
	return fmt.Sprintf("the request has more than %d values", mostValues)
}

// checkTexts describes which limit a JSON document's texts exceed; "" if none.
func checkTexts(body []byte) (problem string) {
	for count, long := 0, 0; ; count++ {
		begin := bytes.IndexByte(body, '"')
		if begin < 0 {
			return ""
		}
		if count == 2*mostTexts { // member names are texts too
			return fmt.Sprintf("the request has more than %d texts", mostTexts)
		}
		body = body[begin+1:]
		end := bytes.IndexByte(body, '"')
		if end < 0 {
			end = len(body)
		}
		if end > shortText && !bytes.HasPrefix(body, []byte("0x")) {
			if long += end; long > longestText {
				return fmt.Sprintf("a text in the request is longer than %d bytes and not hexadecimal", longestText)
			}
		}
		body = body[min(end+1, len(body)):]
	}
}

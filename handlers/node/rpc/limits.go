package rpc

import (
	"bytes"
	"fmt"
)

// Limits of a batch. A node has the first two; it would also let a batch go on until its HTTP server's timeout (30 s), with the same answer to
// those calls that it does not come to, however busy it is (Options.Batch has a shorter time).
const (
	batchItems = 1_000
	batchBytes = 25_000_000
)

// Bounds of the texts in a request, so that no method can be made to work long on what it is asked: avalanchego's types read
// themselves, ids in cb58 at a cost of the square of the length. No id or address has more than shortText bytes and costs more
// than a few microseconds; longer texts are bytes in hexadecimal, which cost what they weigh, and names.
const (
	mostTexts   = 4096 // four times the addresses of getUTXOs
	shortText   = 64
	longestText = 4096 // of those longer than shortText and not hexadecimal, all together

	mostValues = 1 << 17 // in lists and objects: ten times those of a batch of a thousand calls, or of the overrides of a whole state
)

// checkValues says when a request holds more values than anybody asks with: what a value costs to read, empty ones too, is many times what a
// byte of a text does.
func checkValues(body []byte) (problem string) {
	if bytes.Count(body, []byte{','}) < mostValues {
		return ""
	}
	return fmt.Sprintf("the request has more than %d values", mostValues)
}

// checkTexts says what is too much about the texts of a JSON document; nothing when all is well.
func checkTexts(body []byte) (problem string) {
	for count, long := 0, 0; ; count++ {
		begin := bytes.IndexByte(body, '"')
		if begin < 0 {
			return ""
		}
		if count == 2*mostTexts { // names of members are texts too
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

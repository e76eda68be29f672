package webhook

import "encoding/hex"

// Seal returns a message's body and its signature with a client's secret.
func Seal(secret string, e Envelope) (body []byte, signature string, err error) {
	key, err := hex.DecodeString(secret)
	if err != nil {
		return nil, "", err
	}
	if body, err = canonical(e); err != nil {
		return nil, "", err
	}
	return body, sign(key, body), nil
}

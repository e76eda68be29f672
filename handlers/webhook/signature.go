package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/gowebpki/jcs"
)

// canonical is a value as canonical JSON (RFC 8785): what is sent and what is signed.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return jcs.Transform(b.Bytes())
}

// sign is the x-signature of a body: HMAC-SHA256 with the bytes of the secret, of which clients know the hexadecimal digits.
func sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Seal is a message as it is sent, and its signature by a secret as clients know it.
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

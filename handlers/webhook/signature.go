package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/gowebpki/jcs"

	"snowglobe/handlers/data"
)

// canonical returns a value as canonical JSON (RFC 8785), which is both sent and signed.
func canonical(v any) ([]byte, error) {
	text, err := data.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}

// sign returns a body's x-signature: HMAC-SHA256 with the bytes of the secret, which clients know in hexadecimal.
func sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

package pagetoken

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"snowglobe/handlers/rest/schema"
)

// Life is the lifetime of a page token, on the world's clock.
const Life = 24 * time.Hour

// Errors of page tokens.
var (
	errTokenShape   = errors.New("is not a page token: expected the nextPageToken of an earlier answer")
	errTokenUnknown = errors.New("was not issued by this world: start again without it")
	errTokenForeign = errors.New("belongs to another query: repeat the query that it came from, or start again without it")
	errTokenOther   = errors.New("belongs to another query, or was issued at a moment that a revert has undone: start again without it")
	errTokenUndone  = errors.New("was issued at a moment that a revert has undone: start again without it")
	ErrExpired      = errors.New("has expired after 24 hours of the world's clock: start again without it")
)

const (
	uuidText      = 36
	shortPosition = 6
	longGroup     = 15 // bytes in one UUID of a long token
	longTag       = 8
	longHead      = longTag + 4 + 4 + 2 // tag, issued, fingerprint, seconds later and length
	longSizeBits  = 10
)

// Codec encodes and decodes page tokens for one world.
type Codec struct {
	short, long cipher.Block
	mac         []byte
	now         func() int64 // the world's clock in seconds
	commits     Commits      // nil if the world never reverts
	first       int64        // the world's clock before the first commit
}

// Commits numbers the commits of a world. 0 stands for the generated world. After a revert the world assigns the same numbers again.
type Commits interface {
	// Last returns the newest commit, with a mark that distinguishes it from others with the same number, and the world's clock after it, in
	// seconds. The clock may since have moved by up to maxLater.
	Last() (sequence int64, mark uint32, clock int64)

	// At returns the mark of a commit up to the newest one, and the world's clock after it, in seconds.
	At(sequence int64) (mark uint32, clock int64, err error)
}

// page is the content of a token.
type page struct {
	position    []byte
	fingerprint uint32
	issued      uint32
	later       byte // seconds from the commit's time to that of the token
}

const maxLater = 1<<6 - 1

// New makes the codec of a world with a key.
func New(key []byte, now func() int64, commits Commits, first int64) (*Codec, error) {
	short, err := aes.NewCipher(derive(key, "page token, short"))
	if err != nil {
		return nil, err
	}
	long, err := aes.NewCipher(derive(key, "page token, long"))
	if err != nil {
		return nil, err
	}
	return &Codec{short: short, long: long, mac: derive(key, "page token, tag"), now: now, commits: commits, first: first}, nil
}

func derive(key []byte, use string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(use))
	return h.Sum(nil)
}

// Encode makes the token that continues a query after a position.
func (t *Codec) Encode(position []byte, fingerprint uint32) string {
	p := page{position: position, fingerprint: fingerprint, issued: uint32(t.now())}
	if t.commits != nil {
		sequence, mark, clock := t.commits.Last()
		p.issued, p.fingerprint, p.later = uint32(t.first+sequence), fingerprint^mark, byte(min(max(t.now()-clock, 0), maxLater))
	}
	if len(position) <= shortPosition {
		return t.encodeShort(p)
	}
	return t.encodeLong(p)
}

// Decode returns the position in a token, or an error for the client.
func (t *Codec) Decode(token string, fingerprint uint32) ([]byte, error) {
	if !schema.PageTokenShape().MatchString(token) {
		return nil, errTokenShape
	}
	form := t.decodeShort
	if len(token) > uuidText {
		form = t.decodeLong
	}
	p, ok := form(token)
	if !ok {
		return nil, errTokenUnknown
	}
	issued, mark, err := t.issued(p)
	if err != nil {
		return nil, err
	}
	switch {
	case p.fingerprint^mark == fingerprint:
	case mark == 0:
		return nil, errTokenForeign
	default:
		return nil, errTokenOther
	}
	if age := t.now() - issued; age < 0 || age >= int64(Life/time.Second) {
		return nil, ErrExpired
	}
	return p.position, nil
}

// issued returns when a token says it was issued, and the mark of that commit.
func (t *Codec) issued(p page) (unix int64, mark uint32, err error) {
	switch {
	case t.commits != nil:
	case p.later > 0:
		return 0, 0, errTokenUnknown
	default:
		return int64(p.issued), 0, nil
	}
	if mark, unix, err = t.commits.At(int64(p.issued) - t.first); err != nil {
		err = errTokenUndone
	}
	return unix + int64(p.later), mark, err
}

// encodeShort lays a page out around the fixed bits of a version 4 UUID and permutes it.
func (t *Codec) encodeShort(p page) string {
	var b [16]byte
	binary.BigEndian.PutUint32(b[0:], p.issued)
	binary.BigEndian.PutUint16(b[4:], uint16(p.fingerprint>>16))
	var position [shortPosition]byte
	copy(position[:], p.position)
	b[6], b[7], b[8] = 0x40|byte(len(p.position)), position[0], 0x80|p.later
	binary.BigEndian.PutUint16(b[9:], uint16(p.fingerprint))
	copy(b[11:], position[1:])
	for t.short.Encrypt(b[:], b[:]); !versionFour(b); t.short.Encrypt(b[:], b[:]) {
	}
	return uuid.UUID(b).String()
}

func (t *Codec) decodeShort(token string) (page, bool) {
	b, ok := parseUUID(token)
	if !ok {
		return page{}, false
	}
	for t.short.Decrypt(b[:], b[:]); !versionFour(b); t.short.Decrypt(b[:], b[:]) {
	}
	size, position := int(b[6]&0x0f), append([]byte{b[7]}, b[11:]...)
	if size > shortPosition || !zero(position[size:]) {
		return page{}, false
	}
	return page{
		issued:      binary.BigEndian.Uint32(b[0:]),
		fingerprint: uint32(binary.BigEndian.Uint16(b[4:]))<<16 | uint32(binary.BigEndian.Uint16(b[9:])),
		position:    position[:size],
		later:       b[8] & maxLater,
	}, true
}

func (t *Codec) encodeLong(p page) string {
	groups := (longHead + len(p.position) + longGroup - 1) / longGroup
	b := make([]byte, groups*longGroup)
	binary.BigEndian.PutUint32(b[longTag:], p.issued)
	binary.BigEndian.PutUint32(b[longTag+4:], p.fingerprint)
	binary.BigEndian.PutUint16(b[longTag+8:], uint16(p.later)<<longSizeBits|uint16(len(p.position)))
	copy(b[longHead:], p.position)
	copy(b, t.tag(b[longTag:]))
	t.stream(b[:longTag]).XORKeyStream(b[longTag:], b[longTag:])
	return joinUUIDs(b)
}

func (t *Codec) decodeLong(token string) (page, bool) {
	b, ok := splitUUIDs(token)
	if !ok {
		return page{}, false
	}
	t.stream(b[:longTag]).XORKeyStream(b[longTag:], b[longTag:])
	laterAndSize := binary.BigEndian.Uint16(b[longTag+8:])
	size := int(laterAndSize & (1<<longSizeBits - 1))
	if !hmac.Equal(b[:longTag], t.tag(b[longTag:])) || longHead+size > len(b) {
		return page{}, false
	}
	return page{
		issued:      binary.BigEndian.Uint32(b[longTag:]),
		fingerprint: binary.BigEndian.Uint32(b[longTag+4:]),
		position:    b[longHead : longHead+size],
		later:       byte(laterAndSize >> longSizeBits),
	}, true
}

func (t *Codec) tag(content []byte) []byte {
	h := hmac.New(sha256.New, t.mac)
	h.Write(content)
	return h.Sum(nil)[:longTag]
}

// stream is keyed by the tag of the content, so equal pages give equal tokens and different pages different streams.
func (t *Codec) stream(tag []byte) cipher.Stream {
	var nonce [aes.BlockSize]byte
	copy(nonce[:], tag)
	return cipher.NewCTR(t.long, nonce[:])
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// joinUUIDs writes bytes as version 4 UUIDs, fifteen bytes in each.
func joinUUIDs(b []byte) string {
	var texts []string
	for ; len(b) > 0; b = b[longGroup:] {
		var u [16]byte
		copy(u[:6], b)
		u[6] = 0x40 | b[6]>>4
		u[7] = b[6]<<4 | b[7]>>4
		u[8] = 0x80 | b[7]&0x0f
		copy(u[9:], b[8:longGroup])
		texts = append(texts, uuid.UUID(u).String())
	}
	return strings.Join(texts, "-")
}

func splitUUIDs(token string) ([]byte, bool) {
	var b []byte
	for i := 0; i < len(token); i += uuidText + 1 {
		u, ok := parseUUID(token[i : i+uuidText])
		if !ok || u[8]&0x30 != 0 {
			return nil, false
		}
		b = append(b, u[:6]...)
		b = append(b, u[6]<<4|u[7]>>4, u[7]<<4|u[8]&0x0f)
		b = append(b, u[9:]...)
	}
	return b, true
}

func versionFour(b [16]byte) bool {
	id := uuid.UUID(b)
	return id.Version() == 4 && id.Variant() == uuid.RFC4122
}

func parseUUID(text string) ([16]byte, bool) {
	id, err := uuid.Parse(text)
	return id, err == nil && versionFour(id)
}

package ai

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"
	"strings"
	"time"
)

// keySeal is where a sealed message holds its token.
const keySeal = "seal"

// The versions of tokens. They say how the payload is to be read, and are under the
// MAC like all else.
const (
	sealPlain     = "v1"
	sealEncrypted = "v1e"
)

// maxToken bounds what is looked at before the MAC is known to be right.
const maxToken = 64 << 20

// token encodes what is sealed: VERSION.KEY.PAYLOAD.MAC.
func (s *Seal) token(o *sealed) (string, error) {
	payload, err := encode(o)
	if err != nil {
		return "", err
	}
	version := sealPlain
	if s.Encrypt {
		version = sealEncrypted
		aead, err := s.Key.cipher()
		if err != nil {
			return "", err
		}
		nonce := make([]byte, aead.NonceSize())
		_, _ = rand.Read(nonce) // which does not fail
		payload = aead.Seal(nonce, nonce, payload, nil)
	}
	words := []string{version, s.Key.id, base64.RawURLEncoding.EncodeToString(payload)}
	mac := s.Key.sum(version, s.Context, payload)
	return strings.Join(append(words, base64.RawURLEncoding.EncodeToString(mac)), "."), nil
}

// read verifies a token and decodes it.
func (s *Seal) read(token string) (*sealed, error) {
	words := strings.Split(token, ".")
	if len(words) != 4 || len(token) > maxToken {
		return nil, sealRefused("it is not a token of this library")
	}
	version, id := words[0], words[1]
	if version != sealPlain && version != sealEncrypted {
		return nil, sealRefused("its version is not known")
	}
	key := s.key(id)
	if key == nil {
		return nil, sealRefused("its key %q is not known", id)
	}
	payload, err := strictBase64(words[2])
	if err != nil {
		return nil, sealRefused("its payload is not base64")
	}
	mac, err := strictBase64(words[3])
	if err != nil || !hmac.Equal(mac, key.sum(version, s.Context, payload)) {
		return nil, sealRefused("it was not made by this server for this context, or was changed")
	}
	if version == sealEncrypted {
		if payload, err = key.decrypt(payload); err != nil {
			return nil, sealRefused("it can't be decrypted")
		}
	}
	o := &sealed{}
	if err := json.Unmarshal(payload, o); err != nil || o.Message == nil {
		return nil, sealRefused("what it holds can't be read")
	}
	return o, nil
}

// strictBase64 accepts one spelling of a value only, so that a token can't be
// changed without changing its meaning.
func strictBase64(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// sum is the MAC over everything that a token stands for. Each field has its length
// in front, so that no two lists of fields look the same.
func (k *SealKey) sum(version string, context []string, payload []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	writeField(h, []byte("holdpoint seal"))
	writeField(h, []byte(version))
	writeField(h, []byte(k.id))
	writeField(h, []byte("paused message"))
	writeCount(h, len(context))
	for _, word := range context {
		writeField(h, []byte(word))
	}
	writeField(h, payload)
	return h.Sum(nil)
}

func writeField(h hash.Hash, data []byte) {
	writeCount(h, len(data))
	h.Write(data)
}

func writeCount(h hash.Hash, n int) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (k *SealKey) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.encrypt)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (k *SealKey) decrypt(payload []byte) ([]byte, error) {
	aead, err := k.cipher()
	if err != nil {
		return nil, err
	}
	if len(payload) < aead.NonceSize() {
		return nil, sealRefused("its payload is too short")
	}
	return aead.Open(nil, payload[:aead.NonceSize()], payload[aead.NonceSize():], nil)
}

// isTokenWord reports whether a text can stand in a token as it is.
func isTokenWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// withoutSeal is the message without its token.
func withoutSeal(m *Message) *Message {
	if _, ok := m.Metadata[keySeal]; !ok {
		return m
	}
	c := *m
	c.Metadata = nil
	for k, v := range m.Metadata {
		if k == keySeal {
			continue
		}
		if c.Metadata == nil {
			c.Metadata = Metadata{}
		}
		c.Metadata[k] = v
	}
	return &c
}

// historyDigest is over messages as a JavaScript client would keep them: numbers as
// float64, keys in any order.
func historyDigest(messages []*Message, ownSystem bool) (string, error) {
	if ownSystem && len(messages) > 0 && messages[0].Role == RoleSystem {
		messages = messages[1:]
	}
	h := sha256.New()
	writeCount(h, len(messages))
	for _, m := range messages {
		data, err := encode(withoutSeal(m))
		if err != nil {
			return "", err
		}
		if data, err = loosely(data); err != nil {
			return "", err
		}
		writeField(h, data)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

// loosely is JSON in one form for all texts that a reader with float64 numbers takes
// for the same. A number that no float64 holds stands as it is.
func loosely(data json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := decodeNumbers(data, &v); err != nil {
		return nil, err
	}
	return encode(looseNumbers(v))
}

func looseNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = looseNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = looseNumbers(element)
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f + 0 // without the sign of a zero
		}
	}
	return v
}

// askings lists the open requests of a message for its seal. One that is open as it
// was before keeps its id and its expiry.
func askings(m *Message, earlier *sealed, expires time.Time) ([]sealedAsking, error) {
	var list []sealedAsking
	err := walkOpen(m, nil, func(o *openRequest) {
		state := sha256.New()
		for _, value := range [][]byte{o.marks.interrupt, o.marks.interruptState, o.marks.effectiveInput, []byte(o.marks.interruptedBy)} {
			writeField(state, value)
		}
		a := sealedAsking{
			ID: rand.Text(), Ref: o.part.ToolRequest.Ref, Path: o.path, Expires: expires,
			Asked: base64.RawURLEncoding.EncodeToString(state.Sum(nil)),
		}
		if before := earlier.asking(a.Ref, a.Path); before != nil && !before.used && before.Asked == a.Asked {
			a.ID, a.Expires = before.ID, before.Expires
		}
		list = append(list, a)
	})
	return list, err
}

// asking finds an open request in a seal.
func (o *sealed) asking(ref string, path Path) *sealedAsking {
	if o == nil {
		return nil
	}
	for i := range o.Asked {
		if a := &o.Asked[i]; a.Ref == ref && slices.Equal(a.Path, path) {
			return a
		}
	}
	return nil
}

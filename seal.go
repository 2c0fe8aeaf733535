package ai

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"
)

// Kinds of errors about seals, to be found with errors.Is.
var (
	// ErrSeal: the paused message is not one that was sealed here, for this context,
	// and is still good.
	ErrSeal = errors.New("ai: seal refused")
	// ErrSpent: what was sealed was answered before. It is an ErrSeal too.
	ErrSpent = errors.New("ai: seal spent")
)

// DefaultSealTTL is how long a question can be answered by default.
const DefaultSealTTL = 7 * 24 * time.Hour

// Seal guards paused conversations that leave the process: whatever comes back is
// refused unless it is, to the byte, what was handed out. It covers the whole last
// message with the state of its calls, the conversations inside them, the messages
// before it, a context, and an expiry.
//
// With a seal set, every message with an open tool request is sealed by whatever way
// it leaves, and an open request without a valid seal is refused. Without Spent, an
// answer works as often as it is sent until the expiry. Signed is not secret: see
// Encrypt. A Seal is safe for concurrent use and must not be changed once used.
//
// The token stands in the message's metadata under `seal`. A client may reformat the
// JSON around it: what counts is in the token.
type Seal struct {
	// Key seals and opens. Required.
	Key *SealKey
	// Retired keys open what they sealed.
	Retired []*SealKey
	// Context says whose conversation it is, such as tenant, user and session, from
	// the server's own authentication. What was sealed for one context is refused in
	// any other. Required.
	Context []string
	// TTL is how long a question can be answered. Defaults to DefaultSealTTL.
	TTL time.Duration
	// SealedOnly leaves out the messages before the last one, for applications that
	// trim them.
	SealedOnly bool
	// Encrypt hides the paused message in the token from whoever holds it. The message
	// beside the token can be read all the same.
	Encrypt bool
	// Spent remembers which questions were answered, so that each is answered once.
	// Nil means that an answer works as often as it is sent.
	Spent Spender
}

// A Spender remembers what was spent. It is safe for concurrent use, also by several
// processes where the conversations are.
type Spender interface {
	// Spend marks the items of a lineage as spent, all of them or none. Where one was
	// spent before, it is ErrSpent; any other error means that nobody knows. They
	// need not be remembered after the time until.
	Spend(ctx context.Context, lineage string, items []string, until time.Time) error
}

// SealKey is a key for seals.
type SealKey struct {
	id      string
	mac     []byte
	encrypt []byte
}

// minKey is the least length of a secret, in bytes.
const minKey = 32

// NewSealKey makes a key of a secret of at least 32 random bytes. The id tells keys
// apart when they are rotated; it is not secret.
func NewSealKey(id string, secret []byte) (*SealKey, error) {
	if !isTokenWord(id) {
		return nil, invalidf("ai: seal key: the id must be of letters, digits, - and _, not %q", id)
	}
	if len(secret) < minKey {
		return nil, invalidf("ai: seal key %q: the secret has %d bytes; at least %d random ones are needed", id, len(secret), minKey)
	}
	k := &SealKey{id: id}
	var err error
	if k.mac, err = hkdf.Key(sha256.New, secret, nil, "holdpoint seal mac", sha256.Size); err != nil {
		return nil, invalidf("ai: seal key %q: %w", id, err)
	}
	if k.encrypt, err = hkdf.Key(sha256.New, secret, nil, "holdpoint seal encryption", sha256.Size); err != nil {
		return nil, invalidf("ai: seal key %q: %w", id, err)
	}
	return k, nil
}

// check makes sure that the seal can be used.
func (s *Seal) check() error {
	if s.Key == nil {
		return invalidf("ai: seal: no key")
	}
	if len(s.Context) == 0 {
		return invalidf("ai: seal: no context; name whose conversation it is, such as tenant, user and session")
	}
	if s.TTL < 0 {
		return invalidf("ai: seal: TTL is %s; it must not be negative", s.TTL)
	}
	seen := map[string]bool{s.Key.id: true}
	for i, k := range s.Retired {
		if k == nil {
			return invalidf("ai: seal: retired key %d is nil", i)
		}
		if seen[k.id] {
			return invalidf("ai: seal: two keys have the id %q", k.id)
		}
		seen[k.id] = true
	}
	return nil
}

func (s *Seal) ttl() time.Duration {
	if s.TTL == 0 {
		return DefaultSealTTL
	}
	return s.TTL
}

// key finds a key by its id.
func (s *Seal) key(id string) *SealKey {
	if s.Key.id == id {
		return s.Key
	}
	for _, k := range s.Retired {
		if k.id == id {
			return k
		}
	}
	return nil
}

// sealed is what a token holds, opened.
type sealed struct {
	// Lineage is minted with the first seal of a pause and stays; Generation counts
	// the seals of it.
	Lineage    string `json:"lineage"`
	Generation int    `json:"generation"`
	// Nonce makes any two tokens differ.
	Nonce string `json:"nonce"`
	// Asked are the open requests, each one's asking with an id and an expiry.
	Asked []sealedAsking `json:"asked"`
	// History is the digest of the messages before, absent where they are not
	// covered. System says that the first of them, the server's own, is not.
	History string `json:"history,omitempty"`
	System  bool   `json:"system,omitempty"`
	// Message is the paused message.
	Message *Message `json:"message"`
}

// sealedAsking is an open request in a seal.
type sealedAsking struct {
	ID      string    `json:"id"`
	Ref     string    `json:"ref"`
	Path    Path      `json:"path,omitempty"`
	Asked   string    `json:"asked"` // the digest of its state: another question is another asking
	Expires time.Time `json:"expires"`

	used bool // it was answered in this run
}

// seal returns the message with a token. earlier is what was sealed before, of the
// same pause: what is still open keeps its expiry.
func (s *Seal) seal(m *Message, before []*Message, ownSystem bool, earlier *sealed) (*Message, error) {
	bare := withoutSeal(m)
	next := &sealed{Lineage: rand.Text(), Nonce: rand.Text(), Message: bare, System: ownSystem}
	if earlier != nil {
		next.Lineage, next.Generation = earlier.Lineage, earlier.Generation+1
	}
	if !s.SealedOnly {
		var err error
		if next.History, err = historyDigest(before, ownSystem); err != nil {
			return nil, err
		}
	}
	var err error
	if next.Asked, err = askings(bare, earlier, time.Now().Add(s.ttl()).UTC()); err != nil {
		return nil, err
	}
	token, err := s.token(next)
	if err != nil {
		return nil, err
	}
	c := *bare
	c.Metadata = Metadata{keySeal: encodeString(token)}
	for k, v := range bare.Metadata {
		c.Metadata[k] = v
	}
	return &c, nil
}

// open verifies the token of a message and returns what was sealed. Nothing of the
// message itself is used.
func (s *Seal) open(m *Message, before []*Message, ownSystem bool) (*sealed, error) {
	var token string
	if found, err := m.Metadata.Decode(keySeal, &token); err != nil || !found {
		return nil, sealRefused("the message with open tool requests has none")
	}
	opened, err := s.read(token)
	if err != nil {
		return nil, err
	}
	for _, a := range opened.Asked {
		if time.Now().After(a.Expires) {
			return nil, sealRefused("the question of tool request %s expired at %s", a.Ref, a.Expires.Format(time.RFC3339))
		}
	}
	if err := opened.covers(m, before, ownSystem, s.SealedOnly); err != nil {
		return nil, err
	}
	return opened, nil
}

// covers makes sure that what came back is what was handed out, but for the way JSON
// is written.
func (o *sealed) covers(m *Message, before []*Message, ownSystem, sealedOnly bool) error {
	ours, err := encode(o.Message)
	if err != nil {
		return err
	}
	theirs, err := encode(withoutSeal(m))
	if err != nil || !sameJSON(ours, theirs) {
		return sealRefused("the message was changed after it was sealed")
	}
	if sealedOnly {
		return nil
	}
	if o.System != ownSystem {
		return sealRefused("it was made with other instructions")
	}
	digest, err := historyDigest(before, ownSystem)
	if err != nil {
		return err
	}
	if digest != o.History {
		return sealRefused("the messages before the sealed one are not those it was sealed with")
	}
	return nil
}

// spend marks the askings that are about to be answered, or started, as spent.
func (s *Seal) spend(ctx context.Context, o *sealed, wanted func(*sealedAsking) bool) error {
	if s.Spent == nil {
		return nil
	}
	var items []string
	var until time.Time
	for i := range o.Asked {
		a := &o.Asked[i]
		if !wanted(a) {
			continue
		}
		items = append(items, a.ID)
		if a.Expires.After(until) {
			until = a.Expires
		}
	}
	if len(items) == 0 {
		return nil
	}
	err := guarded(func() error { return s.Spent.Spend(ctx, o.Lineage, items, until) })
	if errors.Is(err, ErrSpent) {
		return &kindError{ErrSeal, placef(err, "ai: a question was answered before: ")}
	}
	if err != nil {
		return placef(err, "ai: the answers could not be marked as used: ")
	}
	return nil
}

func sealRefused(format string, args ...any) error {
	return &kindError{ErrSeal, placef(invalidf(format, args...), "ai: seal: ")}
}

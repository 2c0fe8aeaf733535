// Package digest makes digests that decisions are bound to: of JSON values, and of
// lists of texts.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// Of is the digest of a list of texts under a domain, which tells what the digest is
// of. No two lists look the same: each text has its length in front.
func Of(domain string, texts ...string) string {
	h := sha256.New()
	for _, text := range append([]string{domain}, texts...) {
		h.Write(strconv.AppendInt(nil, int64(len(text)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// JSON is one text for all spellings of a JSON value: keys sorted, no spaces. Numbers
// keep their digits, since two that differ there may differ for whoever reads them.
// What is no JSON is returned as it is.
func JSON(data json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if len(data) == 0 || dec.Decode(&v) != nil {
		return string(data)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(data)
	}
	return string(text)
}

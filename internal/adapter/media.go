package adapter

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/holdpoint/ai"
)

// Media is a document as providers want it: its bytes, or where it is.
type Media struct {
	// ContentType is the MIME type without parameters. Empty where nobody says.
	ContentType string
	// Data are the bytes. Nil where the document is at URL.
	Data []byte
	// URL is where the document is. Empty where Data holds it.
	URL string
}

// Base64 is the data in standard base64.
func (m *Media) Base64() string { return base64.StdEncoding.EncodeToString(m.Data) }

// ReadMedia reads a media part. A data: URL that can't be read is
// ErrInvalidArgument.
func ReadMedia(m *ai.Media) (*Media, error) {
	scheme, rest, _ := strings.Cut(m.URL, ":")
	if !strings.EqualFold(scheme, "data") {
		return &Media{ContentType: bare(m.ContentType), URL: m.URL}, nil
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, Invalid("ai: a data: URL has no comma, so it holds no data")
	}
	data, err := decodeBody(head, body)
	if err != nil {
		return nil, err
	}
	contentType := bare(m.ContentType)
	if contentType == "" {
		contentType = bare(strings.TrimSuffix(head, ";base64"))
	}
	return &Media{ContentType: contentType, Data: data}, nil
}

func decodeBody(head, body string) ([]byte, error) {
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, Invalid("ai: a data: URL is not escaped as a URL must be: %w", err)
	}
	if !strings.HasSuffix(head, ";base64") {
		return []byte(text), nil
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, Invalid("ai: a data: URL says base64, which its body is not: %w", err)
	}
	return data, nil
}

// DataURL makes a media part of bytes.
func DataURL(contentType string, data []byte) *ai.MediaPart {
	return &ai.MediaPart{Media: ai.Media{
		ContentType: contentType,
		URL:         "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(data),
	}}
}

// bare is a MIME type without its parameters.
func bare(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

package anthropic

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

const pdf = "application/pdf"

// mediaBlock is an image or a document.
func mediaBlock(m *ai.Media) (block, error) {
	media, err := adapter.ReadMedia(m)
	if err != nil {
		return nil, err
	}
	source := block{}
	if media.URL != "" {
		source["type"], source["url"] = encode("url"), encode(media.URL)
	} else {
		source["type"], source["data"] = encode("base64"), encode(media.Base64())
	}
	contentType, err := contentTypeOf(media)
	if err != nil {
		return nil, err
	}
	kind := "image"
	switch {
	case isImage(contentType), contentType == pdf:
		if contentType == pdf {
			kind = "document"
		}
		if media.URL == "" {
			source["media_type"] = encode(contentType)
		}
	case strings.HasPrefix(contentType, "text/") && media.URL == "" && utf8.Valid(media.Data):
		kind = "document"
		source = block{"type": encode("text"), "media_type": encode("text/plain"), "data": encode(string(media.Data))}
	default:
		return nil, adapter.Invalid("media of type %q can't be sent: expected JPEG, PNG, GIF, WebP or PDF, or text in a data: URL", contentType)
	}
	return block{"type": encode(kind), "source": encode(source)}, nil
}

// isImage reports whether the API takes images of that type.
func isImage(contentType string) bool {
	switch contentType {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return true
	}
	return false
}

// contentTypeOf is the type of a document, which may follow from the end of its URL.
func contentTypeOf(m *adapter.Media) (string, error) {
	kind := m.ContentType
	if m.URL != "" {
		u, err := url.Parse(m.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			return "", adapter.Invalid("media at %.100q can't be sent: expected an http, https or data URL", m.URL)
		}
		if kind == "" {
			kind = typeOfExtension(path.Ext(u.Path))
		}
	}
	switch kind {
	case "":
		return "", adapter.Invalid("media can't be sent that has no content type")
	case "image/jpg":
		return "image/jpeg", nil
	}
	return kind, nil
}

func typeOfExtension(ext string) string {
	switch strings.ToLower(ext) {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".pdf":
		return pdf
	}
	return ""
}

package openai

import (
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// chatMedia is a document as a part of a chat message.
func chatMedia(m *ai.Media) (object, error) {
	doc, err := adapter.ReadMedia(m)
	if err != nil {
		return nil, err
	}
	kind, sub, _ := strings.Cut(doc.ContentType, "/")
	switch {
	case kind == "image", doc.ContentType == "" && doc.URL != "":
		return object{"type": "image_url", "image_url": object{"url": urlOf(doc)}}, nil
	case doc.Data == nil:
		return nil, adapter.Invalid("ai: openai: chat completions take a document of type %q as a data: URL only, not at %s", doc.ContentType, doc.URL)
	case kind == "audio":
		format := map[string]string{"wav": "wav", "x-wav": "wav", "wave": "wav", "mpeg": "mp3", "mp3": "mp3"}[sub]
		if format == "" {
			return nil, adapter.Invalid("ai: openai: sound of type %q is not supported, expected WAV or MP3", doc.ContentType)
		}
		return object{"type": "input_audio", "input_audio": object{"data": doc.Base64(), "format": format}}, nil
	}
	return object{"type": "file", "file": object{"filename": fileName(doc), "file_data": urlOf(doc)}}, nil
}

// responsesMedia is a document as an item of the content of a response's input.
func responsesMedia(m *ai.Media) (object, error) {
	doc, err := adapter.ReadMedia(m)
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(doc.ContentType, "/")
	switch {
	case kind == "image", doc.ContentType == "" && doc.URL != "":
		return object{"type": "input_image", "image_url": urlOf(doc), "detail": "auto"}, nil
	case kind == "audio" || kind == "video":
		return nil, adapter.Invalid("ai: openai: the responses API takes no document of type %q", doc.ContentType)
	case doc.Data == nil:
		return object{"type": "input_file", "file_url": doc.URL}, nil
	}
	return object{"type": "input_file", "filename": fileName(doc), "file_data": urlOf(doc)}, nil
}

func urlOf(doc *adapter.Media) string {
	if doc.Data == nil {
		return doc.URL
	}
	contentType := doc.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	return "data:" + contentType + ";base64," + doc.Base64()
}

// fileName is a name for a document that has none, since the API wants one.
func fileName(doc *adapter.Media) string {
	_, sub, _ := strings.Cut(doc.ContentType, "/")
	ending := map[string]string{"pdf": "pdf", "plain": "txt", "json": "json", "csv": "csv", "html": "html", "markdown": "md"}[sub]
	if ending == "" {
		return "file"
	}
	return "file." + ending
}

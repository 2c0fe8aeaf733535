package aitest

import (
	"bytes"
	"maps"

	"github.com/holdpoint/ai"
)

// cloneRequest copies all that a caller could change later, but for Config,
// whose type is the caller's.
func cloneRequest(req *ai.ModelRequest) *ai.ModelRequest {
	c := *req
	c.Messages = nil
	for _, m := range req.Messages {
		c.Messages = append(c.Messages, cloneMessage(m))
	}
	c.Tools = nil
	for _, def := range req.Tools {
		d := *def
		d.InputSchema, d.OutputSchema = bytes.Clone(d.InputSchema), bytes.Clone(d.OutputSchema)
		d.Metadata = cloneMetadata(d.Metadata)
		c.Tools = append(c.Tools, &d)
	}
	return &c
}

func cloneMessage(m *ai.Message) *ai.Message {
	if m == nil {
		return nil
	}
	c := *m
	c.Content, c.Metadata = cloneParts(m.Content), cloneMetadata(m.Metadata)
	return &c
}

func cloneParts(parts ai.Parts) ai.Parts {
	if parts == nil {
		return nil
	}
	list := make(ai.Parts, len(parts))
	for i, p := range parts {
		list[i] = clonePart(p)
	}
	return list
}

// clonePart copies a part of any kind. The union is sealed, so the list is complete;
// a nil part stays as it is.
func clonePart(part ai.Part) ai.Part {
	switch p := part.(type) {
	case *ai.TextPart:
		return clone(p, func(c *ai.TextPart) { c.Metadata = cloneMetadata(c.Metadata) })
	case *ai.MediaPart:
		return clone(p, func(c *ai.MediaPart) { c.Metadata = cloneMetadata(c.Metadata) })
	case *ai.ReasoningPart:
		return clone(p, func(c *ai.ReasoningPart) { c.Metadata = cloneMetadata(c.Metadata) })
	case *ai.ResourcePart:
		return clone(p, func(c *ai.ResourcePart) { c.Metadata = cloneMetadata(c.Metadata) })
	case *ai.DataPart:
		return clone(p, func(c *ai.DataPart) {
			c.Data, c.Metadata = bytes.Clone(c.Data), cloneMetadata(c.Metadata)
		})
	case *ai.CustomPart:
		return clone(p, func(c *ai.CustomPart) {
			c.Custom, c.Metadata = bytes.Clone(c.Custom), cloneMetadata(c.Metadata)
		})
	case *ai.UnknownPart:
		return clone(p, func(c *ai.UnknownPart) { c.JSON = bytes.Clone(c.JSON) })
	case *ai.ToolRequestPart:
		return clone(p, func(c *ai.ToolRequestPart) {
			c.ToolRequest.Input, c.Metadata = bytes.Clone(c.ToolRequest.Input), cloneMetadata(c.Metadata)
		})
	case *ai.ToolResponsePart:
		return clone(p, func(c *ai.ToolResponsePart) {
			r := &c.ToolResponse
			r.Output, r.Content, c.Metadata = bytes.Clone(r.Output), cloneParts(r.Content), cloneMetadata(c.Metadata)
		})
	}
	return part
}

// clone copies a part and lets deepen copy what it points to.
func clone[P any](p *P, deepen func(*P)) *P {
	if p == nil {
		return nil
	}
	c := *p
	deepen(&c)
	return &c
}

func cloneMetadata(md ai.Metadata) ai.Metadata {
	c := maps.Clone(md)
	for key, value := range c {
		c[key] = bytes.Clone(value)
	}
	return c
}

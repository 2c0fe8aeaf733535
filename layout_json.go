package ai

// Each part has its kind first, then the metadata.

func (p *TextPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "text", always: true, value: (*textValue)(&p.Text)},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *MediaPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "media", always: true, object: &p.Media},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *ReasoningPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "reasoning", always: true, value: (*textValue)(&p.Reasoning)},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *DataPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "data", always: true, value: (*rawValue)(&p.Data)},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *CustomPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "custom", always: true, value: (*customValue)(&p.Custom)},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *ResourcePart) layout() (wireFields, *members) {
	return wireFields{
		{key: "resource", always: true, object: &p.Resource},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *ToolRequestPart) layout() (wireFields, *members) {
	return wireFields{
		{key: "toolRequest", always: true, object: &p.ToolRequest},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (p *ToolResponsePart) layout() (wireFields, *members) {
	return wireFields{
		{key: "toolResponse", always: true, object: &p.ToolResponse},
		{key: "metadata", value: &p.Metadata},
	}, &p.rest
}

func (m *Media) layout() (wireFields, *members) {
	return wireFields{
		{key: "contentType", value: (*textValue)(&m.ContentType)},
		{key: "url", value: (*textValue)(&m.URL)},
	}, &m.rest
}

func (r *Resource) layout() (wireFields, *members) {
	return wireFields{{key: "uri", value: (*textValue)(&r.URI)}}, &r.rest
}

func (r *ToolRequest) layout() (wireFields, *members) {
	return wireFields{
		{key: "name", value: (*textValue)(&r.Name)},
		{key: "ref", value: (*textValue)(&r.Ref)},
		{key: "input", value: (*rawValue)(&r.Input)},
		{key: "partial", value: (*flagValue)(&r.Partial)},
	}, &r.rest
}

func (r *ToolResponse) layout() (wireFields, *members) {
	return wireFields{
		{key: "name", value: (*textValue)(&r.Name)},
		{key: "ref", value: (*textValue)(&r.Ref)},
		{key: "output", value: (*rawValue)(&r.Output)},
		{key: "content", value: &r.Content},
	}, &r.rest
}

func (p *TextPart) encode(e *wireEncoder) error         { return e.object(p) }
func (p *MediaPart) encode(e *wireEncoder) error        { return e.object(p) }
func (p *ReasoningPart) encode(e *wireEncoder) error    { return e.object(p) }
func (p *DataPart) encode(e *wireEncoder) error         { return e.object(p) }
func (p *CustomPart) encode(e *wireEncoder) error       { return e.object(p) }
func (p *ResourcePart) encode(e *wireEncoder) error     { return e.object(p) }
func (p *ToolRequestPart) encode(e *wireEncoder) error  { return e.object(p) }
func (p *ToolResponsePart) encode(e *wireEncoder) error { return e.object(p) }

func (p *UnknownPart) encode(e *wireEncoder) error {
	start := e.buf.Len()
	if err := e.raw(p.JSON); err != nil {
		return err
	}
	if e.buf.Bytes()[start] != '{' {
		return &wireError{text: notObject}
	}
	return nil
}

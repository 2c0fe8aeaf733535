package ai

// What a type of this file reads and writes is said at the type. Every
// UnmarshalJSON replaces the value whole, or returns an ErrInvalidArgument that
// says where the fault is and leaves the value alone. Every MarshalJSON fails
// with an ErrInvalidArgument where a raw value is not valid JSON.

// MarshalJSON writes the part.
func (p TextPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a text part.
func (p *TextPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a text part")
}

// MarshalJSON writes the part.
func (p MediaPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a media part.
func (p *MediaPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a media part")
}

// MarshalJSON writes the part.
func (p ReasoningPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a reasoning part.
func (p *ReasoningPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a reasoning part")
}

// MarshalJSON writes the part.
func (p DataPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a data part.
func (p *DataPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a data part")
}

// MarshalJSON writes the part; a null value is an error.
func (p CustomPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a custom part.
func (p *CustomPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a custom part")
}

// MarshalJSON writes the part.
func (p ResourcePart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a resource part.
func (p *ResourcePart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a resource part")
}

// MarshalJSON writes the part.
func (p ToolRequestPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a tool request.
func (p *ToolRequestPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a tool request")
}

// MarshalJSON writes the part.
func (p ToolResponsePart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be a tool response.
func (p *ToolResponsePart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "a tool response")
}

// MarshalJSON writes the part as it was read.
func (p UnknownPart) MarshalJSON() ([]byte, error) { return marshalPart(&p) }

// UnmarshalJSON reads a part that must be of an unknown kind.
func (p *UnknownPart) UnmarshalJSON(data []byte) error {
	return unmarshalPart(data, p, "of an unknown kind")
}

// MarshalJSON writes the object that stands under "media" in a part.
func (m Media) MarshalJSON() ([]byte, error) {
	out, err := marshalObject(&m)
	return out, within("media", err)
}

// UnmarshalJSON reads the object that stands under "media" in a part.
func (m *Media) UnmarshalJSON(data []byte) error {
	var read Media
	if err := unmarshalObject(data, &read); err != nil {
		return within("media", err)
	}
	*m = read
	return nil
}

// MarshalJSON writes the object that stands under "resource" in a part.
func (r Resource) MarshalJSON() ([]byte, error) {
	out, err := marshalObject(&r)
	return out, within("resource", err)
}

// UnmarshalJSON reads the object that stands under "resource" in a part.
func (r *Resource) UnmarshalJSON(data []byte) error {
	var read Resource
	if err := unmarshalObject(data, &read); err != nil {
		return within("resource", err)
	}
	*r = read
	return nil
}

// MarshalJSON writes the object that stands under "toolRequest" in a part.
func (r ToolRequest) MarshalJSON() ([]byte, error) {
	out, err := marshalObject(&r)
	return out, within("toolRequest", err)
}

// UnmarshalJSON reads the object that stands under "toolRequest" in a part.
func (r *ToolRequest) UnmarshalJSON(data []byte) error {
	var read ToolRequest
	if err := unmarshalObject(data, &read); err != nil {
		return within("toolRequest", err)
	}
	*r = read
	return nil
}

// MarshalJSON writes the object that stands under "toolResponse" in a part.
func (r ToolResponse) MarshalJSON() ([]byte, error) {
	out, err := marshalObject(&r)
	return out, within("toolResponse", err)
}

// UnmarshalJSON reads the object that stands under "toolResponse" in a part.
func (r *ToolResponse) UnmarshalJSON(data []byte) error {
	var read ToolResponse
	if err := unmarshalObject(data, &read); err != nil {
		return within("toolResponse", err)
	}
	*r = read
	return nil
}

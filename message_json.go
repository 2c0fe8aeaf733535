package ai

import "bytes"

// MarshalJSON writes the message in Genkit's form: what was read comes back in
// the order it was read, changed fields in their old places. An unknown role, a
// nil part and a raw value that is not valid JSON are each an
// ErrInvalidArgument that says where.
func (m Message) MarshalJSON() ([]byte, error) {
	out, err := marshalObject(&m)
	return out, rooted("message", err)
}

// UnmarshalJSON replaces m with the message read, or leaves it alone and
// returns an ErrInvalidArgument that says where in the message it is.
func (m *Message) UnmarshalJSON(data []byte) error {
	var read Message
	err := unmarshalObject(data, &read)
	if err == nil && read.Role == "" {
		err = within("role", &wireError{text: wrongRole})
	}
	if err != nil {
		return rooted("message", err)
	}
	*m = read
	return nil
}

func (m *Message) layout() (wireFields, *members) {
	return wireFields{
		{key: "role", always: true, value: &m.Role},
		{key: "content", always: true, value: &m.Content},
		{key: "metadata", value: &m.Metadata},
	}, &m.rest
}

const wrongRole = "must be system, user, model or tool"

func (r Role) known() bool {
	switch r {
	case RoleSystem, RoleUser, RoleModel, RoleTool:
		return true
	}
	return false
}

func (r *Role) empty() bool { return *r == "" }

func (r *Role) decode(_ *wireDecoder, data []byte) error {
	if data[0] == '"' {
		*r = Role(unquote(data))
	}
	if !r.known() {
		return &wireError{text: wrongRole}
	}
	return nil
}

func (r *Role) encode(e *wireEncoder) error {
	if !r.known() {
		return &wireError{text: wrongRole}
	}
	e.text(string(*r))
	return nil
}

func marshalObject(o wireObject) ([]byte, error) {
	var e wireEncoder
	if err := e.object(o); err != nil {
		return nil, err
	}
	return e.buf.Bytes(), nil
}

// unmarshalObject decodes data into o, which must be zero.
func unmarshalObject(data []byte, o wireObject) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	return new(wireDecoder).object(bytes.TrimSpace(data), o)
}

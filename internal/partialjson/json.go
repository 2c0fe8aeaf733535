package partialjson

// AppendJSON appends the value as a JSON text that is closed wherever it is still
// open, and nothing for the zero Value. A string that still grows is part of
// it only where growing is set.
func (v Value) AppendJSON(dst []byte, growing bool) []byte {
	switch {
	case v.kind == Array:
		return v.appendMembers(dst, '[', ']', growing)
	case v.kind == Object:
		return v.appendMembers(dst, '{', '}', growing)
	case v.open && !growing:
		return dst
	case v.kind == String:
		return appendString(dst, v.text)
	}
	return append(dst, v.text...)
}

func (v Value) appendMembers(dst []byte, first, last byte, growing bool) []byte {
	dst = append(dst, first)
	separate := false
	for key, value := range v.Members() {
		if value.kind == String && value.open && !growing {
			continue
		}
		if separate {
			dst = append(dst, ',')
		}
		separate = true
		if v.kind == Object {
			dst = append(appendString(dst, key), ':')
		}
		dst = value.AppendJSON(dst, growing)
	}
	return append(dst, last)
}

// appendString appends a string, which is valid UTF-8, with the escapes that JSON
// asks for and no others.
func appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for text != "" {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; text == "" {
			break
		}
		switch c := text[0]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		text = text[1:]
	}
	return append(dst, '"')
}

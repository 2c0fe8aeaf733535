package ai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
)

// Key forms under which Lookup finds a tool, beside its full and short name.
const (
	keyFormTool      = "/tool/"
	keyFormMultipart = "/tool.v2/"
	keyFormPrompt    = "/prompt/"
	keyFormProvider  = "/dynamic-action-provider/"
)

// maxModelName is the longest name that every provider takes.
const maxModelName = 64

var modelNamePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// shortName is what comes after the last slash.
func shortName(full string) string {
	return full[strings.LastIndexByte(full, '/')+1:]
}

// derivedName makes a name every provider takes from any full name. Two full
// names may yield the same one; hashedName tells them apart.
func derivedName(full string) string {
	name := mapName(full)
	if len(name) > maxModelName {
		return hashedName(full)
	}
	return name
}

func mapName(full string) string {
	var b strings.Builder
	for _, r := range full {
		switch {
		case r == '/':
			b.WriteString("__")
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// hashedName is a derived name, cut, with a hash of the full name behind it.
func hashedName(full string) string {
	sum := sha256.Sum256([]byte(full))
	suffix := "_" + hex.EncodeToString(sum[:4])
	name := mapName(full)
	if len(name) > maxModelName-len(suffix) {
		name = name[:maxModelName-len(suffix)]
	}
	return name + suffix
}

// yields reports whether a tool with this full name can have been offered under
// the name: in one set or another it is each of these.
func yields(full, name string) bool {
	return name == full || name == shortName(full) || name == derivedName(full) || name == hashedName(full)
}

// modelNames fixes the name the model sees for each full name: the short name
// where it is safe and only one tool has it, or one is registered bare; else a
// derived one. The result depends on the set of names, not on their order.
func modelNames(fulls []string) map[string]string {
	shorts := make(map[string]int, len(fulls))
	bare := make(map[string]bool, len(fulls))
	for _, full := range fulls {
		shorts[shortName(full)]++
		bare[full] = true
	}
	names := make(map[string]string, len(fulls))
	taken := make(map[string]bool, len(fulls))
	derived := make(map[string]int)
	for _, full := range fulls {
		short := shortName(full)
		free := shorts[short] == 1 || full == short
		if free && modelNamePattern.MatchString(short) {
			names[full] = short
			taken[short] = true
			continue
		}
		derived[derivedName(full)]++
	}
	for _, full := range fulls {
		if names[full] != "" {
			continue
		}
		name := derivedName(full)
		if derived[name] > 1 || taken[name] {
			name = hashedName(full)
		}
		names[full] = name
	}
	return names
}

// originalName reads the full name that was recorded with a request. It must be
// able to yield the name the model used, or the record is not ours.
func originalName(req *ToolRequestPart) (string, error) {
	raw, ok := req.Metadata[keyOriginalName]
	if !ok {
		return "", nil
	}
	var full string
	if err := json.Unmarshal(raw, &full); err != nil || full == "" {
		return "", invalidf("ai: metadata %q of tool request %s must be a name", keyOriginalName, req.label())
	}
	if !yields(full, req.ToolRequest.Name) {
		return "", invalidf("ai: metadata %q of tool request %s: tool %q is never offered under that name", keyOriginalName, req.label(), full)
	}
	return full, nil
}

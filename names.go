package ai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
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

// derivations are the ways to make a name that every provider takes from a full
// name. Each is for where the one before it would be the name of another tool too.
func derivations() []func(full string) string {
	return []func(string) string{
		derivedName,
		func(full string) string { return hashedName(full, 4) },
		func(full string) string { return hashedName(full, 16) },
	}
}

// derivedName maps a full name, and cuts it with a hash where it is too long.
func derivedName(full string) string {
	name := mapName(full)
	if len(name) > maxModelName {
		return hashedName(full, 4)
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

// hashedName is a mapped name, cut, with so many bytes of a hash of the full
// name behind it.
func hashedName(full string, size int) string {
	sum := sha256.Sum256([]byte(full))
	suffix := "_" + hex.EncodeToString(sum[:size])
	name := mapName(full)
	if len(name) > maxModelName-len(suffix) {
		name = name[:maxModelName-len(suffix)]
	}
	return name + suffix
}

// yields reports whether a tool with this full name can have been offered under
// the name: in one set or another it is each of these.
func yields(full, name string) bool {
	if name == full || name == shortName(full) {
		return true
	}
	for _, derive := range derivations() {
		if name == derive(full) {
			return true
		}
	}
	return false
}

// modelNames fixes the name the model sees for each full name: the short name
// where it is safe and only one tool has it, or one is registered bare; else a
// derived one. The result depends on the set of names, not on their order. The
// error names a tool for which no name is left, which takes names made for that.
func modelNames(fulls []string) (map[string]string, error) {
	shorts := make(map[string]int, len(fulls))
	for _, full := range fulls {
		shorts[shortName(full)]++
	}
	names := make(map[string]string, len(fulls))
	taken := make(map[string]bool, len(fulls))
	var rest []string
	for _, full := range fulls {
		short := shortName(full)
		if (shorts[short] > 1 && full != short) || !modelNamePattern.MatchString(short) {
			rest = append(rest, full)
			continue
		}
		names[full], taken[short] = short, true
	}
	for _, derive := range derivations() {
		rest = deriveNames(rest, derive, names, taken)
	}
	if len(rest) > 0 {
		return nil, invalidf("ai: tool %q can be offered under no name that other tools of the set do not have", slices.Min(rest))
	}
	return names, nil
}

// deriveNames names the tools whose derived name nobody else has or wants, and
// returns the others.
func deriveNames(fulls []string, derive func(string) string, names map[string]string, taken map[string]bool) []string {
	wanted := make(map[string]int, len(fulls))
	for _, full := range fulls {
		wanted[derive(full)]++
	}
	var rest []string
	for _, full := range fulls {
		name := derive(full)
		if wanted[name] > 1 || taken[name] {
			rest = append(rest, full)
			continue
		}
		names[full], taken[name] = name, true
	}
	return rest
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

package ai

import "context"

// RawFunc is a tool that takes and gives JSON.
type RawFunc func(ctx context.Context, call *ToolCall) (*ToolResult, error)

// RawTool is a Tool made of a function that takes and gives JSON: for tools
// whose shape is known only at run time, such as those of an MCP server.
type RawTool struct {
	def *ToolDefinition
	fn  RawFunc
}

// NewRawTool makes a tool that is in no registry yet. The definition is copied.
// An empty input schema takes any object. The error names the tool and what is
// wrong with it.
func NewRawTool(def *ToolDefinition, fn RawFunc) (*RawTool, error) {
	if def == nil {
		return nil, invalidf("ai: a tool has no definition")
	}
	if fn == nil {
		return nil, invalidf("ai: tool %q has no function", def.Name)
	}
	d := *def
	var err error
	if d.compiled, err = d.compile(); err != nil {
		return nil, err
	}
	return &RawTool{def: &d, fn: fn}, nil
}

// Definition returns the tool's definition, which must not be changed.
func (t *RawTool) Definition() *ToolDefinition {
	if t == nil {
		return nil
	}
	return t.def
}

// Call calls the function.
func (t *RawTool) Call(ctx context.Context, call *ToolCall) (*ToolResult, error) {
	return t.fn(ctx, call)
}

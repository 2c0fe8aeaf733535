package anthropic_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// messages reads a history.
func messages(t testing.TB, text string) []*ai.Message {
	t.Helper()
	var list []*ai.Message
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	return list
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	const call = `{"role":"model","content":[{"toolRequest":{"name":"add","ref":"1","input":{}}},{"toolRequest":{"name":"add","ref":"2","input":{}}}]}`
	tests := map[string]struct {
		history string
		kind    error
		text    string
	}{
		"a call without a response": {
			`[` + call + `,{"role":"tool","content":[{"toolResponse":{"name":"add","ref":"1","output":1}}]}]`,
			ai.ErrFailedPrecondition, "ai: anthropic: tool request add#2 has no response",
		},
		"a call that something else follows": {
			`[` + call + `,{"role":"user","content":[{"text":"hi"}]}]`,
			ai.ErrFailedPrecondition, "ai: anthropic: message 1 (user): tool request add#1 has no response",
		},
		"a call that the model follows itself": {
			`[` + call + `,` + call + `]`,
			ai.ErrFailedPrecondition, "ai: anthropic: message 1 (model): tool request add#1 has no response",
		},
		"a response without a call": {
			`[{"role":"user","content":[{"text":"hi"}]},{"role":"tool","content":[{"toolResponse":{"name":"add"}}]}]`,
			ai.ErrInvalidArgument, "ai: anthropic: message 1 (tool): part 0: tool response add answers no open call of the message before it",
		},
		"a second response": {
			`[` + call + `,{"role":"tool","content":[{"toolResponse":{"name":"add","ref":"1","output":1}},{"toolResponse":{"name":"add","ref":"1","output":1}}]}]`,
			ai.ErrInvalidArgument, "ai: anthropic: message 1 (tool): part 1: tool response add#1 answers no open call of the message before it",
		},
		"a response of the user": {
			`[` + `{"role":"user","content":[{"toolResponse":{"name":"add","ref":"1","output":1}}]}]`,
			ai.ErrInvalidArgument, "ai: anthropic: message 0 (user): part 0: a *ai.ToolResponsePart can't be sent here",
		},
		"input that is no object": {
			`[{"role":"model","content":[{"toolRequest":{"name":"add","ref":"1","input":[1]}}]}]`,
			ai.ErrInvalidArgument, "ai: anthropic: message 0 (model): part 0: the input of tool request add#1 is no JSON object",
		},
		"a sound": {
			`[{"role":"user","content":[{"media":{"contentType":"audio/wav","url":"data:;base64,AAAA"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: media of type "audio/wav" can't be sent: expected JPEG, PNG, GIF, WebP or PDF, or text in a data: URL`,
		},
		"a sound in a result": {
			`[{"role":"model","content":[{"toolRequest":{"name":"say","input":{}}}]},{"role":"tool","content":[{"toolResponse":{"name":"say","output":1,"content":[{"media":{"contentType":"audio/wav","url":"data:;base64,AAAA"}}]}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 1 (tool): part 0: result say, part 0: media of type "audio/wav" can't be sent: expected JPEG, PNG, GIF, WebP or PDF, or text in a data: URL`,
		},
		"text behind a URL": {
			`[{"role":"user","content":[{"media":{"contentType":"text/plain","url":"https://example.com/a.txt"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: media of type "text/plain" can't be sent: expected JPEG, PNG, GIF, WebP or PDF, or text in a data: URL`,
		},
		"text that is no text": {
			`[{"role":"user","content":[{"media":{"contentType":"text/plain","url":"data:;base64,/w=="}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: media of type "text/plain" can't be sent: expected JPEG, PNG, GIF, WebP or PDF, or text in a data: URL`,
		},
		"media of no type": {
			`[{"role":"user","content":[{"media":{"url":"https://example.com/a"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: media can't be sent that has no content type`,
		},
		"media that only we can reach": {
			`[{"role":"user","content":[{"media":{"contentType":"image/png","url":"gs://bucket/a.png"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: media at "gs://bucket/a.png" can't be sent: expected an http, https or data URL`,
		},
		"media that can't be read": {
			`[{"role":"user","content":[{"media":{"url":"data:image/png"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: a data: URL has no comma, so it holds no data`,
		},
		"media in a system message": {
			`[{"role":"system","content":[{"media":{"url":"data:image/png;base64,AAAA"}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (system): part 0: media can't be sent in a system message`,
		},
		"metadata of ours that is none": {
			`[{"role":"user","content":[{"text":"a","metadata":{"anthropic":1}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: its metadata "anthropic" is no JSON object`,
		},
		"metadata of a message that is none": {
			`[{"role":"user","content":[{"text":"a"}],"metadata":{"anthropic":[]}}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): its metadata "anthropic" is no JSON object`,
		},
		"a custom part of ours that is no block": {
			`[{"role":"user","content":[{"custom":{"kind":1},"metadata":{"anthropic":{}}}]}]`,
			ai.ErrInvalidArgument, `ai: anthropic: message 0 (user): part 0: a custom part of "anthropic" must hold a content block`,
		},
		"nothing": {
			`[{"role":"system","content":[{"text":"a"}]},{"role":"user","content":[{"text":" "}]}]`,
			ai.ErrInvalidArgument, "ai: anthropic: there is nothing to send: every message is empty or a system message",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t)
			_, err := w.model(nil).Generate(t.Context(), &ai.ModelRequest{Messages: messages(t, tt.history)}, nil)
			require.ErrorIs(t, err, tt.kind)
			require.EqualError(t, err, tt.text)
			require.Empty(t, w.Sent())
		})
	}
}

func TestPartsThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, role := range []ai.Role{ai.RoleSystem, ai.RoleUser, ai.RoleModel, ai.RoleTool, "robot"} {
		for _, part := range []ai.Part{
			nil, (*ai.TextPart)(nil), (*ai.MediaPart)(nil), (*ai.DataPart)(nil), (*ai.CustomPart)(nil), (*ai.ResourcePart)(nil),
			(*ai.ToolRequestPart)(nil), (*ai.ToolResponsePart)(nil), &ai.DataPart{Data: json.RawMessage("{")},
		} {
			req := &ai.ModelRequest{Messages: []*ai.Message{{Role: role, Content: ai.Parts{part}}}}
			_, err := anthropic.New("m", nil).Generate(t.Context(), req, nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument, "%s %T", role, part)
		}
	}
	_, err := anthropic.New("m", nil).Generate(t.Context(), &ai.ModelRequest{Messages: []*ai.Message{nil}}, nil)
	require.EqualError(t, err, "ai: anthropic: message 0 is nil")
}

func TestSettingsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	f := &ai.ToolDefinition{Name: "f"}
	one := sdk.ToolChoiceParamOfTool("f")
	tests := map[string]struct {
		change func(*ai.ModelRequest)
		text   string
	}{
		"another config": {
			func(r *ai.ModelRequest) { r.Config = map[string]any{} },
			"ai: anthropic: the config is a map[string]interface {}, expected an *anthropic.Config",
		},
		"messages in the config": {
			func(r *ai.ModelRequest) {
				r.Config = anthropic.Config{Params: sdk.MessageNewParams{Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("a"))}}}
			},
			"ai: anthropic: the config holds messages or a system prompt, which belong into the conversation",
		},
		"an override": {
			func(r *ai.ModelRequest) {
				r.Config = anthropic.Config{Params: param.Override[sdk.MessageNewParams](json.RawMessage("{}"))}
			},
			"ai: anthropic: the params of the config are an override, which leaves no room for the conversation",
		},
		"a choice without tools": {
			func(r *ai.ModelRequest) { r.ToolChoice = ai.ToolChoiceRequired },
			"ai: anthropic: a tool must be called, but none is on offer",
		},
		"a named choice without tools": {
			func(r *ai.ModelRequest) {
				r.Config = &anthropic.Config{Params: sdk.MessageNewParams{ToolChoice: one}}
			},
			"ai: anthropic: a tool must be called, but none is on offer",
		},
		"two choices": {
			func(r *ai.ModelRequest) {
				r.Tools, r.ToolChoice = []*ai.ToolDefinition{f}, ai.ToolChoiceAuto
				r.Config = &anthropic.Config{Params: sdk.MessageNewParams{ToolChoice: one}}
			},
			"ai: anthropic: the tool choice of the config excludes that of the request and DisableParallelToolUse",
		},
		"a choice there is not": {
			func(r *ai.ModelRequest) { r.Tools, r.ToolChoice = []*ai.ToolDefinition{f}, "maybe" },
			`ai: anthropic: tool choice "maybe" is not supported`,
		},
		"no tool": {
			func(r *ai.ModelRequest) { r.Tools = []*ai.ToolDefinition{nil} },
			"ai: anthropic: a tool definition is nil",
		},
		"metadata of a tool": {
			func(r *ai.ModelRequest) {
				r.Tools = []*ai.ToolDefinition{{Name: "f", Metadata: ai.Metadata{"anthropic": json.RawMessage("7")}}}
			},
			`ai: anthropic: tool f: its metadata "anthropic" is no JSON object`,
		},
		"a grammar": {
			func(r *ai.ModelRequest) {
				r.Tools = []*ai.ToolDefinition{{Name: "f", Sampling: &ai.Sampling{Grammar: &ai.Grammar{Syntax: ai.GrammarLark, Definition: "x"}}}}
			},
			`ai: tool "f" is sampled by a lark grammar, which anthropic does not do`,
		},
		"a recursive schema": {
			func(r *ai.ModelRequest) {
				r.Tools = []*ai.ToolDefinition{{Name: "f", InputSchema: json.RawMessage(recursive), Sampling: &ai.Sampling{Strict: ai.StrictRequire}}}
			},
			`ai: tool "f" requires strict sampling, which anthropic does not do with a recursive schema`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, req := serve(t), ask("hi")
			tt.change(req)
			_, err := w.model(nil).Generate(t.Context(), req, nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.EqualError(t, err, tt.text)
			require.Empty(t, w.Sent())
		})
	}
}

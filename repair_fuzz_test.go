package ai_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// program turns bytes into histories that are wrong in every way there is.
type program struct {
	data     []byte
	metadata ai.Metadata // for some of the requests
}

func (p *program) next(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := int(p.data[0])
	p.data = p.data[1:]
	return b % n
}

var programMarks = []string{
	`{}`, `{"interrupt":true}`, `{"pendingOutput":0}`, `{"notStarted":true}`, `{"callKey":"k"}`, `{"x":1}`,
	`{"failure":{"kind":"tool","text":"t","mayHaveActed":false}}`, `{"failure":{"kind":"tool","text":"t","mayHaveActed":true}}`,
	`{"interrupt":true,"inner":{"b":{"messages":[{"role":"model","content":[{"toolRequest":{"name":"a"}}]}]}}}`,
	`{"interrupt":1,"pendingOutput":2}`, `{"failure":7}`, `{"pendingOutput":1,"pendingMetadata":{"transfer":{"prompt":"p","messages":[{"role":"user","content":[]}]}}}`,
}

func (p *program) history() []*ai.Message {
	var messages []*ai.Message
	for len(p.data) > 0 {
		m := &ai.Message{Role: []ai.Role{ai.RoleModel, ai.RoleTool, ai.RoleUser, ai.RoleSystem, ai.RoleModel, ai.RoleTool}[p.next(6)]}
		for range p.next(4) {
			m.Content = append(m.Content, p.part())
		}
		messages = append(messages, m)
	}
	return messages
}

func (p *program) part() ai.Part {
	name, ref := []string{"a", "b"}[p.next(2)], []string{"", "1", "2"}[p.next(3)]
	switch p.next(5) {
	case 0:
		return &ai.TextPart{Text: "t"}
	case 1, 2:
		return &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: name, Ref: ref}}
	}
	req := aitest.Request(name, ref, json.RawMessage([]string{`{}`, `{"n":1}`, `7`, `{`}[p.next(4)]))
	req.ToolRequest.Partial = p.next(8) == 7
	if i := p.next(len(programMarks) + 4); i >= len(programMarks) {
		req.Metadata = p.metadata
	} else if err := json.Unmarshal([]byte(programMarks[i]), &req.Metadata); err != nil {
		panic(err)
	}
	return req
}

// FuzzRepair makes histories of a program and of metadata that no turn wrote.
func FuzzRepair(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x03\x00\x01\x01\x01\x01\x03\x00\x00\x02\x05\x01\x00\x00\x01"), `{"x":1}`)
	f.Add([]byte("\x01\x01\x00\x01\x01\x02\x01\x00\x00\x00\x03\x01\x03\x02\x03\x00\x08\x02\x01\x01\x01\x01\x01"), `{"interrupt":null}`)
	for i, marks := range programMarks {
		f.Add([]byte{0, 2, 0, 1, 3, 0, 0, byte(i), 1, 2, 4, 2, 0, 0, 2, 1, 0, 1, 1}, marks)
	}
	f.Fuzz(func(t *testing.T, data []byte, metadata string) {
		p := &program{data: data}
		if json.Unmarshal([]byte(metadata), &p.metadata) != nil || len(data) > 100 {
			return
		}
		checkRepair(t, p.history())
	})
}

// Histories that Genkit wrote, paused and finished, and each start and end of them.
func TestRepairHistoriesOfOthers(t *testing.T) {
	t.Parallel()
	files := must(filepath.Glob("testdata/wire/*.json"))
	require.NotEmpty(t, files)
	for _, file := range files {
		var c struct{ History, Next []*ai.Message }
		require.NoError(t, json.Unmarshal(must(os.ReadFile(file)), &c))
		for _, messages := range [][]*ai.Message{c.History, c.Next} {
			for i := range messages {
				checkRepair(t, messages[i:])
				checkRepair(t, messages[:i])
			}
		}
	}
}

// checkRepair holds what is true of every history.
func checkRepair(t *testing.T, messages []*ai.Message) {
	t.Helper()
	before := snapshot(messages)
	repaired := ai.Repair(messages)
	require.Equal(t, before, snapshot(messages), "the messages passed in are not changed")
	require.Equal(t, snapshot(repaired), snapshot(ai.Repair(messages)), "the result depends on the history alone")
	require.Equal(t, snapshot(repaired), snapshot(ai.Repair(repaired)), "repairing it again changes nothing")
	requireTaken(t, repaired)
	requireKept(t, messages, repaired)
}

// snapshot is a deep picture of messages, of parts that do not encode as well.
func snapshot(messages []*ai.Message) []string {
	var list []string
	for _, m := range messages {
		list = append(list, string(m.Role), string(must(json.Marshal(m.Metadata))))
		for _, p := range m.Content {
			req, ok := p.(*ai.ToolRequestPart)
			if !ok {
				list = append(list, string(must(json.Marshal(p))))
				continue
			}
			c := *req
			c.ToolRequest.Input = nil
			list = append(list, string(must(json.Marshal(c))), string(req.ToolRequest.Input))
		}
	}
	return list
}

// requireTaken makes sure, by other means than Repair itself, that each request
// has its one response and each response its request, and that Generate agrees.
func requireTaken(t *testing.T, repaired []*ai.Message) {
	t.Helper()
	var open []string // of the message before
	for _, m := range append(repaired, userSays("go on")) {
		var answered []string
		for _, p := range m.Content {
			if r, ok := p.(*ai.ToolResponsePart); ok && m.Role == ai.RoleTool {
				answered = append(answered, r.ToolResponse.Name+"#"+r.ToolResponse.Ref)
			}
		}
		require.ElementsMatch(t, open, answered)
		open = nil
		if m.Role == ai.RoleModel {
			for _, req := range m.ToolRequests() {
				open = append(open, req.ToolRequest.Name+"#"+req.ToolRequest.Ref)
			}
		}
	}
	_, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{
		Model: streamsAndSays(nil, ai.Parts{&ai.TextPart{Text: "done"}}), Messages: repaired, Prompt: "go on",
	})
	require.NotErrorIs(t, err, ai.ErrFailedPrecondition)
}

// requireKept makes sure that all other messages are there, in order, and that
// no result was made up where there was one.
func requireKept(t *testing.T, messages, repaired []*ai.Message) {
	t.Helper()
	others := func(list []*ai.Message) (kept []*ai.Message) {
		for _, m := range list {
			if m.Role != ai.RoleTool && m.Role != ai.RoleModel {
				kept = append(kept, m)
			}
		}
		return kept
	}
	require.Equal(t, others(messages), others(repaired))
	texts := func(list []*ai.Message) (n int) {
		for _, m := range list {
			if m.Role == ai.RoleModel {
				n += len(m.Content)
			}
		}
		return n
	}
	require.Equal(t, texts(messages), texts(repaired), "the model said as much")
}

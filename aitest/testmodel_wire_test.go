package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/internal/adapter"
)

// memoryWire is an adapter together with its provider, without a network between.
type memoryWire struct {
	mu      sync.Mutex
	replies []*aitest.WireReply
	bodies  [][]byte
	busy    sync.WaitGroup
}

func openMemory(_ testing.TB, replies ...*aitest.WireReply) *aitest.WireModel {
	w := &memoryWire{replies: replies}
	return &aitest.WireModel{Model: w, Requests: w.sent, Check: checkMemory, Wait: w.busy.Wait}
}

func (w *memoryWire) sent() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([][]byte(nil), w.bodies...)
}

func (w *memoryWire) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data, err := memoryBody(req)
	if err != nil {
		return nil, err
	}
	w.busy.Add(1)
	defer w.busy.Done()
	reply, err := w.next(data)
	if err != nil {
		return nil, err
	}
	if reply.Status != 0 {
		header := http.Header{"Retry-After": {strconv.Itoa(int(reply.RetryAfter.Seconds()))}}
		return nil, adapter.Failure(ctx, "memory", reply.Status, header, errors.New("the provider is cross"))
	}
	return play(ctx, reply, emit)
}

func (w *memoryWire) next(data []byte) (*aitest.WireReply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, data)
	if len(w.bodies) > len(w.replies) {
		return nil, fmt.Errorf("there is no reply %d", len(w.bodies))
	}
	return w.replies[len(w.bodies)-1], nil
}

// play sends the pieces of a reply.
func play(ctx context.Context, reply *aitest.WireReply, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	r := &adapter.Reply{Emit: emit}
	steps := stepsOf(r, reply)
	if reply.Cut || reply.Hold {
		steps = steps[:len(steps)-1]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if reply.Hold {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if reply.Cut {
		return nil, adapter.Failure(ctx, "memory", 0, nil, io.ErrUnexpectedEOF)
	}
	if err := r.EndCalls(); err != nil {
		return nil, err
	}
	resp := &ai.ModelResponse{Message: r.Message(), FinishReason: reply.FinishReason, Usage: reply.Usage}
	if resp.FinishReason == "" {
		resp.FinishReason = ai.FinishStop
	}
	return resp, nil
}

// stepsOf are the pieces of a reply in their order.
func stepsOf(r *adapter.Reply, reply *aitest.WireReply) (steps []func() error) {
	var md ai.Metadata
	if reply.Signature != "" {
		md = ai.Metadata{"memory": json.RawMessage(strconv.Quote(reply.Signature))}
	}
	block := r.Reasoning()
	if reply.Reasoning != "" {
		block.Metadata, md = md, nil
	}
	for _, p := range cut(reply.Reasoning, reply.Piece) {
		steps = append(steps, func() error { return block.Add(p) })
	}
	for _, p := range cut(reply.Text, reply.Piece) {
		steps = append(steps, func() error { return r.AddText(p) })
	}
	for _, c := range reply.Calls {
		var call *adapter.Call
		steps = append(steps, func() (err error) {
			call, err = r.Call(c.Ref, c.Name)
			call.Metadata, md = md, nil
			return err
		})
		for _, p := range cut(c.Arguments, reply.Piece) {
			steps = append(steps, func() error { return call.Add(p) })
		}
	}
	return steps
}

// cut makes pieces of about this size of a text, of whole characters.
func cut(text string, size int) (pieces []string) {
	for text != "" {
		n := len(text)
		if size > 0 {
			n = min(n, size)
		}
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// The wire.

type memoryRequest struct {
	System string       `json:"system,omitempty"`
	Turns  []memoryTurn `json:"turns"`
	Tools  []string     `json:"tools,omitempty"`
	Choice string       `json:"choice,omitempty"`
}

type memoryTurn struct {
	Role    string         `json:"role"`
	Signed  string         `json:"signed,omitempty"`
	Texts   []string       `json:"texts,omitempty"`
	Images  []string       `json:"images,omitempty"`
	Calls   []memoryCall   `json:"calls,omitempty"`
	Results []memoryResult `json:"results,omitempty"`
}

type memoryCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Signed    string `json:"signed,omitempty"`
}

type memoryResult struct {
	ID     string   `json:"id"`
	Text   string   `json:"text"`
	Images []string `json:"images,omitempty"`
}

func memoryBody(req *ai.ModelRequest) ([]byte, error) {
	body := memoryRequest{Choice: string(req.ToolChoice)}
	for _, def := range req.Tools {
		body.Tools = append(body.Tools, def.Name)
	}
	ids := map[string]string{} // of the last model message, by ref
	for i, m := range req.Messages {
		if m.Role == ai.RoleSystem {
			body.System = m.Text()
			continue
		}
		if len(m.ToolRequests()) > 0 && i == len(req.Messages)-1 {
			return nil, adapter.Precondition("ai: memory: the last message has open calls")
		}
		turn, err := memoryTurnOf(i, m, ids)
		if err != nil {
			return nil, err
		}
		if len(turn.Texts)+len(turn.Images)+len(turn.Calls)+len(turn.Results) > 0 {
			body.Turns = append(body.Turns, *turn)
		}
	}
	return json.Marshal(body)
}

var memoryID = regexp.MustCompile(`^[a-zA-Z0-9_]{1,40}$`)

func memoryTurnOf(i int, m *ai.Message, ids map[string]string) (*memoryTurn, error) {
	turn := &memoryTurn{Role: string(m.Role)}
	for j, p := range m.Content {
		switch p := p.(type) {
		case *ai.ReasoningPart:
			turn.Signed = signed(p.Metadata)
		case *ai.TextPart:
			if p.Text != "" {
				turn.Texts = append(turn.Texts, p.Text)
			}
		case *ai.MediaPart:
			turn.Images = append(turn.Images, p.Media.URL)
		case *ai.ToolRequestPart:
			id := p.ToolRequest.Ref
			if !memoryID.MatchString(id) {
				id = fmt.Sprintf("made_%d_%d", i, j)
			}
			ids[p.ToolRequest.Ref] = id
			turn.Calls = append(turn.Calls, memoryCall{id, p.ToolRequest.Name, string(p.ToolRequest.Input), signed(p.Metadata)})
		case *ai.ToolResponsePart:
			out := p.ForModel()
			result := memoryResult{ID: ids[p.ToolResponse.Ref], Text: out.Text}
			for _, c := range out.Content {
				media, ok := c.(*ai.MediaPart)
				if !ok {
					return nil, adapter.Invalid("ai: memory: a result holds a %T", c)
				}
				result.Images = append(result.Images, media.Media.URL)
			}
			turn.Results = append(turn.Results, result)
		}
	}
	return turn, nil
}

func signed(md ai.Metadata) (signature string) {
	if _, err := md.Decode("memory", &signature); err != nil {
		return err.Error()
	}
	return signature
}

// checkMemory is what the provider asks for.
func checkMemory(t testing.TB, data []byte) {
	var body memoryRequest
	if err := json.Unmarshal(data, &body); err != nil || len(body.Turns) == 0 {
		t.Errorf("no request: %v", err)
	}
	open := map[string]bool{}
	for _, turn := range body.Turns {
		for _, r := range turn.Results {
			if !open[r.ID] {
				t.Errorf("result %q answers no call, or one that is answered", r.ID)
			}
			delete(open, r.ID)
		}
		if len(open) > 0 {
			t.Errorf("calls without a result: %v", open)
		}
		for _, c := range turn.Calls {
			if !memoryID.MatchString(c.ID) || open[c.ID] {
				t.Errorf("call id %q is not unique or not allowed", c.ID)
			}
			if json.Unmarshal([]byte(c.Arguments), &map[string]any{}) != nil {
				t.Errorf("arguments %s are no object", c.Arguments)
			}
			open[c.ID] = true
		}
	}
}

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdpoint/ai"
)

// ErrPaused says that the session waits for answers, so it takes no new input.
var ErrPaused = errors.New("session: paused")

// Manager runs sessions of one kind of agent on a store. It is safe for concurrent
// use once it is set up, and keeps nothing between calls: a paused session costs
// neither memory nor a goroutine.
type Manager struct {
	// Store keeps the logs. Required.
	Store Store
	// Locks says who runs what. Defaults to the store where that is a Locker.
	Locks Locker
	// Registry holds the tools. Nil means those of Options.Tools alone.
	Registry *ai.Registry
	// Options say how the sessions are run: the model, the tools, the turn. System
	// opens a new session; it is part of the log from then on. Messages, Prompt,
	// Resume, Repair, ReturnToolRequests and, in Turn, Partial, Journal, Identify and
	// Seal are the session's own and must not be set.
	Options ai.GenerateOptions
	// Deadlines gives a question its deadlines: when it must be answered, and when
	// the call must then have started. Zero times mean none. Nil means no deadlines.
	Deadlines func(p *Pending) (answerBefore, startBefore time.Time)
	// CanDecide is asked before a decision is kept; an error refuses it. Nil means
	// that everybody may decide everything.
	CanDecide func(ctx context.Context, p *Pending, d *Decision) error
}

// Input is what a user adds to a session.
type Input struct {
	// Prompt is a user message. Empty means none.
	Prompt string
	// Messages stand before the prompt: a conversation to begin with, or messages
	// of other kinds than text. None may hold open tool requests.
	Messages []*ai.Message
	// Supersede settles what is open, as superseded and never as approved. Without
	// it, input to a session that waits for answers is ErrPaused.
	Supersede bool
}

// Result is where a session stands after a run.
type Result struct {
	// Response is the conversation, as the log has it. Its Usage is that of the last
	// reply.
	Response *ai.Response
	// Pending are the questions that wait for a person, in request order.
	Pending []*Pending
}

// check makes sure that the manager can run anything.
func (m *Manager) check() error {
	o := &m.Options
	switch {
	case m.Store == nil:
		return fmt.Errorf("session: the manager has no store")
	case m.locks() == nil:
		return fmt.Errorf("session: the manager has no locks, and its store is none")
	case o.Messages != nil || o.Prompt != "" || o.Resume != nil || o.Repair || o.ReturnToolRequests:
		return fmt.Errorf("session: Options hold what is the session's own: Messages, Prompt, Resume, Repair or ReturnToolRequests")
	case o.Turn.Partial || o.Turn.Journal != nil || o.Turn.Identify != nil:
		return fmt.Errorf("session: Options.Turn holds what is the session's own: Partial, Journal or Identify")
	case o.Turn.Seal != nil:
		return fmt.Errorf("session: Options.Turn has a seal; a session's history does not leave the store, so none is needed")
	}
	return nil
}

func (m *Manager) locks() Locker {
	if m.Locks != nil {
		return m.Locks
	}
	locks, _ := m.Store.(Locker)
	return locks
}

// toolSet is the tools of the session's own conversation.
func (m *Manager) toolSet(ctx context.Context) (*ai.ToolSet, error) {
	if m.Options.Tools != nil {
		return m.Options.Tools, nil
	}
	return m.Registry.AllTools(ctx)
}

// messages makes what the input adds to a session; new says that it is its first.
func (m *Manager) messages(in *Input, isNew bool) []*ai.Message {
	var list []*ai.Message
	opens := len(in.Messages) > 0 && in.Messages[0] != nil && in.Messages[0].Role == ai.RoleSystem
	if isNew && m.Options.System != "" && !opens {
		list = append(list, ai.TextMessage(ai.RoleSystem, m.Options.System))
	}
	list = append(list, in.Messages...)
	if in.Prompt != "" {
		list = append(list, ai.TextMessage(ai.RoleUser, in.Prompt))
	}
	return list
}

// checkInput refuses input that would break the log.
func checkInput(in *Input) error {
	if in.Prompt == "" && len(in.Messages) == 0 {
		return fmt.Errorf("%w: session: the input has neither a prompt nor a message", ai.ErrInvalidArgument)
	}
	for i, msg := range in.Messages {
		if msg == nil {
			return fmt.Errorf("%w: session: message %d of the input is nil", ai.ErrInvalidArgument, i)
		}
	}
	if n := len(in.Messages); n > 0 {
		if last := in.Messages[n-1]; last.Role == ai.RoleModel && len(last.ToolRequests()) > 0 {
			return fmt.Errorf("%w: session: the input ends with a message that asks for tools", ai.ErrInvalidArgument)
		}
	}
	return nil
}

package ai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"
)

// ResolveOptions hold all that concerns a turn. Nil and the zero value are legal.
type ResolveOptions struct {
	// Limit bounds how many calls run at once. Zero means no limit. Once a call
	// was given up, which may run on, none waiting for its place is started.
	Limit int
	// Sequential runs the calls one after the other, in request order, and stops
	// at the first that asks or fails. What was not started then is started on
	// resumption.
	Sequential bool
	// Partial lets a resumption leave requests unanswered: they stay open and the
	// model is not called.
	Partial bool
	// OnError decides which errors go to the model. Defaults to arguments that do
	// not fit; see ErrorPolicy and ReportErrors.
	OnError ErrorPolicy
	// Middleware stands around every call, inside that of the registry. See Middleware.
	Middleware []*Middleware
	// Timeout bounds one run of a tool whose definition has no timeout of its own.
	// Zero means no bound.
	Timeout time.Duration
	// Grace is how long a call may take to return after its timeout, or after the
	// context has ended, before it is given up. Defaults to one second.
	Grace time.Duration
	// Seal guards messages that leave unfinished. Nil means that whoever holds the
	// history is trusted. See Seal.
	Seal *Seal
	// Journal is told of every message, start and outcome. Nil means none.
	Journal Journal
	// Identify names a call that is about to run: its idempotency key, and which
	// attempt at it this is, counted from 1. Nil means a random key, and that
	// attempts are not counted. Conversations inside calls inherit it.
	Identify func(call *ToolCall) (key string, attempt int)
	// Emit gets what calls emit while they run, from several goroutines at once.
	// Stream sets it. Nil drops it.
	Emit func(*Chunk) error

	path    Path                    // of the conversation, for inner ones
	earlier func(*ToolCall) Outcome // nil outside Generate
	opening bool                    // the conversation is an inner one that is about to begin
}

const defaultGrace = time.Second

// status is where a request of a turn stands.
type status int

const (
	isOpen    status = iota // no result; stays as it is
	isPlanned               // to be run
	isSettled               // has its response
	isAsking                // stopped to ask
	isFailed                // failed
	isWaiting               // not started
)

// slot is one tool request of a turn and what becomes of it. While its call
// runs, only the call's goroutine touches it, but for phase.
type slot struct {
	part  *ToolRequestPart // as recorded
	at    int              // position in the message's content
	ref   string           // the recorded ref, or the one minted
	dirty bool             // the part has to be written again
	marks marks
	status

	// The plan.
	offer    *offer
	lookup   error               // why offer is nil
	input    json.RawMessage     // what to run with; nil means the model's input
	recorded bool                // input passed all hooks before
	edited   bool                // input is new
	original json.RawMessage     // what the new input replaces
	given    *ToolResponsePart   // the response that answers it
	denied   bool                // given is a denial
	restart  bool                // a restart answers it
	resume   json.RawMessage     // resume data for whoever asked; nil without
	inner    map[string]*Answers // answers for the conversations it hosts
	below    map[string]*turn    // those that are paused, by branch
	leaves   []*openRequest      // open requests of those
	missing  bool                // some of the leaves have no answer
	reenter  bool                // it runs again because of answers to its leaves

	// The call.
	call    ToolCall
	state   callState
	group   *group
	end     Settlement // of the attempt; a call that is given up ends otherwise
	phase   atomic.Int32
	ready   bool          // the arguments are those the tool gets
	givenUp chan struct{} // closed once the journal knows that it was given up; nil without a journal
	planned *marks        // as they were when the call began; nil without a journal

	unread bool // the model's input is no JSON

	// The end.
	ran      bool // the tool was started
	final    bool // call.Input is what the tool got, or would have got
	response *ToolResponsePart
	transfer *Transfer
	pending  bool // response came from pendingOutput
	err      *CallError
	journal  *CallError // the journal failed after the call had settled
}

// Phases of a call. Whoever moves it to done or beyond decides its outcome.
const (
	phaseIdle int32 = iota
	phaseStarted
	phaseDone
	phaseDropped   // given up before the tool was started
	phaseAbandoned // given up after that
)

// turn is one model message with its tool requests, being worked on.
type turn struct {
	tools   *ToolSet
	opts    ResolveOptions
	chain   []*Middleware
	message *Message
	slots   []slot
	sole    [1]*slot        // memory for the plan of a turn of one call
	sealing *sealing        // nil without a seal
	resumed json.RawMessage // `resumed` of the tool message; nil on a first run
	gaveUp  atomic.Bool     // a call was given up and may still run
}

// newTurn reads a model message. The error says what can't be read.
func newTurn(tools *ToolSet, model *Message, opts *ResolveOptions) (*turn, error) {
	t := &turn{tools: tools, message: model}
	if opts != nil {
		t.opts = *opts
	}
	if model == nil {
		return nil, invalidf("ai: no model message")
	}
	if model.Role != RoleModel {
		return nil, invalidf("ai: a message of role %q has no tool requests to resolve; role %q is needed", model.Role, RoleModel)
	}
	t.chain = t.opts.Middleware
	if tools != nil && len(tools.middleware) > 0 {
		t.chain = append(slices.Clone(tools.middleware), t.chain...)
	}
	if err := checkMiddleware(t.chain); err != nil {
		return nil, err
	}
	return t, t.readRequests()
}

func (t *turn) readRequests() error {
	if err := checkParts(t.message.Content); err != nil {
		return invalidf("ai: model message: %w", err)
	}
	n := 0
	for _, p := range t.message.Content {
		if _, ok := p.(*ToolRequestPart); ok {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	t.slots = make([]slot, n)
	n = 0
	for i, p := range t.message.Content {
		req, ok := p.(*ToolRequestPart)
		if !ok {
			continue
		}
		s := &t.slots[n]
		s.state.index = n
		n++
		s.part, s.at, s.ref = req, i, req.ToolRequest.Ref
		if req.ToolRequest.Partial {
			return invalidf("ai: tool request %s is marked partial: its arguments have not all arrived", req.label())
		}
		if len(req.Metadata) == 0 {
			continue
		}
		var err error
		if s.marks, err = readMarks(req); err != nil {
			return err
		}
		if err = s.readBelow(t.opts.path); err != nil {
			return err
		}
	}
	t.mintRefs()
	return nil
}

// mintRefs gives a ref to requests that have none, or one that an earlier
// request of the message has.
func (t *turn) mintRefs() {
	if len(t.slots) == 1 {
		if s := &t.slots[0]; s.ref == "" {
			s.ref, s.dirty = newRef(), true
		}
		return
	}
	seen := make(map[string]bool, len(t.slots))
	for i := range t.slots {
		s := &t.slots[i]
		if s.ref == "" || seen[s.ref] {
			s.ref, s.dirty = newRef(), true
		}
		seen[s.ref] = true
	}
}

// newRef mints a ref that every provider takes as a call id.
func newRef() string { return "call_" + rand.Text() }

// execute runs what is planned and makes the outcome of the turn.
func (t *turn) execute(ctx context.Context) (*Resolution, error) {
	planned := t.sole[:0]
	if len(t.slots) > 1 {
		planned = make([]*slot, 0, len(t.slots))
	}
	for i := range t.slots {
		if t.slots[i].status == isPlanned {
			planned = append(planned, &t.slots[i])
		}
	}
	if len(planned) > 0 {
		if ctx.Err() != nil {
			return nil, canceledBefore(ctx)
		}
		t.run(ctx, planned)
	}
	return t.finish()
}

// find looks up the tool of a slot, once.
func (t *turn) find(s *slot) {
	if s.offer == nil && s.lookup == nil {
		s.offer, s.lookup = t.tools.find(s.part)
	}
}

// begin fills in the call of a slot that is about to run.
func (t *turn) begin(s *slot) {
	t.find(s)
	s.call = ToolCall{Name: s.part.ToolRequest.Name, Ref: s.ref, Path: t.opts.path, state: &s.state}
	if s.offer != nil {
		s.call.Name, s.call.Definition = s.offer.def.Name, s.offer.def
	}
	s.state.request = s.part.ToolRequest.Name
	s.state.answered = s.answers()
	s.state.original = s.original
	s.state.retried, s.state.earlier = s.marks.failure != nil, t.opts.earlier
	s.state.key = s.marks.callKey
	record := s.marks.inner
	if s.edited {
		s.state.key, record = "", nil // other arguments are another call
	}
	s.state.inner.start(record, s.inner, &t.opts)
	if t.opts.Identify != nil {
		s.state.key, s.state.attempt = t.opts.Identify(&s.call)
	}
	if t.opts.Journal != nil {
		s.givenUp = make(chan struct{})
		planned := s.marks
		s.planned = &planned
	}
	if t.opts.Emit != nil {
		s.state.emit = func(c *Chunk) error {
			if s.phase.Load() >= phaseDone {
				return abortedf("ai: tool request %s is over", label(s.call.Name, s.ref))
			}
			return t.opts.Emit(c)
		}
	}
}

// answers are those on record and the one that restarts the call now. Where the
// arguments are new, those on record were about others: their askers ask again.
func (s *slot) answers() map[string]answer {
	earlier := s.marks.answered
	if s.edited {
		earlier = nil
	}
	if s.resume == nil {
		return earlier
	}
	asker := s.marks.interruptedBy
	if asker == "" {
		asker = toolAsker
	}
	all := map[string]answer{asker: {Resumed: s.resume, State: s.marks.interruptState}}
	for name, a := range earlier {
		if name != asker {
			all[name] = a
		}
	}
	return all
}

// timeout bounds one run of the tool of a slot; zero means no bound.
func (t *turn) timeout(s *slot) time.Duration {
	if s.offer != nil && s.offer.def.Timeout > 0 {
		return s.offer.def.Timeout
	}
	return t.opts.Timeout
}

func (t *turn) grace() time.Duration {
	if t.opts.Grace > 0 {
		return t.opts.Grace
	}
	return defaultGrace
}

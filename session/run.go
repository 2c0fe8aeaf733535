package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/holdpoint/ai"
)

// Generate adds input to a session, which it creates where there is none, and runs
// it until the model has answered or somebody has to be asked. The input is in the
// log before the model is called. Nil input runs what is unfinished: it is Run.
//
// A session that waits for answers takes no input, which is ErrPaused, unless the
// input supersedes what is open. One that somebody else runs is ErrBusy. Whatever
// fails leaves a session that can be continued: what was committed is kept.
func (m *Manager) Generate(ctx context.Context, id string, in *Input) (*Result, error) {
	return m.run(ctx, id, in, nil)
}

// Run goes on with a session: it carries out what was decided, starts what was
// never started, runs again what may be, and calls the model where nothing is open.
func (m *Manager) Run(ctx context.Context, id string) (*Result, error) {
	return m.run(ctx, id, nil, nil)
}

// Piece is one piece of a streamed run.
type Piece struct {
	// Chunk is provisional: what it shows may still fail. Nil in the last piece.
	Chunk *ai.Chunk
	// Result is set in the last piece only, and replaces all that came before.
	Result *Result
}

// Stream is Generate as a stream. Nil input streams Run. Breaking off is safe at any
// point: the work is cancelled, and the session can be continued.
func (m *Manager) Stream(ctx context.Context, id string, in *Input) iter.Seq2[*Piece, error] {
	return func(yield func(*Piece, error) bool) {
		gone := false
		result, err := m.run(ctx, id, in, func(c *ai.Chunk) error {
			if gone = gone || !yield(&Piece{Chunk: c}, nil); gone {
				return errReaderGone
			}
			return nil
		})
		switch {
		case gone:
		case err != nil:
			yield(nil, err)
		default:
			yield(&Piece{Result: result}, nil)
		}
	}
}

var errReaderGone = errors.New("session: the reader of the stream has gone")

// run is one run of a session, from claim to release.
type run struct {
	m     *Manager
	w     *committer
	j     *journal
	claim Claim
	emit  func(*ai.Chunk) error
}

func (m *Manager) run(ctx context.Context, id string, in *Input, emit func(*ai.Chunk) error) (*Result, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(id, reserved) || id == "" {
		return nil, fmt.Errorf("%w: session: an id must not be empty or begin with %q", ai.ErrInvalidArgument, reserved)
	}
	if in != nil {
		if err := checkInput(in); err != nil {
			return nil, err
		}
	}
	claim, err := m.locks().Claim(ctx, id)
	if err != nil {
		return nil, err
	}
	defer claim.Release(context.WithoutCancel(ctx))
	s, err := load(ctx, m.Store, id)
	if err != nil {
		return nil, err
	}
	r := &run{m: m, claim: claim, emit: emit}
	r.w = &committer{store: m.Store, owner: rand.Text(), state: s, base: len(s.owners)}
	r.j = &journal{w: r.w, claim: claim}
	defer r.j.end()
	if err := r.begin(ctx, in); err != nil {
		return nil, err
	}
	return r.drain(ctx)
}

// begin writes the claim and the input, in one batch.
func (r *run) begin(ctx context.Context, in *Input) error {
	begin := &commit{entries: []*entry{{
		Kind: kindClaimed, Claim: &claimEntry{Owner: r.w.owner, Before: r.claim.Before()},
	}}}
	s := r.w.state
	switch {
	case in == nil && s.revision.N == 0:
		return notFound(s.id)
	case in == nil:
		return r.w.later(begin.entries...) // nothing has happened yet
	default:
		superseded, err := s.supersede(in)
		if err != nil {
			return err
		}
		input := &entry{Kind: kindInput, Messages: r.m.messages(in, s.revision.N == 0)}
		begin.entries = append(append(begin.entries, superseded...), input)
	}
	at := s.revision
	begin.admit = func(now *state) error {
		if now.revision != at {
			return conflictf("session %q was written to while input was added", now.id)
		}
		return nil
	}
	return r.w.append(ctx, begin)
}

// drain runs until nothing is left that nobody has to be asked about, and lets the
// session go.
func (r *run) drain(ctx context.Context) (*Result, error) {
	for {
		if err := r.settleDecided(); err != nil {
			return nil, r.leave(ctx, err)
		}
		tried := r.decided()
		if err := r.step(ctx); err != nil {
			return nil, r.leave(ctx, err)
		}
		err := r.release(ctx, tried)
		if errors.Is(err, errMore) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return r.result()
	}
}

// decided are the askings whose decisions are about to be carried out.
func (r *run) decided() map[string]bool {
	ids := make(map[string]bool)
	_ = r.w.view(func(s *state) error {
		for _, c := range s.leaves() {
			if c.decision() != nil {
				ids[c.asked.ID] = true
			}
		}
		return nil
	})
	return ids
}

// leave ends a run that failed: the error is what matters, whether or not the end
// can be written.
func (r *run) leave(ctx context.Context, err error) error {
	failed := r.write(ctx, nil)
	if errors.Is(failed, errLost) {
		failed = r.w.flush(ctx) // what is a fact all the same
	}
	if failed != nil && !errors.Is(failed, errLost) {
		return errors.Join(err, failed)
	}
	return err
}

// errMore: a decision came in while the session was being let go.
var errMore = errors.New("session: there is more to run")

// release lets the session go, unless something came in that can be run. What was
// tried and did not come to be carried out, because the call around it went another
// way, does not count: trying it again would not end.
func (r *run) release(ctx context.Context, tried map[string]bool) error {
	return r.write(ctx, func(s *state) error {
		for _, c := range s.leaves() {
			if c.decision() != nil && !tried[c.asked.ID] && ctx.Err() == nil {
				return errMore
			}
		}
		return nil
	})
}

// write asks people what they have to be asked, and ends the claim, in one batch.
func (r *run) write(ctx context.Context, admit func(s *state) error) error {
	end := &commit{owned: true}
	end.admit = func(s *state) error {
		if admit != nil {
			if err := admit(s); err != nil {
				return err
			}
		}
		end.entries = nil
		asked, err := r.ask(s)
		if err != nil {
			return err
		}
		if len(asked) > 0 {
			end.entries = append(end.entries, &entry{Kind: kindPaused, Asked: asked})
		}
		end.entries = append(end.entries, &entry{Kind: kindReleased})
		return nil
	}
	return r.w.append(ctx, end)
}

// step runs the conversation once, as far as it goes.
func (r *run) step(ctx context.Context) error {
	opts := r.m.Options
	opts.System = ""
	opts.Turn.Partial = true
	r.j.begin()
	opts.Turn.Journal, opts.Turn.Identify = r.j, r.j.identify
	if opts.Model != nil {
		opts.Model = r.flushed(opts.Model)
	}
	idle := false
	err := r.w.view(func(s *state) error {
		var err error
		if opts.Messages, err = s.top.render(); err != nil {
			return err
		}
		idle = !s.startable()
		if s.top.open() {
			opts.Resume, err = s.answers()
		}
		return err
	})
	if err != nil || idle {
		return err
	}
	return r.generate(ctx, &opts)
}

// flushed is the model, called once all that happened before is in the log.
func (r *run) flushed(model ai.Model) ai.Model {
	return ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if err := r.w.flush(ctx); err != nil {
			return nil, err
		}
		return model.Generate(ctx, req, emit)
	})
}

// generate runs package ai. What comes of it is in the log.
func (r *run) generate(ctx context.Context, opts *ai.GenerateOptions) error {
	if r.emit == nil {
		_, err := ai.Generate(ctx, r.m.Registry, opts)
		return err
	}
	for chunk, err := range ai.Stream(ctx, r.m.Registry, opts) {
		if err != nil {
			return err
		}
		if chunk.Response != nil {
			continue // the session's own is made of the log
		}
		if err := r.emit(chunk); err != nil {
			return err
		}
	}
	return nil
}

// result is where the session stands.
func (r *run) result() (*Result, error) {
	var result *Result
	err := r.w.view(func(s *state) (err error) {
		result, err = s.result()
		return err
	})
	return result, err
}

func (s *state) result() (*Result, error) {
	messages, err := s.top.render()
	if err != nil {
		return nil, err
	}
	resp := &ai.Response{Messages: messages}
	for _, m := range messages {
		if m.Role == ai.RoleModel {
			resp.Message = m
		}
	}
	if r := s.top.reply; r != nil {
		resp.FinishReason, resp.FinishMessage, resp.Usage = r.FinishReason, r.FinishMessage, r.Usage
	}
	result := &Result{Response: resp, Pending: s.open()}
	if s.top.open() {
		resp.FinishReason, resp.FinishMessage = ai.FinishInterrupted, "The session waits for answers."
	}
	return result, nil
}

// open lists the questions that wait for a person.
func (s *state) open() []*Pending {
	var list []*Pending
	for _, c := range s.leaves() {
		if c.asked != nil && c.asked.decision == nil {
			list = append(list, s.pending(c))
		}
	}
	return list
}

package ai

import (
	"context"
	"sync/atomic"
	"time"
)

// run runs the planned calls and returns once every one of them is settled.
// Siblings are not cancelled because one failed or asked.
func (t *turn) run(ctx context.Context, planned []*slot) {
	for _, s := range planned {
		t.begin(s)
	}
	for len(planned) > 0 {
		n := t.groupSize(planned)
		if ctx.Err() != nil || t.gaveUp.Load() {
			// A call that was given up may still act: nothing more starts beside it.
			t.hold(ctx, planned)
			return
		}
		t.runGroup(ctx, planned[:n])
		stopped := t.opts.Sequential && planned[n-1].stops()
		planned = planned[n:]
		if stopped && ctx.Err() == nil {
			for _, s := range planned {
				s.wait()
			}
			return
		}
	}
}

// stops reports whether a sequential turn ends with this call.
func (s *slot) stops() bool { return s.status == isAsking || s.err != nil || s.journal != nil }

// groupSize is how many of the planned calls run side by side: up to the next
// that has to be alone.
func (t *turn) groupSize(planned []*slot) int {
	alone := func(s *slot) bool { return s.offer != nil && s.offer.def.Exclusive }
	if t.opts.Sequential || alone(planned[0]) {
		return 1
	}
	n := 1
	for n < len(planned) && !alone(planned[n]) {
		n++
	}
	return n
}

// hold marks calls as not started, as part of a turn that fails.
func (t *turn) hold(ctx context.Context, slots []*slot) {
	for _, s := range slots {
		cause := context.Cause(ctx)
		if cause == nil {
			cause = abortedf("ai: an earlier call was given up and may still be running")
		}
		s.wait()
		s.err = s.failed(FailedCanceled, cause)
	}
}

// wait leaves a call that was not started for the resumption. One that somebody
// restarted stays as it was: an answer is for now, not for later.
func (s *slot) wait() {
	if s.restart || s.reenter {
		before, _ := readMarks(s.part) // it was read once, so it can be
		s.status, s.marks.effectiveInput, s.marks.changes = isOpen, before.effectiveInput, before.changes
		return
	}
	s.takeName()
	s.status, s.dirty = isWaiting, true
	s.marks.notStarted = true
}

// group is calls that run side by side.
type group struct {
	running   chan struct{} // a place for each call that may run at once; nil without a limit
	remaining atomic.Int32
	done      chan struct{} // closed when remaining reaches zero; nil where nobody has to wait
}

func (t *turn) runGroup(ctx context.Context, slots []*slot) {
	g := &group{}
	if len(slots) > 1 || ctx.Done() != nil || t.timeout(slots[0]) > 0 {
		g.done = make(chan struct{})
	}
	g.remaining.Store(int32(len(slots)))
	if t.opts.Limit > 0 && t.opts.Limit < len(slots) {
		g.running = make(chan struct{}, t.opts.Limit)
	}
	defer t.await(ctx, g, slots) // also where a call ends the goroutine it shares with this
	for i, s := range slots {
		if !g.enter(ctx) || g.running != nil && t.gaveUp.Load() {
			t.hold(ctx, slots[i:])
			g.leave(len(slots) - i)
			break
		}
		s.group = g
		if i == len(slots)-1 && ctx.Done() == nil && t.timeout(s) == 0 {
			t.attempt(ctx, s) // nothing can cut it short, so no goroutine is needed
			continue
		}
		go func() {
			growStack()
			t.attempt(ctx, s)
		}()
	}
}

// growStack makes room for a call at once. A new goroutine's stack is small; to
// grow it here, while there is nothing on it, costs a fraction of what growing
// it in the depths of a call does, and it stays grown.
//
//go:noinline
func growStack() {
	var room [stackRoom]byte
	touch(&room)
}

// stackRoom is what the calls of most tools need, decoding and encoding included.
const stackRoom = 6 << 10

//go:noinline
func touch(room *[stackRoom]byte) { room[0] = 1 }

// enter waits for a place to run. It is false once the context has ended.
func (g *group) enter(ctx context.Context) bool {
	if g.running == nil {
		return true
	}
	select {
	case g.running <- struct{}{}:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// leave counts n calls as settled.
func (g *group) leave(n int) {
	if g.remaining.Add(-int32(n)) == 0 && g.done != nil {
		close(g.done)
	}
}

// release is leave for a call that had a place.
func (g *group) release() {
	if g.running != nil {
		<-g.running
	}
	g.leave(1)
}

// await waits until every call of the group is settled. Once the context has
// ended, a call has the grace period to return before it is given up.
func (t *turn) await(ctx context.Context, g *group, slots []*slot) {
	if g.done == nil {
		return // the one call ran here
	}
	select {
	case <-g.done:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(t.grace())
	defer timer.Stop()
	select {
	case <-g.done:
		return
	case <-timer.C:
	}
	for _, s := range slots {
		if s.group != nil {
			t.giveUp(ctx, s, FailedCanceled, context.Cause(ctx))
		}
	}
	<-g.done
}

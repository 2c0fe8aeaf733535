package ai

import "context"

// sealing is the seal of one conversation that is being worked on.
type sealing struct {
	seal      *Seal
	opened    *sealed    // what came in; nil where nothing was sealed
	before    []*Message // the messages before the last one
	ownSystem bool       // the first of them is the server's own
}

// newSealing checks the seal. It is nil where none is set, and for conversations
// inside calls, which the outermost message covers.
func newSealing(opts *ResolveOptions) (*sealing, error) {
	if opts == nil || opts.Seal == nil || len(opts.path) > 0 {
		return nil, nil
	}
	if err := opts.Seal.check(); err != nil {
		return nil, err
	}
	return &sealing{seal: opts.Seal}, nil
}

// open verifies a message that is to be gone on with, and returns what was sealed
// in its place.
func (g *sealing) open(m *Message) (*Message, error) {
	if g == nil || m == nil || len(m.ToolRequests()) == 0 {
		return m, nil
	}
	var err error
	if g.opened, err = g.seal.open(m, g.before, g.ownSystem); err != nil {
		return nil, err
	}
	return g.opened.Message, nil
}

// close seals a message that leaves with tool requests. Any other stays as it is.
func (g *sealing) close(m *Message) (*Message, error) {
	if g == nil || m.Role != RoleModel || len(m.ToolRequests()) == 0 {
		return m, nil
	}
	return g.seal.seal(m, g.before, g.ownSystem, g.opened)
}

// closeTurn seals what comes out of a turn that is not part of a conversation.
func (g *sealing) closeTurn(res *Resolution, err error) (*Resolution, error) {
	if g == nil {
		return res, err
	}
	if failed, ok := err.(*TurnError); ok {
		model, sealErr := g.close(failed.Model)
		if sealErr != nil {
			return nil, sealErr
		}
		failed.Model = model
	}
	if err != nil || res.Tool != nil {
		return res, err
	}
	res.Model, err = g.close(res.Model)
	return res, err
}

// spend uses up what is answered, and what starts without an answer, directly
// before anything runs.
func (g *sealing) spend(ctx context.Context, answers *Answers) error {
	if g == nil || g.opened == nil {
		return nil
	}
	if err := g.use(answers); err != nil {
		return err
	}
	return g.seal.spend(ctx, g.opened, func(a *sealedAsking) bool { return a.used })
}

// use notes which askings are answered or start: if they are open again later, that
// is another asking.
func (g *sealing) use(answers *Answers) error {
	mark := func(ref string, md Metadata) {
		var path Path
		_, _ = md.Decode(keyPath, &path) // it was read before
		if a := g.opened.asking(ref, path); a != nil {
			a.used = true
		}
	}
	for _, p := range answers.Respond {
		mark(p.ToolResponse.Ref, p.Metadata)
	}
	for _, p := range answers.Restart {
		mark(p.ToolRequest.Ref, p.Metadata)
	}
	return walkOpen(g.opened.Message, nil, func(o *openRequest) {
		if a := g.opened.asking(o.part.ToolRequest.Ref, o.path); a != nil && o.marks.notStarted {
			a.used = true
		}
	})
}

// unseal verifies the message that the conversation is gone on with.
func (g *generation) unseal() error {
	var err error
	if g.sealing, err = newSealing(&g.opts.Turn); g.sealing == nil {
		return err
	}
	end := g.covered()
	if g.messages[end].Role != RoleModel {
		return nil
	}
	g.messages[end], err = g.sealing.open(g.messages[end])
	return err
}

// seal seals the last message where it leaves with tool requests. It returns that
// message without and with its seal.
func (g *generation) seal() (bare, last *Message, err error) {
	bare = g.messages[len(g.messages)-1]
	if g.sealing == nil {
		return bare, bare, nil
	}
	end := g.covered()
	g.messages[end], err = g.sealing.close(bare)
	return bare, g.messages[end], err
}

// covered tells the seal what stands before the last message. Instructions that are
// the server's own may change.
func (g *generation) covered() (end int) {
	end = len(g.messages) - 1
	g.sealing.before, g.sealing.ownSystem = g.messages[:end], g.opts.System != "" && !isPreamble(g.messages[0])
	return end
}

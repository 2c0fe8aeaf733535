package ai

import "strings"

// match assigns each answer to the one open request it names, at every depth,
// without looking at any tool.
func (t *turn) match(answers *Answers) error {
	for i, p := range answers.Respond {
		if p == nil {
			return invalidf("ai: response %d is nil", i)
		}
		a := &givenAnswer{name: p.ToolResponse.Name, ref: p.ToolResponse.Ref, metadata: p.Metadata, response: p}
		if err := t.assign(a); err != nil {
			return err
		}
	}
	for i, p := range answers.Restart {
		if p == nil {
			return invalidf("ai: restart %d is nil", i)
		}
		a := &givenAnswer{name: p.ToolRequest.Name, ref: p.ToolRequest.Ref, metadata: p.Metadata, request: p}
		if err := t.assign(a); err != nil {
			return err
		}
	}
	return t.matchInner()
}

// givenAnswer is a response or a restart; one of the two is set.
type givenAnswer struct {
	name, ref string
	metadata  Metadata
	response  *ToolResponsePart
	request   *ToolRequestPart
}

func (a *givenAnswer) String() string {
	kind := "restart"
	if a.response != nil {
		kind = "response"
	}
	return kind + " for " + label(a.name, a.ref)
}

// assign finds the slot of an answer, or of the call that hosts the
// conversation it is for.
func (t *turn) assign(a *givenAnswer) error {
	var path Path
	if _, err := a.metadata.Decode(keyPath, &path); err != nil {
		return invalidf("ai: %s: metadata %q must be a list of [ref, branch]%s", a, keyPath, detail(err))
	}
	if len(path) > 0 {
		return t.passDown(a, path)
	}
	s, err := t.target(a)
	if err != nil {
		return err
	}
	if s.given != nil || s.restart {
		return invalidf("ai: %s: tool request %s is answered twice", a, s.part.label())
	}
	if a.response != nil {
		return s.giveResponse(a.response)
	}
	return s.giveRestart(a.request)
}

// target finds the open request with the answer's name and ref.
func (t *turn) target(a *givenAnswer) (*slot, error) {
	var found *slot
	settled := false
	for i := range t.slots {
		s := &t.slots[i]
		if s.part.ToolRequest.Name != a.name || s.part.ToolRequest.Ref != a.ref {
			continue
		}
		if s.marks.pending {
			settled = true
			continue
		}
		if found != nil {
			return nil, invalidf("ai: %s fits several open tool requests; open are: %s", a, t.listOpen())
		}
		found = s
	}
	if found == nil && settled {
		return nil, invalidf("ai: %s: that tool request already has a result; open are: %s", a, t.listOpen())
	}
	if found == nil {
		return nil, invalidf("ai: %s fits no open tool request; open are: %s", a, t.listOpen())
	}
	return found, nil
}

// passDown hands an answer to the call that hosts its conversation, with the
// first step of its path taken.
func (t *turn) passDown(a *givenAnswer, path Path) error {
	step := path[0]
	var host *slot
	for i := range t.slots {
		s := &t.slots[i]
		if s.part.ToolRequest.Ref == step.Ref && s.below[step.Branch] != nil {
			if host != nil {
				return invalidf("ai: %s: path %s fits several tool requests", a, path)
			}
			host = s
		}
	}
	if host == nil {
		return invalidf("ai: %s: path %s leads to no paused conversation; open are: %s", a, path, t.listOpen())
	}
	if host.inner == nil {
		host.inner = make(map[string]*Answers)
	}
	down := host.inner[step.Branch]
	if down == nil {
		down = &Answers{}
		host.inner[step.Branch] = down
	}
	md := Metadata{}
	for k, v := range a.metadata {
		if k != keyPath {
			md[k] = v
		}
	}
	if len(path) > 1 {
		md[keyPath] = path[1:].encode()
	}
	if a.response != nil {
		c := *a.response
		c.Metadata = md
		down.Respond = append(down.Respond, &c)
		return nil
	}
	c := *a.request
	c.Metadata = md
	down.Restart = append(down.Restart, &c)
	return nil
}

// giveResponse reads a response. Of its metadata only the outcome, the reason
// and the interrupt response count.
func (s *slot) giveResponse(p *ToolResponsePart) error {
	var outcome Outcome
	if _, err := p.Metadata.Decode(keyOutcome, &outcome); err != nil || outcome != "" && outcome != OutcomeDenied {
		return invalidf("ai: metadata %q of the answer to tool request %s must be %q or absent", keyOutcome, s.part.label(), OutcomeDenied)
	}
	if _, err := p.MarshalJSON(); err != nil { // it was made here, not read
		return placef(err, "ai: response for %s: ", s.part.label())
	}
	s.given, s.denied = p, outcome == OutcomeDenied
	return nil
}

// giveRestart reads a restart. Of its metadata only the resume data and the
// presence of a replaced input count; without that its input must be the
// recorded one.
func (s *slot) giveRestart(p *ToolRequestPart) error {
	if len(s.leaves) > 0 {
		return invalidf("ai: restart for %s: the call hosts a paused conversation; answer what is open in it: %s",
			s.part.label(), listOpen(s.leaves))
	}
	s.restart = true
	data, given := p.Metadata[keyResumed]
	switch {
	case s.marks.interrupt == nil && given && string(data) != "true":
		return invalidf("ai: restart for %s: the call did not ask, so it takes no resume data", s.part.label())
	case s.marks.interrupt == nil:
	case !given:
		s.resume = jsonTrue
	case isResumeData(data):
		s.resume = data
	default:
		return invalidf("ai: restart for %s: resume data must be a JSON object or true, not %s", s.part.label(), bounded(data))
	}
	if _, s.edited = p.Metadata[keyReplacedInput]; s.edited {
		s.input = inputOf(&p.ToolRequest)
		return nil
	}
	if p.ToolRequest.Input == nil || sameJSON(p.ToolRequest.Input, inputOf(&s.part.ToolRequest)) ||
		s.marks.effectiveInput != nil && sameJSON(p.ToolRequest.Input, s.marks.effectiveInput) {
		return nil
	}
	return invalidf("ai: restart for %s: its input differs from the one on record; new input needs %q in the metadata", s.part.label(), keyReplacedInput)
}

// matchInner checks the answers to the conversations that calls host, all the
// way down, before anything runs.
func (t *turn) matchInner() error {
	for i := range t.slots {
		s := &t.slots[i]
		if len(s.leaves) == 0 && s.inner == nil {
			continue
		}
		if s.given != nil {
			if s.inner != nil {
				return invalidf("ai: tool request %s is answered, and so is a call of a conversation it hosts", s.part.label())
			}
			continue
		}
		if err := s.matchBranches(); err != nil {
			return err
		}
		s.reenter = s.inner != nil || !s.missing
	}
	return nil
}

func (s *slot) matchBranches() error {
	for _, branch := range sortedKeys(s.below) {
		below := s.below[branch]
		answers := s.inner[branch]
		if answers == nil {
			answers = &Answers{}
		}
		if err := below.match(answers); err != nil {
			return placef(err, "ai: in the conversation %q of tool request %s: ", branch, s.part.label())
		}
		s.missing = s.missing || below.incomplete()
	}
	return nil
}

// incomplete reports whether an open request that needs an answer has none.
func (t *turn) incomplete() bool {
	for i := range t.slots {
		s := &t.slots[i]
		answered := s.marks.pending || s.given != nil || s.restart
		switch {
		case answered:
		case len(s.leaves) > 0:
			if s.missing {
				return true
			}
		case !s.marks.notStarted:
			return true
		}
	}
	return false
}

// complete makes sure that every open request has an answer.
func (t *turn) complete() error {
	if t.opts.Partial || !t.incomplete() {
		return nil
	}
	return invalidf("ai: not every open tool request is answered; open are: %s", t.listOpen())
}

// readBelow reads the paused conversations that a call hosts, all the way down,
// each once, and finds the open requests in them.
func (s *slot) readBelow(path Path) error {
	if s.marks.pending {
		return nil
	}
	for _, branch := range sortedKeys(s.marks.inner) {
		last := s.marks.inner[branch].pausedMessage()
		if last == nil {
			continue
		}
		down, err := path.down(s.part.ToolRequest.Ref, branch)
		if err != nil {
			return err
		}
		below := &turn{message: last, opts: ResolveOptions{path: down}}
		if err := below.readRequests(); err != nil {
			return err
		}
		if s.below == nil {
			s.below = make(map[string]*turn)
		}
		s.below[branch] = below
		s.leaves = append(s.leaves, below.open()...)
	}
	return nil
}

// open lists what is open, in the conversations that calls host for those.
func (t *turn) open() []*openRequest {
	var open []*openRequest
	for i := range t.slots {
		s := &t.slots[i]
		switch {
		case s.marks.pending:
		case len(s.leaves) > 0:
			open = append(open, s.leaves...)
		default:
			open = append(open, &openRequest{part: s.part, marks: s.marks, path: t.opts.path})
		}
	}
	return open
}

// listOpen names what is open, for error texts.
func (t *turn) listOpen() string { return listOpen(t.open()) }

func listOpen(open []*openRequest) string {
	if len(open) == 0 {
		return "none"
	}
	names := make([]string, len(open))
	for i, o := range open {
		names[i] = o.part.label()
		if len(o.path) > 0 {
			names[i] += " in " + o.path.String()
		}
	}
	return strings.Join(names, ", ")
}

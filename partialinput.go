package ai

// PartialInput is the arguments of a tool request so far, while they are being
// streamed: an immutable view.
type PartialInput struct{}

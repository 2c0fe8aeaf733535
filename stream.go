package ai

import (
	"context"
	"errors"
	"iter"
)

// Stream is Generate as a stream: chunks of model and tool messages as they
// come, and at the end one chunk that carries the Response and replaces all that
// came before. Only there do interrupts stand. An error ends the stream and is
// the same that Generate would return. Breaking off is safe at any point: it
// cancels the work and waits until it has stopped. Each iteration runs anew.
func Stream(ctx context.Context, r *Registry, opts *GenerateOptions) iter.Seq2[*Chunk, error] {
	return func(yield func(*Chunk, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		chunks := make(chan *Chunk)
		done := make(chan struct{})
		var resp *Response
		err := errors.New("ai: the model ended its goroutine")
		go func() {
			defer close(done)
			resp, err = generateStreaming(ctx, r, opts, chunks)
		}()
		defer func() {
			cancel()
			<-done
		}()
		if !forward(chunks, done, yield) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&Chunk{Response: resp}, nil)
	}
}

// forward passes chunks on until the work is done. It is false once the reader
// has gone.
func forward(chunks <-chan *Chunk, done <-chan struct{}, yield func(*Chunk, error) bool) bool {
	for {
		select {
		case c := <-chunks:
			if !yield(c, nil) {
				return false
			}
		case <-done:
			return true
		}
	}
}

// generateStreaming is Generate with chunks. It runs on a goroutine of ours, so
// nobody else could catch a panic.
func generateStreaming(ctx context.Context, r *Registry, opts *GenerateOptions, chunks chan<- *Chunk) (resp *Response, err error) {
	var g *generation
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		resp, err = nil, crash(v)
		if g != nil {
			resp, err = g.result(nil, err)
		}
	}()
	g, err = newGeneration(ctx, r, opts)
	if err != nil {
		return nil, err
	}
	g.emit = func(c *Chunk) error {
		select {
		case chunks <- c:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return g.result(g.run(ctx))
}

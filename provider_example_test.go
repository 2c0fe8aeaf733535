package ai_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdpoint/ai"
)

// plugins is a provider whose tools are installed while the program runs.
type plugins struct {
	mu    sync.Mutex
	tools []ai.Tool // made once each, so that their schemas are compiled once
}

func (p *plugins) Name() string { return "plugins" }

func (p *plugins) Tools(context.Context) ([]ai.Tool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]ai.Tool(nil), p.tools...), nil
}

func (p *plugins) install(name string) error {
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "plugins/" + name},
		func(context.Context, *ai.ToolCall, struct{}) (string, error) { return name + " at your service", nil })
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = append(p.tools, tool)
	return nil
}

func ExampleToolProvider() {
	installed := &plugins{}
	var tools ai.Registry
	if err := tools.AddProvider(installed); err != nil {
		panic(err)
	}
	for _, name := range []string{"spell", "translate"} {
		if err := installed.install(name); err != nil {
			panic(err)
		}
		set, err := tools.AllTools(context.Background())
		if err != nil {
			panic(err)
		}
		for _, def := range set.Definitions() {
			fmt.Println("offered after", name, "was installed:", def.Name)
		}
	}
	// Output:
	// offered after spell was installed: spell
	// offered after translate was installed: spell
	// offered after translate was installed: translate
}

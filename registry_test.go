package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// named makes tools of these names.
func named(t testing.TB, names ...string) []ai.Tool {
	t.Helper()
	tools := make([]ai.Tool, len(names))
	for i, name := range names {
		tools[i] = newRaw(t, &ai.ToolDefinition{Name: name}, rawNoop)
	}
	return tools
}

func registryOf(t testing.TB, tools ...ai.Tool) *ai.Registry {
	t.Helper()
	var r ai.Registry
	require.NoError(t, r.Register(tools...))
	return &r
}

// offered are the names the model is given.
func offered(set *ai.ToolSet) []string {
	var names []string
	for _, def := range set.Definitions() {
		names = append(names, def.Name)
	}
	return names
}

func TestRegistryZeroValue(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*ai.Registry{"zero": {}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Lookup(t.Context(), "pay")
			require.ErrorIs(t, err, ai.ErrNotFound)
			require.EqualError(t, err, `ai: no tool is named "pay"`)
			_, err = r.Tools(t.Context(), "pay")
			require.ErrorIs(t, err, ai.ErrNotFound)
			for _, make := range []func() (*ai.ToolSet, error){
				func() (*ai.ToolSet, error) { return r.AllTools(t.Context()) },
				func() (*ai.ToolSet, error) { return r.Tools(t.Context()) },
			} {
				set, err := make()
				require.NoError(t, err)
				require.Empty(t, set.Definitions())
				_, err = set.Check(wish("pay", "1", ""))
				require.ErrorIs(t, err, ai.ErrNotFound)
				require.ErrorContains(t, err, `"pay"`)
			}
		})
	}
	for name, err := range map[string]error{
		"Register":    (*ai.Registry)(nil).Register(named(t, "pay")...),
		"AddProvider": (*ai.Registry)(nil).AddProvider(&shelf{name: "mcp"}),
		"Use":         (*ai.Registry)(nil).Use(&ai.Middleware{Name: "log"}),
	} {
		require.ErrorIs(t, err, ai.ErrInvalidArgument, name)
		require.ErrorContains(t, err, "registry is nil", name)
	}
}

func TestRegistryOrderIsThatOfRegistration(t *testing.T) {
	t.Parallel()
	names := []string{"zebra", "ant", "m/mule", "bee", "a/ape"}
	r := registryOf(t, named(t, names[:3]...)...)
	require.NoError(t, r.Register(named(t, names[3:]...)...))
	for range 20 {
		set, err := r.AllTools(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"zebra", "ant", "mule", "bee", "ape"}, offered(set))
	}
	set, err := r.Tools(t.Context(), "bee", "a/ape", "zebra", "ape")
	require.NoError(t, err)
	require.Equal(t, []string{"bee", "ape", "zebra"}, offered(set), "in the order asked for, each once")
}

// keyed is a registry with a tool of each kind, and a provider.
func keyed(t *testing.T) *ai.Registry {
	t.Helper()
	r := registryOf(t, named(t, "work-orders/order_part", "now", "a/x", "b/x", "c/b/y")...)
	ai.DefineMultipartTool(r, "art/chart", "", func(context.Context, *ai.ToolCall, any) (*ai.MultipartResult[any], error) { return nil, nil })
	ai.DefinePrompt(r, renders("desks/billing", "hi"))
	require.NoError(t, r.AddProvider(&shelf{name: "one", tools: named(t, "mcp/solo")}))
	require.NoError(t, r.AddProvider(&shelf{name: "two", tools: named(t, "two/left", "two/right")}))
	require.NoError(t, r.AddProvider(&shelf{name: "none"}))
	return r
}

func TestLookup(t *testing.T) {
	t.Parallel()
	r := keyed(t)
	for name, full := range map[string]string{
		"work-orders/order_part": "work-orders/order_part", "order_part": "work-orders/order_part",
		"/tool/work-orders/order_part": "work-orders/order_part", "/tool/order_part": "work-orders/order_part",
		"/tool.v2/order_part": "work-orders/order_part", "now": "now", "/tool/now": "now", "a/x": "a/x", "y": "c/b/y",
		"art/chart": "art/chart", "chart": "art/chart", "/tool.v2/art/chart": "art/chart", "/tool.v2/chart": "art/chart",
		"desks/billing": "desks/billing", "billing": "desks/billing", "/prompt/desks/billing": "desks/billing", "/prompt/billing": "desks/billing",
		"solo": "mcp/solo", "/tool/mcp/solo": "mcp/solo", "/dynamic-action-provider/one": "mcp/solo",
	} {
		tool, err := r.Lookup(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, full, tool.Definition().Name, name)
	}
	for name, text := range map[string]string{
		"": `named ""`, "part": `named "part"`, "order": `named "order"`, "/now": `named "/now"`, "NOW": `named "NOW"`, "b/y": `named "b/y"`,
		"work-orders__order_part": `named "work-orders__order_part"`, "orders/order_part": `named "orders/order_part"`,
		"/tool/": `named "/tool/"`, "/tool/chart": `named "/tool/chart"`, "/tool/billing": `named "/tool/billing"`,
		"/tool.v2/billing": `named "/tool.v2/billing"`, "/prompt/now": `named "/prompt/now"`, "/prompt/chart": `named "/prompt/chart"`,
		"/dynamic-action-provider/three": `named "/dynamic-action-provider/three"`, "/flow/now": `named "/flow/now"`,
		"/dynamic-action-provider/none": "offers no tools",
	} {
		_, err := r.Lookup(t.Context(), name)
		require.ErrorIs(t, err, ai.ErrNotFound, name)
		require.ErrorContains(t, err, text)
	}
}

func TestLookupOfWhatFitsSeveral(t *testing.T) {
	t.Parallel()
	r := keyed(t)
	for name, names := range map[string]string{
		"x": `"a/x", "b/x"`, "/tool/x": `"a/x", "b/x"`, "/dynamic-action-provider/two": `"two/left", "two/right"`,
	} {
		_, err := r.Lookup(t.Context(), name)
		require.ErrorIs(t, err, ai.ErrInvalidArgument, name)
		require.EqualError(t, err, fmt.Sprintf("ai: the name %q fits several tools: %s", name, names))
	}
	_, err := r.Tools(t.Context(), "now", "x")
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, `"a/x", "b/x"`)

	require.NoError(t, r.Register(named(t, "x")...))
	tool, err := r.Lookup(t.Context(), "x")
	require.NoError(t, err, "a full name is tried first")
	require.Equal(t, "x", tool.Definition().Name)
}

func TestToolsByKey(t *testing.T) {
	t.Parallel()
	r := keyed(t)
	set, err := r.Tools(t.Context(), "/prompt/billing", "/dynamic-action-provider/two", "/tool.v2/chart", "/dynamic-action-provider/none", "two/left")
	require.NoError(t, err)
	require.Equal(t, []string{"billing", "left", "right", "chart"}, offered(set))

	_, err = r.Tools(t.Context(), "now", "later")
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.EqualError(t, err, `ai: no tool is named "later"`)
}

// Register takes all or nothing.
func TestRegisterFailsWhole(t *testing.T) {
	t.Parallel()
	var typed *ai.TypedTool[any, any]
	var raw *ai.RawTool
	var prompt *ai.Prompt
	tests := map[string]struct {
		bad  ai.Tool
		text string
	}{
		"taken":           {named(t, "old")[0], `tool "old" is already registered`},
		"twice":           {named(t, "new")[0], `tool "new" is already registered`},
		"invalid name":    {custom{&ai.ToolDefinition{Name: "no//name"}}, `"no//name"`},
		"bad schema":      {custom{&ai.ToolDefinition{Name: "bad", InputSchema: json.RawMessage(`{"required":"part"}`)}}, `tool "bad": input schema`},
		"schema of lists": {custom{&ai.ToolDefinition{Name: "bad", InputSchema: json.RawMessage(`{"type":"array"}`)}}, `tool "bad": input schema`},
		"bad output":      {custom{&ai.ToolDefinition{Name: "bad", OutputSchema: json.RawMessage(`{"minLength":"x"}`)}}, `tool "bad": output schema`},
		"no definition":   {custom{}, "ai_test.custom"},
		"nil":             {nil, "tool 1 is nil"},
		"nil typed tool":  {typed, "has no definition"},
		"nil raw tool":    {raw, "has no definition"},
		"nil prompt":      {prompt, "has no definition"},
		"unmade prompt":   {renders("desk", "hi"), `prompt "desk" was not made by NewPrompt`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := registryOf(t, named(t, "old")...)
			err := r.Register(named(t, "new")[0], test.bad, named(t, "newer")[0])
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, test.text)
			set, err := r.AllTools(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"old"}, offered(set))
			require.NoError(t, r.Register(named(t, "new", "newer")...), "the names are still free")

			if name != "taken" {
				_, err = ai.NewToolSet(named(t, "new")[0], test.bad)
				require.ErrorIs(t, err, ai.ErrInvalidArgument)
			}
		})
	}
}

// custom is a tool of a type of the user's own.
type custom struct{ def *ai.ToolDefinition }

func (c custom) Definition() *ai.ToolDefinition { return c.def }

func (c custom) Call(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
	return &ai.ToolResult{}, nil
}

func TestRegistryProvidersAndMiddlewareHaveNames(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	require.NoError(t, r.AddProvider(&shelf{name: "mcp"}))
	for text, err := range map[string]error{
		"needs a name":                                r.AddProvider(&shelf{}),
		"a tool provider needs a name":                r.AddProvider(nil),
		`tool provider "mcp" is already added`:        r.AddProvider(&shelf{name: "mcp"}),
		"middleware 0 is nil":                         r.Use(nil),
		`middleware 0 needs a name other than ""`:     r.Use(&ai.Middleware{}),
		`two middlewares are named "log"`:             r.Use(&ai.Middleware{Name: "log"}, &ai.Middleware{Name: "log"}),
		`middleware 0 needs a name other than "tool"`: r.Use(&ai.Middleware{Name: "tool"}),
	} {
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, text)
	}
	require.NoError(t, r.Use(&ai.Middleware{Name: "log"}), "what failed left nothing behind")
}

// A set keeps what the registry held when it was made.
func TestSetsDoNotFollowTheRegistry(t *testing.T) {
	t.Parallel()
	r := registryOf(t, named(t, "a/x")...)
	before, err := r.AllTools(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Register(named(t, "b/x", "new")...))
	require.Equal(t, []string{"x"}, offered(before))
	_, err = before.Check(wish("new", "1", ""))
	require.ErrorIs(t, err, ai.ErrNotFound)
	after, err := r.AllTools(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a__x", "b__x", "new"}, offered(after))
}

func TestRegistryConcurrently(t *testing.T) {
	t.Parallel()
	r := registryOf(t, named(t, "base")...)
	require.NoError(t, r.AddProvider(&shelf{name: "mcp", tools: named(t, "mcp/one", "mcp/two")}))
	const workers = 8
	tools := make([][]ai.Tool, workers)
	for i := range tools {
		tools[i] = named(t, fmt.Sprint("own/", i), fmt.Sprint("own/twin", i))
	}
	wanted := named(t, "wanted")
	var wg sync.WaitGroup
	var errs, taken [workers]error
	var sets [workers]*ai.ToolSet
	for i := range workers {
		wg.Go(func() {
			errs[i] = errors.Join(r.Register(tools[i]...), r.AddProvider(&shelf{name: fmt.Sprint("shelf", i)}),
				r.Use(&ai.Middleware{Name: fmt.Sprint("m", i)}))
			taken[i] = r.Register(wanted...)
			_, lookup := r.Lookup(t.Context(), "mcp/two")
			_, some := r.Tools(t.Context(), "one", fmt.Sprint("twin", i))
			var all error
			sets[i], all = r.AllTools(t.Context())
			errs[i] = errors.Join(errs[i], lookup, some, all)
		})
	}
	wg.Wait()
	won := 0
	for i := range workers {
		require.NoError(t, errs[i])
		names := offered(sets[i])
		require.Equal(t, "base", names[0])
		own := slices.Index(names, fmt.Sprint(i))
		require.Positive(t, own)
		require.Equal(t, fmt.Sprint("twin", i), names[own+1], "what is registered together stands together")
		if taken[i] == nil {
			won++
		}
	}
	require.Equal(t, 1, won, "a name goes to one")
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	require.Len(t, set.Definitions(), 1+2*workers+1+2)
}

func ExampleRegistry_Tools() {
	type empty struct{}
	var tools ai.Registry
	done := func(context.Context, *ai.ToolCall, empty) (string, error) { return "done", nil }
	ai.DefineTool(&tools, "calendar/search", "Searches the calendar.", done)
	ai.DefineTool(&tools, "mail/search", "Searches the mail.", done)
	ai.DefineTool(&tools, "mail/send", "Sends a mail.", done)

	// Short names do where one tool has them.
	set, err := tools.Tools(context.Background(), "send", "mail/search", "calendar/search")
	if err != nil {
		panic(err)
	}
	for _, def := range set.Definitions() {
		fmt.Println(def.Name)
	}
	_, err = tools.Tools(context.Background(), "search")
	fmt.Println(err)
	// Output:
	// send
	// mail__search
	// calendar__search
	// ai: the name "search" fits several tools: "calendar/search", "mail/search"
}

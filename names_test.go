package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// everyProvider is what the names of tools have to be for each of them.
var everyProvider = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// sayName is a tool that says which one it is.
func sayName(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
	out, err := json.Marshal(call.Name)
	return &ai.ToolResult{Output: out}, err
}

// modelNames are the names under which a set offers tools, by full name.
func modelNames(t testing.TB, fulls ...string) map[string]string {
	t.Helper()
	var r ai.Registry
	for _, full := range fulls {
		require.NoError(t, r.Register(newRaw(t, &ai.ToolDefinition{Name: full}, sayName)))
	}
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	names := make(map[string]string, len(fulls))
	for i, def := range set.Definitions() {
		names[fulls[i]] = def.Name
	}
	return names
}

// Names stand in paused histories and in the caches of providers, so they are
// pinned here, hashes included: the first digits of the SHA-256 of the full name.
func TestModelNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", 20)
	exact := strings.Repeat("x", 64)
	tests := map[string]map[string]string{
		"short names":       {"now": "now", "work-orders/order_part": "order_part", "a/b/c": "c"},
		"several of a name": {"a/x": "a__x", "b/x": "b__x", "c/d/x": "c__d__x", "y": "y"},
		"bare beats":        {"x": "x", "a/x": "a__x"},
		"dots":              {"geo.locate": "geo_locate", "maps/geo.find": "maps__geo_find"},
		"spaces and signs":  {"get weather!": "get_weather_", "a/b:c": "a__b_c"},
		"not English":       {"météo": "m_t_o", "天気": "__", "Погода/час": "___________"},
		"the same mapped":   {"a.b": "a_b_2e7336dc", "a:b": "a_b_6783a31e"},
		"mapped is taken":   {"a.b": "a_b_2e7336dc", "a_b": "a_b", "a/x": "a__x_1653a068", "b/x": "b__x", "a__x": "a__x"},
		"not even English":  {"天気": "___bc79d84d", "時刻": "___20d2bb9a"},
		"as long as can be": {exact: exact, "a/" + exact: "a__" + exact[:52] + "_1e99820c"},
		"mapped, no longer": {"g." + exact[2:]: "g_" + exact[2:]},
		"too long":          {long: long[:55] + "_5aa1dce7", "a/" + long: "a__" + long[:52] + "_830ed8ca"},
		"too long, alone":   {"a/b/" + long + ".x": "a__b__" + long[:49] + "_e6f15ae6"},
		"too long in front": {long + "/get": "get"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fulls []string
			for full := range want {
				fulls = append(fulls, full)
			}
			require.Equal(t, want, modelNames(t, fulls...))
		})
	}
}

// randomName makes names that are likely to clash.
func randomName(random *rand.Rand) string {
	words := []string{"a", "b", "a_b", "a__b", "a.b", "a b", "é", "天", "a-b", strings.Repeat("a", 64), strings.Repeat("b", 30)}
	segments := make([]string, 1+random.IntN(3))
	for i := range segments {
		segments[i] = words[random.IntN(len(words))]
		if random.IntN(4) == 0 {
			segments[i] += words[random.IntN(len(words))]
		}
	}
	return strings.Join(segments, "/")
}

// requireNames checks what holds for the names of every set.
func requireNames(t testing.TB, names map[string]string) {
	t.Helper()
	shorts, owners := map[string]int{}, map[string]string{}
	short := func(full string) string { return full[strings.LastIndex(full, "/")+1:] }
	for full := range names {
		shorts[short(full)]++
	}
	for full, name := range names {
		require.Regexp(t, everyProvider, name, full)
		require.Empty(t, owners[name], "%q is offered as %q, and so is %q", full, name, owners[name])
		owners[name] = full
		switch {
		case !everyProvider.MatchString(short(full)):
		case full == short(full):
			require.Equal(t, full, name, "bare names stay")
		case shorts[short(full)] == 1:
			require.Equal(t, short(full), name, "short names do where nobody else has them")
		default:
			require.NotEqual(t, short(full), name)
		}
	}
}

func TestModelNamesOfAnySet(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		var fulls []string
		for range 1 + random.IntN(30) {
			if name := randomName(random); !slices.Contains(fulls, name) {
				fulls = append(fulls, name)
			}
		}
		names := modelNames(t, fulls...)
		require.Len(t, names, len(fulls))
		requireNames(t, names)
		for range 3 {
			random.Shuffle(len(fulls), func(i, j int) { fulls[i], fulls[j] = fulls[j], fulls[i] })
			require.Equal(t, names, modelNames(t, fulls...), "seed %d: the order of registration must not matter", seed)
		}
	}
}

func FuzzModelNames(f *testing.F) {
	f.Add("a/x\nb/x\na__x")
	f.Add("天気\n時刻\n__\n___bc79d84d")
	f.Add(strings.Repeat("x", 70) + "\n" + strings.Repeat("x", 71))
	f.Fuzz(func(t *testing.T, text string) {
		var fulls []string
		for name := range strings.SplitSeq(text, "\n") {
			if newRawTool(&ai.ToolDefinition{Name: name}) == nil && !slices.Contains(fulls, name) {
				fulls = append(fulls, name)
			}
		}
		names := modelNames(t, fulls...)
		requireNames(t, names)
		slices.Sort(fulls)
		require.Equal(t, names, modelNames(t, fulls...))
	})
}

// Whoever registers what another tool is offered as gets the name, and the other
// gets a name that is still free; in the end there is an error, never a mix-up.
func TestModelNamesMadeToClash(t *testing.T) {
	t.Parallel()
	fulls := []string{"bank/pay", "pay"}
	for range 3 {
		names := modelNames(t, fulls...)
		requireNames(t, names)
		fulls = append(fulls, names["bank/pay"])
	}
	_, err := registryOf(t, named(t, fulls...)...).AllTools(t.Context())
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, `tool "bank/pay" can be offered under no name`)
}

func TestStrict(t *testing.T) {
	t.Parallel()
	r := registryOf(t, named(t, "a/x", "b/x", "y", "c/z")...)
	r.Strict = true
	for name, make := range map[string]func() (*ai.ToolSet, error){
		"all":  func() (*ai.ToolSet, error) { return r.AllTools(t.Context()) },
		"some": func() (*ai.ToolSet, error) { return r.Tools(t.Context(), "y", "b/x", "a/x") },
	} {
		_, err := make()
		require.ErrorIs(t, err, ai.ErrInvalidArgument, name)
		require.ErrorContains(t, err, `"a/x"`, name)
		require.ErrorContains(t, err, `"b/x"`, name)
		require.ErrorContains(t, err, `short name "x"`, name)
	}
	set, err := r.Tools(t.Context(), "a/x", "y", "z")
	require.NoError(t, err, "the clash is one of sets")
	require.Equal(t, []string{"x", "y", "z"}, offered(set))

	require.NoError(t, r.Register(named(t, "z")...))
	_, err = r.Tools(t.Context(), "z", "c/z")
	require.ErrorContains(t, err, `short name "z"`, "also where one is registered bare")
}

func TestDefinitionsSayTheOriginalName(t *testing.T) {
	t.Parallel()
	mine := ai.Metadata{"owner": json.RawMessage(`"ops"`)}
	r := registryOf(t,
		newRaw(t, &ai.ToolDefinition{Name: "work-orders/order_part", Description: "Orders.", Metadata: mine, InputSchema: object}, rawNoop),
		newRaw(t, &ai.ToolDefinition{Name: "now", Metadata: mine}, rawNoop),
		newRaw(t, &ai.ToolDefinition{Name: "geo.locate"}, rawNoop))
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"name":"order_part","description":"Orders.","inputSchema":{"type":"object"},"metadata":{"owner":"ops","originalName":"work-orders/order_part"}},
		{"name":"now","description":"","metadata":{"owner":"ops"}},
		{"name":"geo_locate","description":"","metadata":{"originalName":"geo.locate"}}
	]`, jsonOf(t, set.Definitions()))
	require.Equal(t, ai.Metadata{"owner": json.RawMessage(`"ops"`)}, mine, "the tool's own metadata stays")
	tool, err := r.Lookup(t.Context(), "order_part")
	require.NoError(t, err)
	require.Equal(t, "work-orders/order_part", tool.Definition().Name)
}

func TestNewToolSetRefusesTwins(t *testing.T) {
	t.Parallel()
	_, err := ai.NewToolSet(named(t, "a/x", "y", "a/x")...)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.EqualError(t, err, `ai: two tools are named "a/x"`)
	set, err := ai.NewToolSet()
	require.NoError(t, err)
	require.Empty(t, set.Definitions())
	require.Empty(t, (*ai.ToolSet)(nil).Definitions())
}

// Names found in sets of several hundred tools, as large agents have them.
func TestManyTools(t *testing.T) {
	t.Parallel()
	var fulls []string
	for server := range 20 {
		for tool := range 30 {
			fulls = append(fulls, fmt.Sprintf("server-%d/tool.%d", server, tool))
		}
	}
	names := modelNames(t, fulls...)
	requireNames(t, names)
	require.Equal(t, "server-7__tool_12", names["server-7/tool.12"])
}

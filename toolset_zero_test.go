package ai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// The zero set offers nothing, and says so.
func TestZeroToolSet(t *testing.T) {
	t.Parallel()
	var set ai.ToolSet
	require.Empty(t, set.Definitions())
	_, err := ai.Resolve(t.Context(), &set, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{wish("pay", "a", `{}`)}}, nil)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, "no tools are offered")

	resp, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("hi")), Prompt: "x", Tools: &set})
	require.NoError(t, err)
	require.Equal(t, "hi", resp.Text())
}

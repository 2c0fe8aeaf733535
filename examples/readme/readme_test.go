package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks are the fenced blocks of the README: how each is marked, and its text.
func blocks(t *testing.T) [][]string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	return regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1)
}

func TestReadmeShowsThisProgram(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	first := blocks(t)[0]
	require.Equal(t, "go", first[1])
	require.Equal(t, string(program), first[2])
}

func TestReadmeShowsWhatItPrints(t *testing.T) {
	t.Parallel()
	const prompt, typed = "[y/n] ", "y\n"
	shown := blocks(t)[1][2]
	require.Contains(t, shown, prompt+typed)
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Stdin, cmd.Stderr = strings.NewReader(typed), os.Stderr
	printed, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, strings.Replace(shown, prompt+typed, prompt, 1), string(printed))
}

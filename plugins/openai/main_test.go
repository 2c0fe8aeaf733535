package openai_test

import (
	"testing"

	"github.com/holdpoint/ai/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

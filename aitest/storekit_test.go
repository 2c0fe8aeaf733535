package aitest_test

import (
	"testing"

	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

func TestStoreInMemory(t *testing.T) {
	t.Parallel()
	aitest.TestStore(t, &aitest.StoreKit{Open: func(testing.TB) (aitest.Store, aitest.Store) {
		s := &session.MemoryStore{}
		return s, s
	}})
}

func TestStoreInAFolder(t *testing.T) {
	t.Parallel()
	aitest.TestStore(t, &aitest.StoreKit{Open: func(t testing.TB) (aitest.Store, aitest.Store) {
		dir := t.TempDir()
		one, err := session.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		other, err := session.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return one, other
	}})
}

package session

// Seed puts a log into a store as another process left it.
func (m *MemoryStore) Seed(id string, incarnation string, batches []*StoredBatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &memoryLog{revision: Revision{Incarnation: incarnation}, batches: batches}
	for _, b := range batches {
		l.revision.N += uint64(len(b.Entries))
	}
	m.logs = map[string]*memoryLog{id: l}
}

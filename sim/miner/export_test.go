package miner

// Waiting returns how many senders wait for the writer's lock.
func (m *Miner) Waiting() int {
	m.senders.mu.Lock()
	defer m.senders.mu.Unlock()
	return len(m.senders.all)
}

package inmemory

// MemoryUsed returns what the instances have taken of the budget.
func MemoryUsed(s *Stateful) int64 { return s.rt.budget.Used() }

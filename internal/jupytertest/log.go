package jupytertest

import "sync"

// A Log keeps the end of the output of a process.
type Log struct {
	mu   sync.Mutex
	data []byte
}

const maxLog = 128 << 10

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	if len(l.data) > 2*maxLog {
		l.data = append(l.data[:0], l.data[len(l.data)-maxLog:]...)
	}
	return len(p), nil
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}

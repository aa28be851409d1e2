package machine

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Pool keeps instances ready, which take a millisecond to make. Its methods may be called
// from any goroutine.
type Pool struct {
	module *Module
	config Config
	ready  chan *Instance
	ends   chan struct{}
	ended  chan struct{}
}

// NewPool returns a pool that keeps so many instances that begin as an image.
func (m *Module) NewPool(size int, image *Image, memory int64) *Pool {
	p := &Pool{module: m, config: Config{Image: image, Memory: memory},
		ready: make(chan *Instance, size-1), ends: make(chan struct{}), ended: make(chan struct{})}
	go p.fill()
	return p
}

// fill starts instances until the pool is closed. Where one cannot be started, neither can
// it by Start, which returns the error.
func (p *Pool) fill() {
	defer close(p.ended)
	for {
		in, err := p.module.Start(&p.config)
		if err != nil {
			return
		}
		select {
		case p.ready <- in:
		case <-p.ends:
			in.Close()
			return
		}
	}
}

// Start returns an instance that is ready, or a new one where there is none with the
// memory that c wants.
func (p *Pool) Start(c *Config) (*Instance, error) {
	if c.Memory == p.config.Memory && c.Image == p.config.Image {
		select {
		case in := <-p.ready:
			if in.Host = c.Host; !in.memory.charge(c.Budget) {
				in.Close()
				return nil, fmt.Errorf("%w: no memory is left for another context", codeinterp.ErrCapacity)
			}
			return in, nil
		default:
		}
	}
	return p.module.Start(c)
}

// Close ends the instances that are ready.
func (p *Pool) Close() {
	close(p.ends)
	<-p.ended
	for {
		select {
		case in := <-p.ready:
			in.Close()
		default:
			return
		}
	}
}

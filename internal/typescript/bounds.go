package typescript

// MaxDepth is how deep constructs may nest. Real programs stay below 50; one
// level takes some hundred bytes of stack.
const MaxDepth = 1000

const (
	// Of real programs each byte costs less than half a step.
	stepsPerByte, moreSteps = 4, 1 << 17
	// Edits and inserted text together. A list of enum members of one letter
	// takes the most: two edits and some 15 bytes of text for 2 of source.
	memoryPerByte, moreMemory = 48, 1 << 20
	// checkEvery is how many steps pass between two looks at the context, a
	// power of 2.
	checkEvery = 1 << 10
)

// Memory returns how many bytes Erase may keep, at most, beside a source of this
// many bytes and its translation.
func Memory(source int) int64 { return memoryPerByte*int64(source) + moreMemory }

// step counts work, and ends the parse where there was too much of it or the
// context is done.
func (p *parser) step(n int) {
	p.steps += n
	if p.steps < p.nextCheck {
		return
	}
	p.nextCheck = p.steps + checkEvery
	if err := p.ctx.Err(); err != nil {
		panic(bailout{err: err})
	}
	if p.steps > stepsPerByte*len(p.src)+moreSteps {
		p.stop(p.tok.start, "The program is too ambiguous to be parsed", true)
	}
}

// enter goes one level deeper. Each enter has its leave, unless the parse ends
// or is taken back.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.stop(p.tok.start, "The program is nested too deeply", true)
	}
	p.step(1)
}

func (p *parser) leave() { p.depth-- }

// charge counts memory that the parse keeps.
func (p *parser) charge(n int) {
	p.memory += n
	if int64(p.memory) > p.most {
		p.stop(p.tok.start, "The program's translation is too large", true)
	}
}

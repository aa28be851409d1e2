package kernel

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shellboot"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

//go:embed commands.py
var pythonCommands string

//go:embed guard.py
var pythonGuard string

// The messages of commands.py, on the control channel.
const (
	commandRequest = "toolcell_command_request"
	commandReply   = "toolcell_command_reply"
)

// A CommandRequest is one request of commands.py, about the command ID. It can be
// made again where its answer was lost.
type CommandRequest struct {
	Op     string `json:"op"` // start, attach, leave, read, input, signal, resize, stop or forget
	ID     string `json:"id"`
	Client string `json:"client"` // who asks

	Code    []byte      `json:"code"`
	Cwd     []byte      `json:"cwd"`
	Env     [][2][]byte `json:"env"`
	Private bool        `json:"private"` // in a new directory, which goes with it
	Input   bool        `json:"input"`   // there will be some
	Rows    int         `json:"rows"`    // of its terminal; 0 for pipes
	Columns int         `json:"columns"`
	Lease   float64     `json:"lease"` // seconds that it goes on without its client; 0: as others

	At     int64             `json:"at"` // bytes that were read, or given; the number of a signal
	Data   []byte            `json:"data"`
	Last   bool              `json:"last"`
	Signal codeinterp.Signal `json:"signal"`
}

// A CommandAnswer is the answer to a CommandRequest.
type CommandAnswer struct {
	Fault  string      `json:"fault"`
	Pieces [][2]string `json:"pieces"` // of a stream, and in base64 what
	Over   bool        `json:"over"`   // it has ended; there may be more output
	End    *CommandEnd `json:"end"`    // it has ended, and there is no more
	Fed    int64       `json:"fed"`    // bytes of input that it has
	Shut   bool        `json:"shut"`   // it takes no more

	// To attach.
	Start   int64 `json:"start"`   // where the output begins that is kept
	Signals int64 `json:"signals"` // that it was sent
}

// A CommandEnd is how a command ended.
type CommandEnd struct {
	Code   int  `json:"code"`
	Signal int  `json:"signal"` // that ended it
	Left   bool `json:"left"`   // something of it may still be there
	Lost   bool `json:"lost"`   // what watched it was killed
}

// ErrForgotten is a command that the kernel's process does not know: it has ended with the
// process that did.
var ErrForgotten = errors.New("the command went with its kernel's process")

// Busy reports that another client asks for the commands of the kernel.
func (a *CommandAnswer) Busy() bool { return a.Fault == "busy" }

// ServeCommands makes the furnished kernel serve commands. Commands whose client is
// silent for lease are ended.
func (k *Kernel) ServeCommands(ctx context.Context, lease time.Duration) error {
	err := k.Hidden(ctx, pythonExec(pythonCommands, map[string]any{"guard": pythonGuard, "boot": shellboot.Script,
		"shells": shellboot.Shells(), "lease": lease.Seconds()}))
	if refusal, ok := asRefusal(err); ok {
		return server.Unavailable("the kernel runs no commands: %.200s", refusal.Error())
	}
	return err
}

// IsCut reports whether err says that the connection was lost before the answer
// came: Ensure, and ask again.
func IsCut(err error) bool { return errors.Is(err, errSocketLost) }

// Command asks for something of a command.
func (k *Kernel) Command(ctx context.Context, q *CommandRequest) (*CommandAnswer, error) {
	// Before it is asked, as one that died meanwhile could not answer.
	if !k.IsFurnished() {
		return nil, ErrForgotten
	}
	var a CommandAnswer
	err := k.askHelper(ctx, commandRequest, q, &a)
	if errors.Is(err, errDied) || a.Fault == "unknown" {
		return nil, ErrForgotten
	}
	if err == nil && (a.Fed < 0 || a.Start < 0) {
		err = server.Unavailable("malformed %s", commandReply)
	}
	return &a, err
}

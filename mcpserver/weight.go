package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolcell/toolcell/internal/jsontally"
)

const (
	// maxMembers is how many members the objects and lists of a message may have,
	// with the arguments of a call.
	maxMembers = 500_000

	// maxBare is how many they may have without arguments: what a client says of
	// itself is decoded for every message.
	maxBare = 10_000

	// maxHello and maxHelloMembers bound the message that opens a session, which is
	// kept for as long as that lasts.
	maxHello, maxHelloMembers = 256 << 10, 1000
)

// weigh says what is wrong with a message, or several of them, that would take far
// more memory once it is decoded than it has bytes.
func weigh(message []byte) error {
	n := jsontally.Members(message)
	if n > maxMembers {
		return fmt.Errorf("the message has more than %d members", maxMembers)
	}
	if n <= maxHelloMembers && len(message) <= maxHello {
		return nil
	}
	if bytes.HasPrefix(message, []byte("[")) {
		return weighEach(message)
	}
	msg, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return nil // which is told where it is decoded for good
	}
	req, _ := msg.(*jsonrpc.Request)
	if req != nil && req.Method == "initialize" {
		return errors.New("the message that opens a session is too large")
	}
	if req != nil && n > maxBare {
		var params struct{ Arguments json.RawMessage }
		_ = json.Unmarshal(req.Params, &params)
		n -= jsontally.Members(params.Arguments)
	}
	if n > maxBare {
		return fmt.Errorf("the message has more than %d members besides arguments", maxBare)
	}
	return nil
}

func weighEach(batch []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(batch, &list) != nil {
		return nil
	}
	if len(list) > maxHelloMembers {
		return fmt.Errorf("a batch of more than %d messages", maxHelloMembers)
	}
	for _, m := range list {
		if len(m) > 0 && m[0] != '[' {
			if err := weigh(m); err != nil {
				return err
			}
		}
	}
	return nil
}

package tools

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
)

type createdJSON struct {
	ContextID string `json:"contextId" jsonschema:"description=Names the context in later calls."`
}

type okJSON struct {
	OK bool `json:"ok"`
}

type listJSON struct {
	Contexts []contextJSON `json:"contexts" jsonschema:"description=The live contexts\\, oldest first."`
}

type contextJSON struct {
	ContextID string `json:"contextId"`
	Language  string `json:"language"`
	Cwd       string `json:"cwd,omitempty" jsonschema:"description=The directory that programs start in."`
	Created   string `json:"created,omitempty" jsonschema:"format=date-time"`
	LastUsed  string `json:"lastUsed,omitempty" jsonschema:"format=date-time"`
	Busy      bool   `json:"busy,omitempty" jsonschema:"description=A run is in progress."`
	Queued    int    `json:"queued,omitempty" jsonschema:"description=How many runs wait behind it."`
}

func (k *kit) create(ctx context.Context, r toolCall) *Answer {
	var opts *codeinterp.ContextOptions
	if list := k.functions(r.language); list != nil {
		opts = &codeinterp.ContextOptions{Functions: observe.Functions(list)}
	}
	id, err := k.contexts.CreateContext(ctx, r.language, opts)
	if err != nil {
		return k.failed(ctx, r, err)
	}
	return answer(r.ID, r.Tool, createdJSON{string(id)})
}

func (k *kit) fork(ctx context.Context, r toolCall) *Answer {
	id, err := k.forker.ForkContext(ctx, codeinterp.ContextID(r.contextID))
	if err != nil {
		return k.failed(ctx, r, err)
	}
	return answer(r.ID, r.Tool, createdJSON{string(id)})
}

func (k *kit) delete(ctx context.Context, r toolCall) *Answer {
	return k.done(ctx, r, k.contexts.DeleteContext)
}

func (k *kit) restart(ctx context.Context, r toolCall) *Answer {
	return k.done(ctx, r, k.manager.RestartContext)
}

func (k *kit) interrupt(ctx context.Context, r toolCall) *Answer {
	return k.done(ctx, r, k.manager.InterruptContext)
}

// done does something to the context that the call names.
func (k *kit) done(ctx context.Context, r toolCall, do func(context.Context, codeinterp.ContextID) error) *Answer {
	if err := do(ctx, codeinterp.ContextID(r.contextID)); err != nil {
		return k.failed(ctx, r, err)
	}
	return answer(r.ID, r.Tool, okJSON{true})
}

func (k *kit) list(ctx context.Context, r toolCall) *Answer {
	infos, err := k.manager.ListContexts(ctx)
	if err != nil {
		return k.failed(ctx, r, err)
	}
	out := listJSON{make([]contextJSON, 0, len(infos))}
	for _, i := range infos {
		out.Contexts = append(out.Contexts, contextJSON{
			string(i.ID), i.Language, k.Secrets.Scrub(i.Cwd), stamp(i.Created), stamp(i.LastUsed), i.Busy, i.Queued,
		})
	}
	return answer(r.ID, r.Tool, out)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

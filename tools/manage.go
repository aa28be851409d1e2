package tools

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
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

func (k *kit) list(m codeinterp.ContextManager) handler[noArgs] {
	return func(ctx context.Context, c Call, name string, _ *noArgs) *Reply {
		infos, err := m.ListContexts(ctx)
		if err != nil {
			return k.failed(ctx, c, name, err)
		}
		out := listJSON{make([]contextJSON, 0, len(infos))}
		for _, i := range infos {
			out.Contexts = append(out.Contexts, contextJSON{
				string(i.ID), i.Language, k.Secrets.Scrub(i.Cwd), stamp(i.Created), stamp(i.LastUsed), i.Busy, i.Queued,
			})
		}
		return answer(c.ID, name, out)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (k *kit) restart(m codeinterp.ContextManager) handler[contextArgs] {
	return func(ctx context.Context, c Call, name string, in *contextArgs) *Reply {
		if err := m.RestartContext(ctx, codeinterp.ContextID(in.ContextID)); err != nil {
			return k.failed(ctx, c, name, err)
		}
		return answer(c.ID, name, okJSON{true})
	}
}

func (k *kit) interrupt(m codeinterp.ContextManager) handler[contextArgs] {
	return func(ctx context.Context, c Call, name string, in *contextArgs) *Reply {
		if err := m.InterruptContext(ctx, codeinterp.ContextID(in.ContextID)); err != nil {
			return k.failed(ctx, c, name, err)
		}
		return answer(c.ID, name, okJSON{true})
	}
}

package codeinterp

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Log returns a middleware that logs the end of every operation but Describe:
// at level Info where it worked, also if the program failed, and at Warn where
// it returned an error. It logs sizes and ids, never code, output or the text
// of the program's error. A nil logger logs nothing.
func Log(l *slog.Logger) Middleware {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (Reply, error) {
			if c.Op == OpDescribe || !l.Enabled(ctx, slog.LevelWarn) {
				return next(ctx, c)
			}
			start := time.Now()
			r, err := next(ctx, c)
			level := slog.LevelInfo
			if err != nil {
				level = slog.LevelWarn
			}
			if l.Enabled(ctx, level) {
				l.LogAttrs(ctx, level, c.Op.String(), logAttrs(c, &r, err, time.Since(start))...)
			}
			return r, err
		}
	}
}

func logAttrs(c Call, r *Reply, err error, took time.Duration) []slog.Attr {
	attrs := []slog.Attr{slog.Duration("took", took)}
	if c.Language != "" {
		attrs = append(attrs, slog.String("language", c.Language))
	}
	if id := cmp.Or(c.Context, r.Context); id != "" {
		attrs = append(attrs, slog.String("context", string(id)))
	}
	if c.Context != "" && r.Context != "" {
		attrs = append(attrs, slog.String("created", string(r.Context)))
	}
	if f, ok := c.Args.(FunctionCall); ok {
		attrs = append(attrs, slog.String("function", f.Name), slog.Int("call", f.Number), slog.Int("args_bytes", len(f.Args)))
		if v, ok := r.Value.(json.RawMessage); ok {
			attrs = append(attrs, slog.Int("result_bytes", len(v)))
		}
	}
	if c.Op.Runs() {
		attrs = append(attrs,
			slog.Int("code_bytes", len(c.Code)),
			slog.String("status", string(r.Result.Status)),
			slog.Int("exit_code", r.Result.ExitCode),
			slog.Int("output_bytes", r.Result.size()))
		if r.Result.StateLost {
			attrs = append(attrs, slog.Bool("state_lost", true))
		}
		if len(r.Result.Truncated) > 0 {
			attrs = append(attrs, slog.Bool("truncated", true))
		}
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	return attrs
}

func (r *Result) size() int {
	n := 0
	for i := range r.Outputs {
		n += r.Outputs[i].Size()
	}
	return n
}

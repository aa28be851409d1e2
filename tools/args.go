package tools

// The argument structs are what the schemas are made from and what calls are
// decoded into. Their fields are strings and integers; a field with omitempty
// is optional, and its zero value means that it was not given.

type runArgs struct {
	Language  string `json:"language" jsonschema:"description=The language that the code is written in."`
	Code      string `json:"code" jsonschema:"description=The source code to run\\, as it is: no Markdown fence around it."`
	TimeoutMs int64  `json:"timeoutMs,omitempty" jsonschema:"minimum=1"`
}

func (a *runArgs) bind(name string) any {
	switch name {
	case "language":
		return &a.Language
	case "code":
		return &a.Code
	case "timeoutMs":
		return &a.TimeoutMs
	}
	return nil
}

type createArgs struct {
	Language string `json:"language" jsonschema:"description=The language that all code of the context will be written in."`
}

func (a *createArgs) bind(name string) any {
	if name == "language" {
		return &a.Language
	}
	return nil
}

type runInArgs struct {
	ContextID string `json:"contextId" jsonschema:"description=The contextId that the call creating the context returned."`
	Code      string `json:"code" jsonschema:"description=The source code to run\\, in the context's language and as it is: no Markdown fence around it."`
	TimeoutMs int64  `json:"timeoutMs,omitempty" jsonschema:"minimum=1"`
}

func (a *runInArgs) bind(name string) any {
	switch name {
	case "contextId":
		return &a.ContextID
	case "code":
		return &a.Code
	case "timeoutMs":
		return &a.TimeoutMs
	}
	return nil
}

// contextArgs are those of every tool that does something to a context.
type contextArgs struct {
	ContextID string `json:"contextId" jsonschema:"description=The contextId that the call creating the context returned."`
}

func (a *contextArgs) bind(name string) any {
	if name == "contextId" {
		return &a.ContextID
	}
	return nil
}

type noArgs struct{}

func (*noArgs) bind(string) any { return nil }

type readArgs struct {
	OutputID string `json:"outputId" jsonschema:"description=The outputId that the result of the run gave."`
	Stream   string `json:"stream,omitempty" jsonschema:"enum=stdout,enum=stderr,enum=display,enum=error,description=Which part to read: stdout unless given."`
	Offset   int64  `json:"offset,omitempty" jsonschema:"minimum=0,description=The byte to start at: 0 unless given\\, then the nextOffset of the page before."`
	Limit    int64  `json:"limit,omitempty" jsonschema:"minimum=1"`
}

func (a *readArgs) bind(name string) any {
	switch name {
	case "outputId":
		return &a.OutputID
	case "stream":
		return &a.Stream
	case "offset":
		return &a.Offset
	case "limit":
		return &a.Limit
	}
	return nil
}

package wire

import "encoding/json"

// A Sealed is an execute_request within another one, which only the process that
// has the token opens. Any other sees an empty request.
type Sealed struct {
	Token   string         `json:"token"`
	Request ExecuteRequest `json:"request"`
}

// unopened names the user expression of a sealed request, which only a process that
// does not open it evaluates.
const unopened = "toolcell_unopened"

// A sealedRequest is an empty execute_request with a sealed one.
type sealedRequest struct {
	ExecuteRequest
	Sealed Sealed `json:"toolcell"`
}

// Seal returns the content of a request that only the process with the token opens.
func (r ExecuteRequest) Seal(token string) any {
	return sealedRequest{
		ExecuteRequest{Silent: true, Expressions: map[string]string{unopened: "True"}},
		Sealed{token, r},
	}
}

// How is what an execute_reply says at a glance.
type How struct {
	Status   string
	Unopened bool // nothing of a sealed request was run
}

// HowOf reads the content of an execute_reply; ok is false where that is malformed.
func HowOf(content []byte) (h How, ok bool) {
	var r struct {
		Status      string `json:"status"`
		Expressions struct {
			Unopened Expression `json:"toolcell_unopened"`
		} `json:"user_expressions"`
	}
	err := json.Unmarshal(content, &r)
	return How{r.Status, r.Expressions.Unopened.IsTrue()}, err == nil
}

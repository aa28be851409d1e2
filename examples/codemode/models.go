package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/tools"
)

// callTools is a model that calls the tools themselves, as many in a turn as it
// can: first the customers, then the invoices of each, then one employee.
func callTools(turn int, answers []*tools.Answer) (calls []tools.Invocation, answer string, err error) {
	switch turn {
	case 0:
		return []tools.Invocation{call(0, "list_customers", input{"north"})}, "", nil
	case 1:
		var list []customer
		if err := json.Unmarshal(answers[0].Data, &list); err != nil {
			return nil, "", err
		}
		for i, c := range list {
			calls = append(calls, call(100+i, "list_invoices", input{c.ID}))
		}
		return calls, "", nil
	case 2:
		owed, most := map[string]int{}, ""
		for _, a := range answers {
			var list []invoice
			if err := json.Unmarshal(a.Data, &list); err != nil {
				return nil, "", err
			}
			for _, i := range list {
				if i.Status == "overdue" {
					owed[i.Customer] += i.Total
				}
				if owed[i.Customer] > owed[most] {
					most = i.Customer
				}
			}
		}
		return []tools.Invocation{call(200, "get_account_manager", input{most})}, "", nil
	default:
		var m manager
		if err := json.Unmarshal(answers[0].Data, &m); err != nil {
			return nil, "", err
		}
		return nil, fmt.Sprintf("%s owes %d, and %s looks after them.", m.Customer, overdue(m.Customer), m.Name), nil
	}
}

const program = `const owed = await Promise.all((await tools.list_customers({ of: "north" })).map(async (c) => {
  const late = (await tools.list_invoices({ of: c.id })).filter((i) => i.status === "overdue");
  return { id: c.id, sum: late.reduce((sum, i) => sum + i.total, 0) };
}));
const most = owed.reduce((a, b) => (b.sum > a.sum ? b : a));
const m = await tools.get_account_manager({ of: most.id });
console.log(most.id + " owes " + most.sum + ", and " + m.name + " looks after them.");`

// writeProgram is a model that writes one program.
func writeProgram(turn int, answers []*tools.Answer) (calls []tools.Invocation, answer string, err error) {
	if turn == 0 {
		return []tools.Invocation{call(0, "run_code", map[string]string{"language": "javascript", "code": program})}, "", nil
	}
	if !answers[0].Result.OK() {
		return nil, "", fmt.Errorf("the program failed: %s", answers[0].Text)
	}
	return nil, strings.TrimSpace(answers[0].Result.Stdout()), nil
}

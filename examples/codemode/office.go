package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/tools"
)

type customer struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Region string `json:"region"`
	Street string `json:"street"`
	Since  int    `json:"since"`
}

type invoice struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Status   string `json:"status"`
	Total    int    `json:"total"`
	Due      string `json:"due"`
	Note     string `json:"note"`
}

type manager struct {
	Customer string `json:"customer"`
	Name     string `json:"name"`
	Phone    string `json:"phone"`
}

// customers are those of a region.
func customers(region string) (list []customer) {
	for i := range 12 {
		id := fmt.Sprintf("%s-%02d", region, i)
		list = append(list, customer{id, "Customer " + id, region, fmt.Sprintf("Harbour Road %d", i), 2000 + i})
	}
	return list
}

// invoices are those of a customer.
func invoices(id string) (list []invoice) {
	seed := 0
	for _, c := range id {
		seed = seed*31 + int(c)
	}
	for i := range 25 {
		status := "paid"
		if (seed+i*i)%7 == 0 {
			status = "overdue"
		}
		list = append(list, invoice{fmt.Sprintf("%s/%03d", id, i), id, status, 100 + (seed+i*37)%900,
			fmt.Sprintf("2026-%02d-01", 1+i%12), "Delivered with the usual terms of payment."})
	}
	return list
}

// overdue is what a customer owes.
func overdue(id string) (sum int) {
	for _, i := range invoices(id) {
		if i.Status == "overdue" {
			sum += i.Total
		}
	}
	return sum
}

// office returns forty tools, three of which the task needs.
func office() []tools.Tool {
	list := []tools.Tool{
		tool("list_customers", "Lists the customers of a region.", "region", []customer{}, func(v string) any { return customers(v) }),
		tool("list_invoices", "Lists the invoices of a customer, paid and overdue.", "customer", []invoice{}, func(v string) any { return invoices(v) }),
		tool("get_account_manager", "Returns who looks after a customer.", "customer", manager{}, func(v string) any {
			return manager{v, "Ada Berg", "555-0100"}
		}),
	}
	for _, verb := range []string{"create", "update", "archive", "export"} {
		for _, what := range []string{"order", "supplier", "contract", "shipment", "product", "campaign", "ticket", "report", "budget"} {
			list = append(list, tool(verb+"_"+what, strings.ToUpper(verb[:1])+verb[1:]+"s a "+what+" by its id, and returns it as it is then.", "id",
				manager{}, func(v string) any { return map[string]string{"id": v} }))
		}
	}
	return append(list, tool("get_calendar", "Returns the appointments of a day.", "day", []string{}, func(string) any { return []string{} }))
}

// tool returns a tool with one argument, a string.
func tool(name, description, arg string, result any, f func(string) any) tools.Tool {
	return tools.Tool{
		Name: name, Description: description,
		InputSchema:  json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q],"additionalProperties":false}`, arg, arg)),
		OutputSchema: outputOf(result),
		Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			var args map[string]string
			if err := json.Unmarshal(c.Args, &args); err != nil || args[arg] == "" {
				return &tools.Answer{Failure: &tools.Failure{Code: tools.CodeInvalid, Message: arg + ": need a string"}, Text: arg + ": need a string"}
			}
			raw, err := json.Marshal(f(args[arg]))
			if err != nil {
				return &tools.Answer{Failure: &tools.Failure{Code: tools.CodeInternal, Message: "internal error"}, Text: "internal error"}
			}
			return &tools.Answer{Text: string(raw), Data: raw}
		},
	}
}

// outputOf returns the schema of the results of a tool.
func outputOf(result any) json.RawMessage {
	switch result.(type) {
	case []customer:
		return json.RawMessage(`{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"},"region":{"type":"string"},"street":{"type":"string"},"since":{"type":"integer"}},"required":["id","name","region","street","since"]}}`)
	case []invoice:
		return json.RawMessage(`{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"customer":{"type":"string"},"status":{"enum":["paid","overdue"]},"total":{"type":"integer"},"due":{"type":"string"},"note":{"type":"string"}},"required":["id","customer","status","total","due","note"]}}`)
	case manager:
		return json.RawMessage(`{"type":"object","properties":{"customer":{"type":"string"},"name":{"type":"string"},"phone":{"type":"string"}}}`)
	}
	return nil
}

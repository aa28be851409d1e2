package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
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
		tool("list_customers", "Lists the customers of a region.", customers),
		tool("list_invoices", "Lists the invoices of a customer, paid and overdue.", invoices),
		tool("get_account_manager", "Returns who looks after a customer.", func(id string) manager { return manager{id, "Ada Berg", "555-0100"} }),
	}
	for _, verb := range []string{"create", "update", "archive", "export"} {
		for _, what := range []string{"order", "supplier", "contract", "shipment", "product", "campaign", "ticket", "report", "budget"} {
			list = append(list, tool(verb+"_"+what, strings.ToUpper(verb[:1])+verb[1:]+"s a "+what+" by its id, and returns it as it is then.",
				func(id string) manager { return manager{Customer: id} }))
		}
	}
	return append(list, tool("get_calendar", "Returns the appointments of a day.", func(string) []string { return nil }))
}

type input struct {
	Of string `json:"of"`
}

// tool returns a tool with one argument, whose schemas are those of its types.
func tool[T any](name, description string, f func(string) T) tools.Tool {
	function := tools.Func(name, description, func(_ context.Context, in input) (T, error) { return f(in.Of), nil })
	return tools.Tool{
		Name: name, Description: description, InputSchema: function.Input, OutputSchema: function.Output,
		Invoke: func(ctx context.Context, c tools.Invocation) *tools.Answer {
			v, err := function.Call(ctx, codeinterp.FunctionCall{Name: name, Args: c.Args})
			if err != nil {
				return &tools.Answer{Failure: &tools.Failure{Code: tools.CodeInvalid, Message: err.Error()}, Text: err.Error()}
			}
			raw, _ := json.Marshal(v)
			return &tools.Answer{Text: string(raw), Data: raw}
		},
	}
}

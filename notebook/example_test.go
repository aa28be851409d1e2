package notebook_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/notebook"
	"github.com/toolcell/toolcell/providers/inmemory"
)

func ExampleRun() {
	const file = `{"nbformat": 4, "nbformat_minor": 5,
		"metadata": {"language_info": {"name": "javascript"}},
		"cells": [
			{"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Sums"},
			{"cell_type": "code", "id": "load", "metadata": {}, "source": "const n = [3, 1, 4]"},
			{"cell_type": "code", "id": "sum", "metadata": {}, "source": "n.reduce((a, b) => a + b)"}]}`
	nb, err := notebook.Decode([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	report, err := notebook.Run(context.Background(), ci, nb, nil)
	if err != nil {
		log.Fatal(err)
	}
	sum := nb.Cells[2]
	fmt.Println(report.OK(), report.Ran, sum.ExecutionCount, string(sum.Outputs[0].Data["text/plain"]))
	// Output: true 2 2 "8"
}

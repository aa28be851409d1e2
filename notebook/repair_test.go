package notebook_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/notebook"
)

// TestRepaired: a notebook that Python's own tools read is read, and written in a form
// that they find valid.
func TestRepaired(t *testing.T) {
	nb, err := notebook.Decode([]byte(`{"nbformat": 4, "nbformat_minor": 2, "metadata": {"papermill": {"duration": NaN, "text": "NaN -Infinity \" NaN"},
		"kernelspec": {"display_name": "Python 3"}, "language_info": 5}, "cells": [
		{"cell_type": "heading", "level": 2, "metadata": {}, "source": "Title"},
		{"cell_type": "code", "metadata": {}, "source": "1", "execution_count": null,
		 "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"application/json": [-Infinity, Infinity, -1]}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := nb.Cells[0]; got.Type != notebook.Markdown || got.Source != "## Title" {
		t.Errorf("%+v", got)
	}
	if got := string(nb.Cells[1].Outputs[0].Data["application/json"]); got != "[null, null, -1]" {
		t.Error(got)
	}
	b, err := nb.Encode()
	text := string(b)
	if err != nil || !strings.Contains(text, `"duration": null`) || !strings.Contains(text, `NaN -Infinity \" NaN`) ||
		!strings.Contains(text, `"name": "Python 3"`) || strings.Contains(text, "language_info") {
		t.Errorf("%v\n%s", err, text)
	}
}

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// shortened cuts list to what there is of live.
func shortened(list, live []codeinterp.Output) []codeinterp.Output {
	if len(live) > len(list) {
		return list
	}
	list = slices.Clone(list[:len(live)])
	if n := len(live) - 1; n >= 0 && isStream(live[n].Kind) && len(live[n].Data) < len(list[n].Data) {
		list[n].Data = list[n].Data[:len(live[n].Data)]
	}
	return list
}

func outputsWellFormed(w *watched, e *env) error {
	list := w.res.Outputs
	for i, o := range list {
		if err := wellFormed(o); err != nil {
			return fmt.Errorf("output %d, %s: %w", i, outputLine(o), err)
		}
		if i > 0 && isStream(o.Kind) && list[i-1].Kind == o.Kind && list[i-1].Late == o.Late && o.Dropped == 0 {
			return fmt.Errorf("outputs %d and %d are chunks of one stream, not joined", i-1, i)
		}
	}
	return nil
}

func wellFormed(o codeinterp.Output) error {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		if len(o.Data) == 0 {
			return errors.New("an empty chunk")
		}
		if len(o.Bundle) > 0 || o.Value != nil {
			return errors.New("a stream with a bundle or a value")
		}
	case codeinterp.Display, codeinterp.Value:
		if len(o.Bundle) == 0 || len(o.Data) > 0 {
			return errors.New("want a bundle and no Data")
		}
		if o.Update {
			return errors.New("an Update in a Result")
		}
		return bundleWellFormed(o)
	default:
		return fmt.Errorf("kind %v in a Result", o.Kind)
	}
	return nil
}

func bundleWellFormed(o codeinterp.Output) error {
	for _, rep := range o.Bundle {
		switch {
		case rep.MIME == "":
			return errors.New("a representation without a MIME type")
		case codeinterp.IsJSON(rep.MIME) && !json.Valid(rep.Data):
			return fmt.Errorf("%s is not JSON: %s", rep.MIME, quote(string(rep.Data)))
		case codeinterp.IsText(rep.MIME) && !utf8.Valid(rep.Data):
			return fmt.Errorf("%s is not UTF-8: %s", rep.MIME, quote(string(rep.Data)))
		}
	}
	if o.Value != nil && !json.Valid(o.Value) {
		return fmt.Errorf("the Value is not JSON: %s", quote(string(o.Value)))
	}
	if o.Metadata != nil && !json.Valid(o.Metadata) {
		return fmt.Errorf("the Metadata is not JSON: %s", quote(string(o.Metadata)))
	}
	return nil
}

// chunksEndWhole looks at the chunks of a stream whose text is valid as a whole.
func chunksEndWhole(w *watched, e *env) error {
	if w.size < 0 || w.size > keepLive {
		return nil
	}
	var all [2][]byte
	for _, o := range w.live {
		if isStream(o.Kind) {
			all[o.Kind-codeinterp.Stdout] = append(all[o.Kind-codeinterp.Stdout], o.Data...)
		}
	}
	valid := [2]bool{utf8.Valid(all[0]), utf8.Valid(all[1])}
	for _, o := range w.live {
		if isStream(o.Kind) && valid[o.Kind-codeinterp.Stdout] && !utf8.Valid(o.Data) {
			return fmt.Errorf("chunk %s of a stream that is valid UTF-8", quote(string(o.Data)))
		}
	}
	return nil
}

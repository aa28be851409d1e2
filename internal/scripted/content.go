package scripted

import "encoding/json"

// contentOf returns the words of content, which is a string or a list of parts,
// and how many images it has.
func contentOf(content json.RawMessage) (text string, images int) {
	if json.Unmarshal(content, &text) == nil {
		return text, 0
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "image", "image_url":
			images++
		}
	}
	return text, images
}

// reply takes in the answer to a call.
func (c *Conversation) reply(r Reply) {
	if n := len(c.Items); n > 0 && c.Items[n-1].Replies != nil {
		c.Items[n-1].Replies = append(c.Items[n-1].Replies, r)
		return
	}
	c.Items = append(c.Items, Item{Replies: []Reply{r}})
}

// pictures adds images to the last reply, if the conversation ends with one.
func (c *Conversation) pictures(n int) bool {
	if len(c.Items) == 0 || c.Items[len(c.Items)-1].Replies == nil {
		return false
	}
	replies := c.Items[len(c.Items)-1].Replies
	replies[len(replies)-1].Images += n
	return true
}

// answered refuses a conversation in which a call has no answer, or an answer
// no call: the one thing that every loop has to get right.
func (c *Conversation) answered() *refusal {
	open := map[string]bool{}
	for _, item := range c.Items {
		for _, r := range item.Replies {
			if !open[r.CallID] {
				return refuse("an answer to %q, which is no call of the turn before", r.CallID)
			}
			delete(open, r.CallID)
		}
		if item.Replies == nil && len(open) > 0 {
			break
		}
		if item.Turn != nil {
			for _, call := range item.Turn.Calls {
				open[call.ID] = true
			}
		}
	}
	for id := range open {
		return refuse("the call %q has no answer", id)
	}
	return nil
}

package server

import "testing"

// TestBaseURL takes an address as a browser shows it, for its server.
func TestBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:8888":                                            "http://h:8888/",
		"http://h:8888/?token=T":                                   "http://h:8888/",
		"http://h/lab?token=T":                                     "http://h/",
		"http://h/base/tree/":                                      "http://h/base/",
		"http://h/lab/tree/dir/a%20b.ipynb?token=T#x":              "http://h/",
		"http://h/user/ada/lab/tree/tree/x.ipynb":                  "http://h/user/ada/",
		"http://h/user/ada/lab/workspaces/auto-0/tree/x.ipynb":     "http://h/user/ada/",
		"http://h/user/tree/notebooks/x.ipynb":                     "http://h/user/tree/",
		"http://h/base/notebooks/x.ipynb?token=T&factory=Notebook": "http://h/base/",
		"http://h/doc/tree/RTC:x.ipynb":                            "http://h/",
		"http://h/tree/dir":                                        "http://h/",
		"http://h/edit/x.py":                                       "http://h/",
		"http://h/laboratory":                                      "http://h/laboratory/",
	} {
		u, token, err := baseURL(raw)
		if err != nil || u.String() != want || token != "" && token != "T" {
			t.Errorf("%s: %v, %q, %v; want %s", raw, u, token, err, want)
		}
	}
}

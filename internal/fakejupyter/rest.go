package fakejupyter

import (
	"encoding/json"
	"net/http"
	"strings"
)

// serve answers a request, by the HTTP hook or as a Jupyter server does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.HTTP != nil && s.HTTP(w, r) {
		return
	}
	base := "/" + strings.Trim(s.Base, "/")
	path, ok := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(base, "/")+"/")
	if !ok {
		Fail(w, 404, "Not Found")
		return
	}
	if s.Token != "" && r.Header.Get("Authorization") != "token "+s.Token {
		Fail(w, 403, "'_xsrf' argument missing from POST")
		return
	}
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	switch {
	case path == "api/kernelspecs":
		s.specs(w)
	case path == "api/kernels" && r.Method == http.MethodPost:
		s.start(w, r)
	case len(parts) >= 3 && parts[1] == "kernels":
		s.kernel(w, r, parts[2:])
	default:
		Fail(w, 404, "Not Found")
	}
}

// Fail answers with a status and a message, as Jupyter does.
func Fail(w http.ResponseWriter, status int, message string) {
	JSON(w, status, map[string]string{"message": message})
}

// JSON answers with a status and a value.
func JSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) specs(w http.ResponseWriter) {
	specs := map[string]any{}
	for name, language := range s.Specs {
		specs[name] = map[string]any{"name": name, "spec": map[string]any{
			"argv": []string{name}, "display_name": name, "language": language}}
	}
	JSON(w, 200, map[string]any{"default": "python3", "kernelspecs": specs})
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	var body struct{ Name string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	k := newKernel(s, body.Name)
	s.mu.Lock()
	s.kernels[k.ID] = k
	s.started = append(s.started, k)
	s.mu.Unlock()
	JSON(w, 201, k.model())
}

// kernel answers what concerns one kernel.
func (s *Server) kernel(w http.ResponseWriter, r *http.Request, parts []string) {
	s.mu.Lock()
	k := s.kernels[parts[0]]
	s.mu.Unlock()
	if k == nil {
		Fail(w, 404, "Kernel does not exist: "+parts[0])
		return
	}
	call := func(f func(*Kernel)) {
		if f != nil {
			f(k)
		}
	}
	switch {
	case len(parts) == 2 && parts[1] == "channels":
		k.serveSocket(w, r)
	case len(parts) == 2 && parts[1] == "interrupt":
		w.WriteHeader(204)
		call(s.Interrupt)
	case len(parts) == 2 && parts[1] == "restart":
		k.Replace()
		call(s.Restart)
		JSON(w, 200, k.model())
	case r.Method == http.MethodDelete:
		s.Remove(k)
		w.WriteHeader(204)
	default:
		JSON(w, 200, k.model())
	}
}

// Remove makes a kernel unknown, as culling does: without a word to its
// clients.
func (s *Server) Remove(k *Kernel) {
	s.mu.Lock()
	delete(s.kernels, k.ID)
	s.mu.Unlock()
	k.end()
}

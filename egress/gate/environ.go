package gate

import "strconv"

// Environ returns the environment variables by which common clients (curl, pip, uv, npm,
// git, Python, node, Go, Java's wrappers) find the proxy on 127.0.0.1 and the file of
// WriteBundle, if there is one.
func (g *Gate) Environ(proxyPort int) map[string]string {
	env := map[string]string{"NODE_USE_ENV_PROXY": "1"}
	set := func(value string, names ...string) {
		for _, name := range names {
			env[name] = value
		}
	}
	set("http://127.0.0.1:"+strconv.Itoa(proxyPort), "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
	set("localhost,127.0.0.1,::1", "NO_PROXY", "no_proxy")
	if g.bundle != "" {
		set(g.bundle, "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT", "npm_config_cafile", "UV_SYSTEM_CERTS_FILE")
	}
	return env
}

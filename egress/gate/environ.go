package gate

import "strconv"

// Environ returns the environment variables by which common clients (curl, pip, uv, npm,
// git, Python, node, Go, Java's wrappers) find the proxy on 127.0.0.1 and, if bundle is
// not empty, the file with the certificates to trust, as KEY=value.
func Environ(proxyPort int, bundle string) []string {
	proxy := "http://127.0.0.1:" + strconv.Itoa(proxyPort)
	var env []string
	for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, k+"="+proxy)
	}
	for _, k := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, k+"=localhost,127.0.0.1,::1")
	}
	env = append(env, "NODE_USE_ENV_PROXY=1")
	if bundle == "" {
		return env
	}
	for _, k := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT", "npm_config_cafile", "UV_SYSTEM_CERTS_FILE"} {
		env = append(env, k+"="+bundle)
	}
	return env
}

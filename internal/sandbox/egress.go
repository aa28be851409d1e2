package sandbox

import "github.com/toolcell/toolcell/internal/sandbox/netgate"

// An Egress answers what a program connects to; see [Cmd].
type Egress = netgate.Egress

// ProxyPort is the port on 127.0.0.1 on which programs with an Egress find a proxy.
const ProxyPort = netgate.ProxyPort

// Package environments makes Pythons, and directories of Node.js packages, that
// programs can read and not change.
//
//	env, err := environments.New(ctx, &environments.Options{Packages: []string{"pandas"}})
//	ci, err := subprocess.NewStateful(&subprocess.Options{Languages: subprocess.InEnvironment(env)})
//
// An environment is identified by what was requested and for which interpreter. The
// same request, in any process, returns the existing environment without the network.
// [Environment].Lock lists what is installed; with Options.Exact it makes the same
// environment again.
//
// Python packages are installed by uv, which is taken from PATH or else installed by
// the interpreter's pip into Root. Node.js packages are installed by npm.
// Both are configured as usual: by variables that begin with PIP_, UV_ or npm_config_,
// those of proxies and certificates, and by pip.conf, uv.toml and .npmrc. An index that
// only pip is configured with is used by uv too.
//
// # Security
//
//   - Installers run in a sandbox, where one works: they read the system's files, the
//     interpreter and their own settings, change a directory of their own, and use the
//     host's network. They read nothing else of the home. On a root host they run as a
//     user of their own.
//   - Only wheels are installed, without build or install scripts, so no code of a
//     package runs before a program imports it. The host itself starts the interpreter
//     that an environment was made with, and never the environment's own.
//
// # Limits
//
//   - Each installation downloads its packages: nothing is shared between environments.
//   - Disk is measured some times a second and can be exceeded in between.
//   - Windows is not supported.
package environments

// Package scripted is a language model that follows a script, and copies of
// two vendors' APIs to reach it through. The examples run with it where there
// is no key, and the tests of whatever talks to a model run against it.
//
// A [Model] gets a [Conversation] and returns the next [Turn]. [Script] is the
// one that the examples use: it works on a few tasks ([Tasks]), reads what the
// tools reply as a real model would, and reacts to it: to its own slip in an
// argument, to an exception, to a timeout.
//
// [Handler] serves any Model as OpenAI's Chat Completions and as Anthropic's
// Messages, streamed or whole. It is strict: a request that the vendor would
// refuse by its published rules is refused here with the same status and in
// the same form. [Client] is an http.Client that talks to a Handler without a
// network.
package scripted

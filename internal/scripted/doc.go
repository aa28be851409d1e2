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
// Messages, streamed or whole. It reads what a script has to know, and refuses a
// conversation in which a call has no answer; examples/sdks proves by the vendors'
// own types that requests are what the APIs take. [Client] is an http.Client that
// talks to a Handler without a network.
package scripted

// Package tools turns an interpreter into tools that a language model can call, for any LLM
// SDK.
//
//	list, err := tools.ForCode("demo", ci, nil)
//	set, err := tools.NewSet(list, nil)
//	definitions, err := format.OpenAIChat{}.Tools(list)
//	...
//	turn, err := format.OpenAIChat{}.Turn(ctx, set, reply, nil)
//
// Package format has the whole loop of an agent. Programs that decode calls themselves pass
// them to [Set.Dispatch], or those of a turn to [Set.DispatchAll], which runs them in
// parallel and keeps the calls in one context in order.
//
// The tools depend on what the interpreter can do: run_code always; create_code_context,
// run_in_code_context and delete_code_context if it keeps state; on request
// list_code_contexts, restart_code_context and interrupt_code_context if it is a
// [codeinterp.ContextManager], fork_code_context if it is a [codeinterp.ContextForker], and
// read_output. [ForFiles] makes read_file, write_file, edit_file, list_files, glob, grep
// and remove_file for a directory, [ForShell] run_command for a shell, and on request
// start_command, command_output, command_input, stop_command and list_commands.
//
// [Func] and [Tool.Function] make functions that programs call, of Go functions and of
// tools. [Options.Functions] gives them to the programs of a model.
//
// # Arguments
//
// A call of this package's tools is checked completely before anything runs, and all its
// faults are reported together, with what to do about them. What has only one meaning is
// accepted, such as "1000" for an integer or "py" for python; everything else is refused.
//
// # Answers
//
// An [Answer] holds what the model gets: a text of bounded size, and images. Terminal
// control sequences are removed, progress bars collapsed, secrets scrubbed, and long output
// is cut in the middle, with a count of what is missing. Answer.JSON is the same in JSON;
// Answer.Result is the whole Result.
//
// A call that fails, other than by the program's own doing, is answered with {"error":
// {"code": ..., "message": ...}}; the message says what to do next.
//
// Every call runs. [SetOptions.RememberFor] makes a Set answer a call that a transport
// repeats within one turn from memory; [Answer.Remembered], an event and a span say so.
//
// # Security
//
//   - Output of programs is untrusted. Lines of it that look like the headings and notes of
//     an answer have a backslash in front. It is not protected against text that argues
//     with the model.
//   - Contents of files, of read_output and of command_output are not changed, except for
//     secrets: an edit needs them to the byte. The first line of such an answer is ours, no
//     other.
//   - Secrets are found as they are registered and in base64, URL-encoded and escaped
//     forms, across chunks, cuts and pages; not in other encodings, divided among
//     streams or runs, or in images.
package tools

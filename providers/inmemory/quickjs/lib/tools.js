// What programs can call of the host. See calls.go.
(function (host) {
  "use strict";

  // A ToolError is what a call fails with: tool is the function's name.
  class ToolError extends Error {
    constructor(tool, message) {
      super(`${tool}: ${message}`);
      this.tool = tool;
    }
  }
  Object.defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true });

  // failure is the error of a call with the rest of its stack.
  const failure = (tool, message, frames) => {
    const e = new ToolError(tool, message);
    e.stack = `ToolError: ${e.message}${frames}`;
    return e;
  };

  // make returns an object with a function for each of the names.
  const make = (names) => {
    const tools = {};
    for (const name of names.split(",")) {
      const value = { [name]: (args) => host.callTool(name, args) }[name];
      Object.defineProperty(tools, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return tools;
  };
  return { make, failure, ToolError };
});

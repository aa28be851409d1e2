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

  // offer returns the one object with a function for each of the names, whatever an
  // earlier program did to it.
  const { ownKeys, defineProperty, deleteProperty } = Reflect;
  const tools = {};
  let stubs = { __proto__: null };
  const offer = (names) => {
    const before = stubs;
    stubs = { __proto__: null };
    for (const name of names ? names.split(",") : []) {
      stubs[name] = before[name] ?? { [name]: (args) => host.callTool(name, args) }[name];
    }
    for (const name of ownKeys(tools)) if (!(name in stubs)) deleteProperty(tools, name);
    for (const name of ownKeys(stubs)) defineProperty(tools, name, { __proto__: null, value: stubs[name], writable: true, enumerable: true, configurable: true });
    return tools;
  };
  return { offer, failure, ToolError };
});

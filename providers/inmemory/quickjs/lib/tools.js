// What programs can call of the host. See calls.go.
(function (host) {
  "use strict";
  const { parse, stringify } = JSON;
  const PromiseOf = Promise;

  // A ToolError is what a call fails with: tool is the function's name.
  class ToolError extends Error {
    constructor(tool, message) {
      super(`${tool}: ${message}`);
      this.tool = tool;
    }
  }
  Object.defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true });

  const call = (name, args) => new PromiseOf((resolve, reject) => {
    host.callTool(name, args === undefined ? "{}" : stringify(args), (ok, text) => {
      try {
        if (ok) resolve(parse(text));
        else reject(new ToolError(name, text));
      } catch (e) {
        reject(e);
      }
    });
  });

  // make returns an object with a function for each of the names.
  const make = (names) => {
    const tools = { __proto__: null };
    for (const name of names.split(",")) tools[name] = { [name]: (args) => call(name, args) }[name];
    return tools;
  };
  return { make, ToolError };
});

// Functions of the host: what a program calls them by, and their answers.

// A ToolError is what a call fails with: tool is the function's name.
class ToolError extends Error {
  constructor(tool, message) {
    super(`${tool}: ${message}`);
    this.tool = tool;
  }
}
Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError', writable: true, configurable: true });

const tools = {}, stubs = {}; // what programs have, and what it is made of
const calls = new Map(); // open ones of the run in progress, by number
let lastCall = 0;

// What a run started keeps the run's number, across awaits and callbacks. That
// makes each await slower, so it begins with the first functions or the second run;
// early tells that no program has run before that.
let runOf = null, early = false;
const within = (f) => (runOf ? runOf.run(seq, f) : f());

// isLeft tells whether what runs here was left behind by an earlier run.
function isLeft() {
  if (once) return false;
  const of = runOf.getStore();
  return of === undefined ? !early : of !== seq;
}

// offer makes the functions known, in place of those that were before. What
// a program has put in place of tools stays.
function offer(names) {
  if (names.length && !runOf && !once) {
    runOf = new AsyncLocalStorage();
    early = cell === 0;
  }
  for (const name of Object.keys(stubs)) delete stubs[name];
  for (const name of names) {
    const stub = { [name]: (args) => call(name, args, stub) }[name];
    Object.defineProperty(stubs, name, { value: stub, enumerable: true, writable: true, configurable: true });
  }
  renew();
  for (const [name, v] of [['tools', tools], ['ToolError', ToolError]]) {
    const own = Object.getOwnPropertyDescriptor(globalThis, name);
    if (names.length && !own) hidden(name, v);
    else if (!names.length && own?.value === v) delete globalThis[name];
  }
}

// renew undoes what an earlier program did to the functions, unless it took measures
// against that.
function renew() {
  for (const name of Reflect.ownKeys(tools)) if (!Object.hasOwn(stubs, name)) Reflect.deleteProperty(tools, name);
  for (const name of Object.keys(stubs)) {
    Reflect.defineProperty(tools, name, { value: stubs[name], enumerable: true, writable: true, configurable: true });
  }
}

function call(name, args, stub) {
  const at = {};
  Error.captureStackTrace(at, stub);
  if (current?.leaving) return new Promise(() => {}); // nothing of the program runs any more
  return new Promise((resolve, reject) => {
    const fail = (message) => reject(failure(name, message, at));
    if (!current || current.stopping || isLeft()) return fail('the run has ended');
    if (calls.size >= MAX_CALLS) return fail(`more than ${MAX_CALLS} calls at once`);
    const text = stringify(args === undefined ? {} : args);
    if (text === undefined) throw new TypeError(`the arguments of tools.${name} must be one object`);
    const json = Buffer.from(text);
    if (json.length > MAX_ARGS) return fail(`the arguments have ${json.length} bytes; ${MAX_ARGS} are the limit`);
    const id = String(++lastCall);
    if (calls.size === 0) socket.ref(); // the run waits for the answer
    calls.set(id, { resolve, fail });
    send('Q', seq, id, name, json);
  });
}

function failure(name, message, at) {
  const e = new ToolError(name, message);
  e.stack = [`ToolError: ${e.message}`, ...String(at.stack).split('\n').filter((l) => /^\s+at /.test(l))].join('\n');
  return e;
}

// answer settles a call of the run in progress; any other is over.
function answer(id, how, data) {
  const c = calls.get(id);
  if (!c || !current || current.stopping) return;
  calls.delete(id);
  if (calls.size === 0) socket.unref();
  if (how === 'ok') c.resolve(parse(data));
  else c.fail(data);
}

// The driver: turns a program's values into text. It runs in a realm of its
// own, so its built-ins are not the program's; see driver.go for the rules.
// It must not hand any of its own objects to code of the program.
// Here: what is known of a value without running code of the program.

const { classOf, proxyTarget, promise, functionKind, mapStack, customInspect, entries, numberText } = host;
const CUSTOM = Symbol.for("nodejs.util.inspect.custom");

// Class numbers of the engine.
const ARRAY = 2, ERROR = 3, NUMBER = 4, STRING = 5, BOOLEAN = 6, SYMBOL = 7, ARGUMENTS = 8, MAPPED_ARGUMENTS = 9,
  DATE = 10, MODULE = 11, REGEXP = 18, ARRAY_BUFFER = 19, SHARED_ARRAY_BUFFER = 20, DATAVIEW = 33, BIGINT = 34,
  MAP = 35, SET = 36, WEAKMAP = 37, WEAKSET = 38, MAP_ITERATOR = 43, SET_ITERATOR = 44, GENERATOR = 48,
  PROXY = 51, PROMISE = 52, ASYNC_GENERATOR = 60, WEAK_REF = 61;

// Taken while the prototypes are as the engine made them; a value's own properties of
// these names are the program's.
const typedArrayProto = Object.getPrototypeOf(Uint8Array.prototype);
const typedName = Object.getOwnPropertyDescriptor(typedArrayProto, Symbol.toStringTag).get;
const typedLength = Object.getOwnPropertyDescriptor(typedArrayProto, "length").get;
const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
const setSize = Object.getOwnPropertyDescriptor(Set.prototype, "size").get;
const bufferLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
const viewParts = {};
for (const k of ["byteLength", "byteOffset", "buffer"]) viewParts[k] = Object.getOwnPropertyDescriptor(DataView.prototype, k).get;
const describe = Object.getOwnPropertyDescriptor(Symbol.prototype, "description").get;
const call = (f, self, ...args) => Reflect.apply(f, self, args);
// own returns the value of an own data property. It never runs a getter.
const own = (o, key) => {
  const d = Object.getOwnPropertyDescriptor(o, key);
  return d === undefined ? undefined : d.value;
};

// inherited returns the first data property of that name up the chain.
function inherited(o, key) {
  for (let i = 0; o !== null && o !== undefined && i < 1000; i++) {
    // A proxy's traps are code of the program. Chains can be as long as a program likes.
    if (classOf(o) === PROXY) return undefined;
    const d = Object.getOwnPropertyDescriptor(o, key);
    if (d !== undefined) return d.value;
    o = Object.getPrototypeOf(o);
  }
  return undefined;
}

// isOf is instanceof, without code of the program.
function isOf(o, constructor) {
  const proto = own(constructor, "prototype");
  for (let p = Object.getPrototypeOf(o), i = 0; p !== null && i < 1000; i++) {
    if (p === proto) return true;
    if (classOf(p) === PROXY) return false;
    p = Object.getPrototypeOf(p);
  }
  return false;
}

function constructorName(o) {
  for (let p = o, i = 0; p !== null && i < 1000; i++) {
    if (classOf(p) === PROXY) return "Object";
    const d = Object.getOwnPropertyDescriptor(p, "constructor");
    if (d !== undefined && typeof d.value === "function" && classOf(d.value) !== PROXY && isOf(o, d.value)) {
      const name = own(d.value, "name");
      if (typeof name === "string" && name !== "") return name;
    }
    p = Object.getPrototypeOf(p);
  }
  return null;
}

function keysOf(v, arrayLike) {
  const list = [];
  for (const k of Reflect.ownKeys(v)) {
    // An array's indices end there: what is larger is a name like others.
    if (arrayLike && typeof k === "string" && /^(0|[1-9]\d*)$/.test(k) && +k < 2 ** 32 - 1) continue;
    const d = Object.getOwnPropertyDescriptor(v, k);
    if (d !== undefined && d.enumerable) list.push(k);
  }
  return list;
}

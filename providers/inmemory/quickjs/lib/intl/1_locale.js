// What all of Intl shares: the one locale there is, and how options are read.
// ECMA-402 lets an implementation fall back to its default locale; this one
// refuses, since a text in the wrong format looks like a right one.

const LOCALE = "en-US";

// checkLocales takes what callers pass for a locale.
function checkLocales(locales) {
  if (locales === undefined) return LOCALE;
  for (const tag of typeof locales === "string" ? [locales] : Array.from(locales, (l) => `${l}`)) {
    if (!/^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$/.test(tag)) throw new RangeError(`Incorrect locale information provided`);
    if (/^en(-latn)?(-us)?$/i.test(tag)) return LOCALE;
    throw new RangeError(`locale ${tag} is not available in this engine: only en-US is`);
  }
  return LOCALE;
}

const supported = (locales = []) => (typeof locales === "string" ? [locales] : Array.from(locales)).filter((l) => /^en(-latn)?(-us)?$/i.test(l));

// option reads one of a list of values, the first being the default where
// fallback is not given.
function option(options, name, values, fallback = values[0]) {
  const v = options[name];
  if (v === undefined) return fallback;
  const s = typeof v === "boolean" ? v : `${v}`;
  if (!values.includes(s)) throw new RangeError(`Value ${s} out of range for Intl options property ${name}, or not available in this engine`);
  return s;
}

function digitsOption(options, name, min, max) {
  const v = options[name];
  if (v === undefined) return undefined;
  const n = Number(v);
  if (!(n >= min && n <= max)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(n);
}

// refuse throws for options that would change the text in a way that this
// engine cannot.
function refuse(options, ...names) {
  for (const name of names) {
    if (options[name] !== undefined) throw new RangeError(`option ${name} is not available in this engine`);
  }
}

function optionsOf(options) {
  if (options === undefined) return {};
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  return Object(options);
}

const join = (parts) => parts.map((p) => p.value).join("");

// define makes a class of Intl with what all of them have.
function define(name, type) {
  Object.defineProperty(type, "supportedLocalesOf", { value: supported, writable: true, configurable: true });
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  const callable = name === "NumberFormat" || name === "DateTimeFormat" || name === "Collator";
  if (!callable) return type;
  // These three may be called without new.
  return new Proxy(type, { apply: (f, self, args) => new type(...args) });
}

const exports = {};

// The small formats of Intl: plurals, lists and relative times, in English.

const ordinalOf = (n) => {
  const ten = n % 10, hundred = n % 100;
  if (ten === 1 && hundred !== 11) return "one";
  if (ten === 2 && hundred !== 12) return "two";
  return ten === 3 && hundred !== 13 ? "few" : "other";
};

class PluralRules {
  #type; #numbers; #options;
  constructor(locales, options) {
    checkLocales(locales);
    this.#options = optionsOf(options);
    this.#type = option(this.#options, "type", ["cardinal", "ordinal"]);
    this.#numbers = new NumberFormat(LOCALE, { ...this.#options, style: "decimal", useGrouping: false, signDisplay: "never" });
  }
  select(n) {
    const text = this.#numbers.format(Number(n));
    if (this.#type === "ordinal") return /^\d+$/.test(text) ? ordinalOf(Number(text)) : "other";
    return text === "1" ? "one" : "other";
  }
  resolvedOptions() {
    return { locale: LOCALE, type: this.#type, ...this.#numbers.resolvedOptions(), pluralCategories: this.#type === "ordinal" ? ["few", "one", "two", "other"] : ["one", "other"] };
  }
}

class ListFormat {
  #type; #style;
  constructor(locales, options) {
    checkLocales(locales);
    const o = optionsOf(options);
    this.#type = option(o, "type", ["conjunction", "disjunction", "unit"]);
    this.#style = option(o, "style", ["long", "short", "narrow"]);
  }
  formatToParts(list) {
    const items = Array.from(list, (s) => {
      if (typeof s !== "string") throw new TypeError("Iterable yielded a non-String value");
      return s;
    });
    const unit = this.#type === "unit", narrow = this.#style === "narrow";
    const word = unit ? "" : this.#type === "disjunction" ? "or" : this.#style === "long" ? "and" : narrow ? "" : "&";
    const middle = unit && narrow ? " " : ", ";
    const last = word === "" ? middle : `, ${word} `, pair = word === "" ? middle : ` ${word} `;
    const parts = [];
    items.forEach((value, i) => {
      if (i > 0) parts.push({ type: "literal", value: items.length === 2 ? pair : i === items.length - 1 ? last : middle });
      parts.push({ type: "element", value });
    });
    return parts;
  }
  format(list) { return join(this.formatToParts(list)); }
  resolvedOptions() { return { locale: LOCALE, type: this.#type, style: this.#style }; }
}

const shortUnits = { second: ["sec.", "sec."], minute: ["min.", "min."], hour: ["hr.", "hr."], day: ["day", "days"], week: ["wk.", "wk."],
  month: ["mo.", "mo."], quarter: ["qtr.", "qtrs."], year: ["yr.", "yr."] };
const narrowUnits = { second: "s", minute: "m", hour: "h", day: "d", week: "w", month: "mo", quarter: "q", year: "y" };
const nearby = { second: [, "now", ,], minute: [, "this minute", ,], hour: [, "this hour", ,], day: ["yesterday", "today", "tomorrow"] };

class RelativeTimeFormat {
  #style; #numeric; #numbers = new NumberFormat(LOCALE);
  constructor(locales, options) {
    checkLocales(locales);
    const o = optionsOf(options);
    refuse(o, "numberingSystem");
    this.#style = option(o, "style", ["long", "short", "narrow"]);
    this.#numeric = option(o, "numeric", ["always", "auto"]);
  }
  format(value, unit) {
    const u = `${unit}`.replace(/s$/, "");
    if (!Object.hasOwn(shortUnits, u)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    const n = Number(value);
    if (!Number.isFinite(n)) throw new RangeError("Invalid time value");
    const names = { long: u, short: shortUnits[u][0], narrow: shortUnits[u][0] };
    if (this.#numeric === "auto" && (n === 0 || Math.abs(n) === 1)) {
      const near = nearby[u] !== undefined ? nearby[u][Math.sign(n) + 1] : `${["last", "this", "next"][Math.sign(n) + 1]} ${names[this.#style]}`;
      if (near !== undefined && !(u === "second" && n !== 0)) return near;
    }
    const text = this.#numbers.format(Math.abs(n)), past = n < 0 || Object.is(n, -0);
    const amount = this.#style === "narrow" ? `${text}${narrowUnits[u]}` : this.#style === "short" ? `${text} ${shortUnits[u][text === "1" ? 0 : 1]}` : `${text} ${u}${text === "1" ? "" : "s"}`;
    return past ? `${amount} ago` : `in ${amount}`;
  }
  resolvedOptions() { return { locale: LOCALE, style: this.#style, numeric: this.#numeric, numberingSystem: "latn" }; }
}

exports.Intl = Object.defineProperty({}, Symbol.toStringTag, { value: "Intl", configurable: true });
for (const [name, type] of Object.entries({ NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat })) {
  Object.defineProperty(exports.Intl, name, { value: define(name, type), writable: true, configurable: true });
}
Object.defineProperty(exports.Intl, "getCanonicalLocales", { writable: true, configurable: true,
  value: (locales = []) => (typeof locales === "string" ? [locales] : Array.from(locales)).map((l) => { checkLocales(l); return LOCALE; }) });

return exports;

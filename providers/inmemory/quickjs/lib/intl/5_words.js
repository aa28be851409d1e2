// Plurals in English, and what Intl has.

const ordinalOf = (n) => {
  const ten = n % 10, hundred = n % 100;
  if (ten === 1 && hundred !== 11) return "one";
  if (ten === 2 && hundred !== 12) return "two";
  return ten === 3 && hundred !== 13 ? "few" : "other";
};

class PluralRules {
  #type;
  constructor(locales, options) {
    checkLocales(locales);
    const o = optionsOf(options);
    refuse(o, ...Object.keys(o).filter((k) => /Digits$/.test(k)));
    this.#type = option(o, "type", ["cardinal", "ordinal"]);
  }
  select(n) {
    n = Math.abs(Number(n));
    if (this.#type === "cardinal") return n === 1 ? "one" : "other";
    return Number.isInteger(n) ? ordinalOf(n) : "other";
  }
}

exports.Intl = Object.defineProperty({}, Symbol.toStringTag, { value: "Intl", configurable: true });
for (const [name, type] of Object.entries({ NumberFormat, DateTimeFormat, Collator, PluralRules })) {
  Object.defineProperty(exports.Intl, name, { value: define(name, type), writable: true, configurable: true });
}

return exports;

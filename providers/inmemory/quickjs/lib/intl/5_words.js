// Plurals in English, and what Intl has.

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

exports.Intl = Object.defineProperty({}, Symbol.toStringTag, { value: "Intl", configurable: true });
for (const [name, type] of Object.entries({ NumberFormat, DateTimeFormat, Collator, PluralRules })) {
  Object.defineProperty(exports.Intl, name, { value: define(name, type), writable: true, configurable: true });
}
Object.defineProperty(exports.Intl, "getCanonicalLocales", { writable: true, configurable: true,
  value: (locales = []) => (typeof locales === "string" ? [locales] : Array.from(locales)).map((l) => { checkLocales(l); return LOCALE; }) });

return exports;

// Intl.NumberFormat. Numbers are rounded in decimal, from the digits that
// String(x) shows, as ICU does: 1.005 is 1.01 to two places.

const symbols = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩", CAD: "CA$", AUD: "A$", NZD: "NZ$",
  MXN: "MX$", BRL: "R$", HKD: "HK$", TWD: "NT$", ILS: "₪", VND: "₫", PHP: "₱", XAF: "FCFA", XOF: "F\u202fCFA", XPF: "CFPF", XCD: "EC$" };
const narrow = { ...symbols, CAD: "$", AUD: "$", NZD: "$", MXN: "$", HKD: "$", TWD: "$", CNY: "¥", XCD: "$", SEK: "kr", NOK: "kr", DKK: "kr",
  RUB: "₽", UAH: "₴", TRY: "₺", PLN: "zł", CZK: "Kč", HUF: "Ft", NGN: "₦", SGD: "$", ARS: "$", CLP: "$", COP: "$", THB: "฿", KZT: "₸" };
// minorUnits are ISO 4217's, where they are not 2.
const minorUnits = { JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, UGX: 0, XAF: 0, XOF: 0, XPF: 0, PYG: 0, RWF: 0, DJF: 0, GNF: 0, KMF: 0, VUV: 0, BIF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4 };

// A decimal is {negative, digits, point}: 0.digits times ten to the point.
function decimal(x) {
  let s = typeof x === "bigint" ? x.toString() : Object.is(x, -0) ? "-0" : String(x);
  const negative = s.startsWith("-");
  if (negative) s = s.slice(1);
  const [mantissa, exponent = "0"] = s.split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const all = whole + fraction;
  const digits = all.replace(/^0+/, "");
  return trim({ negative, digits, point: whole.length + Number(exponent) - (all.length - digits.length) });
}

function trim(d) {
  const digits = d.digits.replace(/0+$/, "");
  return { negative: d.negative, digits, point: digits === "" ? 0 : d.point };
}

// keep rounds a decimal to n digits, half away from zero.
function keep(d, n) {
  if (n >= d.digits.length) return d;
  if (n < 0) return trim({ ...d, digits: "" });
  const head = d.digits.slice(0, n);
  if (d.digits[n] < "5") return trim({ ...d, digits: head });
  const grown = (BigInt("0" + head) + 1n).toString().padStart(n, "0");
  return trim({ ...d, digits: grown, point: d.point + (grown.length - n) });
}

const compactSuffixes = [["", ""], ["K", " thousand"], ["M", " million"], ["B", " billion"], ["T", " trillion"]];

function numberOptions(options) {
  refuse(options, "numberingSystem", "roundingIncrement", "roundingPriority", "roundingMode", "trailingZeroDisplay", "currencySign");
  const o = { style: option(options, "style", ["decimal", "percent", "currency"]) };
  if (options.currency !== undefined && !/^[A-Za-z]{3}$/.test(options.currency)) throw new RangeError(`Invalid currency code : ${options.currency}`);
  if (o.style === "currency") {
    if (options.currency === undefined) throw new TypeError("Currency code is required with currency style.");
    o.currency = options.currency.toUpperCase();
    o.currencyDisplay = option(options, "currencyDisplay", ["symbol", "narrowSymbol", "code"]);
  }
  o.notation = option(options, "notation", ["standard", "compact"]);
  if (o.notation === "compact") o.compactDisplay = option(options, "compactDisplay", ["short", "long"]);
  o.signDisplay = option(options, "signDisplay", ["auto", "never", "always", "exceptZero", "negative"]);
  const grouping = options.useGrouping;
  o.useGrouping = grouping === undefined ? (o.notation === "compact" ? "min2" : "auto") : grouping === true || grouping === "true" || grouping === "false" ? "always"
    : grouping === false || grouping === null || grouping === "" ? false : option(options, "useGrouping", ["auto", "always", "min2"]);
  numberDigits(o, options);
  return o;
}
function numberDigits(o, options) {
  o.minimumIntegerDigits = digitsOption(options, "minimumIntegerDigits", 1, 21) ?? 1;
  const minS = digitsOption(options, "minimumSignificantDigits", 1, 21);
  const maxS = digitsOption(options, "maximumSignificantDigits", minS ?? 1, 21);
  if (minS !== undefined || maxS !== undefined) {
    o.minimumSignificantDigits = minS ?? 1;
    o.maximumSignificantDigits = maxS ?? 21;
    return;
  }
  const cents = o.style === "currency" && o.notation === "standard" ? minorUnits[o.currency] ?? 2 : 0;
  let min = digitsOption(options, "minimumFractionDigits", 0, 100), max = digitsOption(options, "maximumFractionDigits", 0, 100);
  if (min === undefined && max === undefined && o.notation === "compact") {
    o.compactRounding = true;
    return;
  }
  const usual = o.style === "currency" && o.notation === "standard" ? cents : o.style === "percent" ? 0 : o.notation === "compact" ? 0 : 3;
  if (min !== undefined && max !== undefined && min > max) throw new RangeError("maximumFractionDigits value is out of range.");
  min ??= max === undefined ? cents : Math.min(cents, max);
  max ??= Math.max(usual, min);
  o.minimumFractionDigits = min;
  o.maximumFractionDigits = max;
}
class NumberFormat {
  #o; #bound;
  constructor(locales, options) {
    checkLocales(locales);
    this.#o = numberOptions(optionsOf(options));
  }
  // round rounds and returns the digits before and behind the point.
  #round(d) {
    const o = this.#o;
    let min = o.minimumFractionDigits ?? 0;
    if (o.maximumSignificantDigits !== undefined) {
      d = keep(d, o.maximumSignificantDigits);
      min = Math.max(0, o.minimumSignificantDigits - (d.digits === "" ? 1 : d.point));
    } else if (o.compactRounding) {
      d = keep(d, d.point >= 2 ? d.point : d.digits === "" ? 0 : 2);
    } else d = keep(d, d.point + o.maximumFractionDigits);
    const whole = d.point > 0 ? d.digits.slice(0, d.point).padEnd(d.point, "0") : "";
    const fraction = d.point > 0 ? d.digits.slice(d.point) : d.digits === "" ? "" : "0".repeat(-d.point) + d.digits;
    return { d, whole: whole.padStart(o.minimumIntegerDigits, "0"), fraction: fraction.padEnd(min, "0") };
  }
  #group(parts, whole) {
    const use = this.#o.useGrouping;
    if (use === false || whole.length <= 3 || use === "min2" && whole.length < 5) {
      parts.push({ type: "integer", value: whole });
      return;
    }
    const first = whole.length % 3 || 3;
    parts.push({ type: "integer", value: whole.slice(0, first) });
    for (let i = first; i < whole.length; i += 3) parts.push({ type: "group", value: "," }, { type: "integer", value: whole.slice(i, i + 3) });
  }
  // #digits returns the parts of the number itself, without sign and style.
  #digits(d) {
    const o = this.#o, parts = [];
    let exponent = 0;
    const scale = (x) => o.notation === "compact" ? Math.max(0, Math.min(4, Math.floor((x.point - 1) / 3))) * 3 : 0;
    if (d.digits !== "") exponent = scale(d);
    let r = this.#round({ ...d, point: d.point - exponent });
    if (d.digits !== "" && r.d.digits !== "") {
      const again = scale({ ...r.d, point: r.d.point + exponent });
      if (again !== exponent) {
        exponent = again;
        r = this.#round({ ...d, point: d.point - exponent });
      }
    }
    this.#group(parts, r.whole);
    if (r.fraction !== "") parts.push({ type: "decimal", value: "." }, { type: "fraction", value: r.fraction });
    if (o.notation === "compact" && exponent > 0) {
      const suffix = compactSuffixes[exponent / 3][o.compactDisplay === "long" ? 1 : 0];
      if (suffix.startsWith(" ")) parts.push({ type: "literal", value: " " });
      parts.push({ type: "compact", value: suffix.trim() });
    }
    return { parts, zero: r.d.digits === "" };
  }
  #parts(x) {
    const o = this.#o;
    if (typeof x !== "bigint") x = typeof x === "string" && /^\s*[+-]?\d{16,}\s*$/.test(x) ? BigInt(x) : Number(x);
    let negative = false, body, zero = false;
    if (typeof x === "number" && !Number.isFinite(x)) {
      negative = x < 0;
      body = [Number.isNaN(x) ? { type: "nan", value: "NaN" } : { type: "infinity", value: "∞" }];
    } else {
      const d = decimal(x);
      if (o.style === "percent" && d.digits !== "") d.point += 2;
      negative = d.negative;
      ({ parts: body, zero } = this.#digits(d));
    }
    const always = o.signDisplay === "always" || o.signDisplay === "exceptZero" && !zero && !Number.isNaN(x);
    const minus = negative && o.signDisplay !== "never" && !(zero && (o.signDisplay === "exceptZero" || o.signDisplay === "negative"));
    const sign = minus ? [{ type: "minusSign", value: "-" }] : always && !negative ? [{ type: "plusSign", value: "+" }] : [];
    return this.#styled(sign, body);
  }
  #styled(sign, body) {
    const o = this.#o;
    if (o.style === "percent") return [...sign, ...body, { type: "percentSign", value: "%" }];
    if (o.style !== "currency") return [...sign, ...body];
    const symbol = o.currencyDisplay === "code" ? o.currency : (o.currencyDisplay === "narrowSymbol" ? narrow : symbols)[o.currency] ?? o.currency;
    const gap = /[A-Za-z]$/.test(symbol) ? [{ type: "literal", value: "\u00a0" }] : [];
    const money = [{ type: "currency", value: symbol }, ...gap, ...body];
    return [...sign, ...money];
  }
  get format() { return (this.#bound ??= (x) => join(this.#parts(x))); }
  formatToParts(x) { return this.#parts(x); }
  formatRange(start, end) {
    const { style, notation, currencyDisplay } = this.#o;
    if (Number.isNaN(Number(start)) || Number.isNaN(Number(end))) throw new RangeError("Invalid range");
    const from = this.format(start), to = this.format(end);
    if (notation !== "standard" || style === "currency" && currencyDisplay !== "symbol" || style !== "decimal" && start < 0 && end < 0) refuse({ formatRange: 1 }, "formatRange");
    return from === to ? `~${from}` : `${from}${/[^\d.,]/.test(from + to) ? " – " : "–"}${to}`;
  }
  resolvedOptions() {
    const { compactRounding, ...o } = this.#o;
    return { locale: LOCALE, numberingSystem: "latn", ...(compactRounding ? { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2 } : {}), ...o };
  }
}

const plain = new NumberFormat();
exports.numberToLocaleString = function (locales, options) {
  return (locales === undefined && options === undefined ? plain : new NumberFormat(locales, options)).format(Number.prototype.valueOf.call(this));
};
exports.bigintToLocaleString = function (locales, options) {
  return new NumberFormat(locales, options).format(BigInt.prototype.valueOf.call(this));
};

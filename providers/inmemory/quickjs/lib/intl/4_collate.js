// Intl.Collator and String.prototype.localeCompare: the order of CLDR's root
// for ASCII and Latin letters; other scripts come behind them, in the order of
// their code points. Levels: base letters, then accents, then case.

const ORDER = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
const weights = new Uint16Array(128);
for (let i = 0; i < ORDER.length; i++) weights[ORDER.charCodeAt(i)] = i + 1;
for (let i = 0; i < 26; i++) weights[97 + i] = weights[65 + i] = 100 + i * 4;
const DIGIT = weights[48], LETTER = 100;
const accents = "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0338\u0307\u0328\u0327\u0304";
const STROKE = accents.indexOf("\u0338") + 2;
// Letters without a decomposition, as base letters and an accent.
const special = { "ß": ["ss", 1], "æ": ["ae", 2], "œ": ["oe", 2], "ø": ["o", STROKE], "đ": ["d", 40], "ł": ["l", 40], "ħ": ["h", 40], "ð": ["d", 41],
  "ŧ": ["t", 40], "ı": ["i", 40], "ĳ": ["ij", 1], "ŀ": ["l·", 1], "ª": ["a", 1], "º": ["o", 1], "ĸ": ["q", 41], "ŋ": ["n", 41], "ŉ": ["'n", 1], "ſ": ["s", 1] };
const ASCII = /^[\t-\r -~]*$/;

// key returns what is compared at the three levels.
function key(s, numeric) {
  const base = [], marks = [], cases = [];
  const add = (w, mark, upper) => { base.push(w); marks.push(mark); cases.push(upper); };
  const text = ASCII.test(s) ? s : s.normalize("NFD");
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i);
    if (code > 0xffff) i++;
    if (code < 128) {
      if (numeric && code >= 48 && code <= 57) {
        let j = i;
        while (j + 1 < text.length && text.charCodeAt(j + 1) >= 48 && text.charCodeAt(j + 1) <= 57) j++;
        const run = text.slice(i, j + 1).replace(/^0+(?=\d)/, "");
        // A longer number is greater: its length goes before its digits.
        add(DIGIT + run.length / 1e6, 0, 0);
        for (const c of run) add(weights[c.charCodeAt(0)], 0, 0);
        i = j;
        continue;
      }
      const w = weights[code];
      if (w === 0) continue;
      add(w, 0, code >= 65 && code <= 90 ? 1 : 0);
      continue;
    }
    const c = String.fromCodePoint(code);
    if (/\p{M}/u.test(c)) {
      const n = accents.indexOf(c);
      if (marks.length > 0) marks[marks.length - 1] = marks[marks.length - 1] * 64 + (n >= 0 ? n + 2 : 20);
      continue;
    }
    const lower = c.toLowerCase(), upper = c !== lower ? 1 : 0;
    const known = special[lower];
    if (known !== undefined) {
      for (const [n, b] of [...known[0]].entries()) add(b.charCodeAt(0) < 128 ? weights[b.charCodeAt(0)] : 1, n === known[0].length - 1 ? known[1] : 0, upper);
    } else if (/\p{P}|\p{S}|\p{Z}/u.test(c)) add(DIGIT - 0.5 + code / 1e7, 0, 0);
    else add(1000 + lower.codePointAt(0), 0, upper);
  }
  return { base, marks, cases };
}

function differ(a, b) {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return Math.sign(a.length - b.length);
}

function compare(a, b, o) {
  if (a === b) return 0;
  // Most strings differ at a plain ASCII character.
  if (!o.numeric && ASCII.test(a) && ASCII.test(b)) {
    let cases = 0;
    const n = Math.min(a.length, b.length);
    for (let i = 0; i < n; i++) {
      const x = a.charCodeAt(i), y = b.charCodeAt(i);
      if (x === y) continue;
      if (weights[x] !== weights[y]) return weights[x] < weights[y] ? -1 : 1;
      if (cases === 0) cases = x > y ? -1 : 1;
    }
    if (a.length !== b.length) return a.length < b.length ? -1 : 1;
    return o.sensitivity === "variant" || o.sensitivity === "case" ? cases : 0;
  }
  const x = key(a, o.numeric), y = key(b, o.numeric);
  const first = differ(x.base, y.base);
  if (first !== 0 || o.sensitivity === "base") return first;
  if (o.sensitivity !== "case") {
    const second = differ(x.marks, y.marks);
    if (second !== 0 || o.sensitivity === "accent") return second;
  }
  return differ(x.cases, y.cases);
}

function collation(options) {
  refuse(options, "collation", "ignorePunctuation", "caseFirst");
  return { sensitivity: option(options, "sensitivity", ["variant", "base", "accent", "case"]), numeric: !!options.numeric };
}

class Collator {
  #o; #bound;
  constructor(locales, options) {
    checkLocales(locales);
    this.#o = collation(optionsOf(options));
  }
  get compare() { return (this.#bound ??= (a, b) => compare(`${a}`, `${b}`, this.#o)); }
}

const usualOrder = collation({});
exports.localeCompare = function (that, locales, options) {
  if (this === null || this === undefined) throw new TypeError("String.prototype.localeCompare called on null or undefined");
  if (locales === undefined && options === undefined) return compare(`${this}`, `${that}`, usualOrder);
  checkLocales(locales);
  return compare(`${this}`, `${that}`, collation(optionsOf(options)));
};

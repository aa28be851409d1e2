// Intl.DateTimeFormat for en-US and the Gregorian calendar. The host knows the
// time zones.

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const zoneNames = { // by what is common to standard and daylight time
  Eastern: ["America/New_York", "America/Detroit", "America/Toronto", "US/Eastern"], Central: ["America/Chicago", "America/Winnipeg", "US/Central"],
  Mountain: ["America/Denver", "America/Phoenix", "America/Edmonton", "America/Boise", "US/Mountain"],
  Pacific: ["America/Los_Angeles", "America/Vancouver", "America/Tijuana", "US/Pacific"], Alaska: ["America/Anchorage", "US/Alaska"],
};
const pad = (n, width = 2) => `${n}`.padStart(width, "0");

function gmt(seconds, long) {
  const minutes = Math.abs(Math.trunc(seconds / 60)), h = Math.floor(minutes / 60), m = minutes % 60;
  return `GMT${seconds < 0 ? "-" : "+"}${long ? pad(h) : h}${long || m > 0 ? `:${pad(m)}` : ""}`;
}

function zoneName(zone, style, { offset, daylight }) {
  if (style === "shortOffset" || style === "longOffset") return gmt(offset, style === "longOffset");
  if (zone === "UTC") return style === "long" ? "Coordinated Universal Time" : "UTC";
  const american = Object.keys(zoneNames).find((k) => zoneNames[k].includes(zone));
  if (style === "short") {
    if (american === "Alaska") return daylight ? "AKDT" : "AKST";
    if (american !== undefined) return `${american[0]}${daylight ? "D" : "S"}T`;
    return zone === "Pacific/Honolulu" ? "HST" : offset === 0 ? "GMT" : gmt(offset, false);
  }
  if (american !== undefined) return `${american} ${daylight ? "Daylight" : "Standard"} Time`;
  throw new RangeError(`the long name of time zone ${zone} is not available in this engine: use timeZoneName "short"`);
}

const dateFields = ["weekday", "year", "month", "day"], timeFields = ["hour", "minute", "second", "fractionalSecondDigits"];
const styles = {
  date: { full: { weekday: "long", year: "numeric", month: "long", day: "numeric" }, long: { year: "numeric", month: "long", day: "numeric" },
    medium: { year: "numeric", month: "short", day: "numeric" }, short: { year: "2-digit", month: "numeric", day: "numeric" } },
  time: { full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" }, long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" }, short: { hour: "numeric", minute: "2-digit" } },
};

class DateTimeFormat {
  #o; #bound;
  constructor(locales, options) {
    checkLocales(locales);
    this.#o = dateOptions(optionsOf(options), "any", "date");
  }
  static made(o) {
    const f = new DateTimeFormat();
    f.#o = o;
    return f;
  }
  #parts(date) {
    const o = this.#o;
    const ms = date === undefined ? Date.now() : Number(date);
    if (!(Math.abs(ms) <= 8.64e15)) throw new RangeError("Invalid time value");
    const at = host.zone(o.timeZone, ms);
    const d = new Date(Math.trunc(ms) + at.offset * 1000);
    const first = dateParts(o, d);
    if (o.era !== undefined) first.push(...(first.length > 0 ? [{ type: "literal", value: " " }] : []), { type: "era", value: { long: "Anno Domini", short: "AD", narrow: "A" }[o.era] });
    const second = timeParts(o, d);
    const parts = first;
    if (first.length > 0 && second.length > 0) parts.push({ type: "literal", value: separator(o) });
    parts.push(...second);
    if (o.timeZoneName !== undefined) {
      if (parts.length > 0) parts.push({ type: "literal", value: second.length > 0 ? " " : ", " });
      parts.push({ type: "timeZoneName", value: zoneName(o.timeZone, o.timeZoneName, at) });
    }
    return parts;
  }
  get format() { return (this.#bound ??= (date) => join(this.#parts(date))); }
  // V8 has a plain space before AM and PM in whole texts only.
  formatToParts(date) {
    return this.#parts(date).map((p, i, all) => (all[i + 1]?.type === "dayPeriod" ? { ...p, value: "\u202f" } : p));
  }
  // formatRange says once what both ends have in common.
  formatRange(start, end) {
    if (start === undefined || end === undefined) throw new TypeError("Invalid time value");
    const o = { ...this.#o }, text = this.format(start);
    if (text === this.format(end)) return text;
    if (o.era !== undefined || o.month === undefined || timeFields.some((k) => o[k] !== undefined)) refuse({ formatRange: 1 }, "formatRange");
    const dates = madeOf({ timeZone: o.timeZone, year: "numeric", month: "numeric", day: "numeric" });
    const [a, b] = [start, end].map((t) => dates.formatToParts(t).map((p) => p.value)), sameYear = a[4] === b[4], sameMonth = sameYear && a[0] === b[0];
    if (!sameYear && o.day !== undefined) o.year ??= "numeric";
    for (const k of ["month", "day"]) if (o[k] === "2-digit") o[k] = "numeric";
    let [from, to] = [start, end].map((t) => madeOf(o).formatToParts(t));
    // without drops a part with the text on that side of it.
    const without = (parts, type, side) => parts.filter((p, i) => p.type !== type && !(p.type === "literal" && parts[i - side]?.type === type));
    if (["long", "short", "narrow"].includes(o.month)) {
      if (sameYear) from = without(from, "year", -1);
      if (sameMonth && o.weekday === undefined) to = without(to, "month", 1);
    }
    return `${join(from)}\u2009–\u2009${join(to)}`;
  }
  resolvedOptions() {
    const { hour12, hourCycle, timeZone, ...o } = this.#o;
    return { locale: LOCALE, calendar: "gregory", numberingSystem: "latn", timeZone, ...(o.hour !== undefined ? { hourCycle, hour12: hourCycle === "h11" || hourCycle === "h12" } : {}), ...o };
  }
}
const madeOf = DateTimeFormat.made;
delete DateTimeFormat.made;

// dateOptions reads options; need says which fields have to be there, and
// usual which are used where none is.
function dateOptions(options, need, usual) {
  refuse(options, "dayPeriod", "numberingSystem");
  if (options.calendar !== undefined && options.calendar !== "gregory") refuse(options, "calendar");
  const o = { timeZone: options.timeZone === undefined ? host.zone(undefined, 0).name : zoneOf(`${options.timeZone}`) };
  const numeric = [undefined, "numeric", "2-digit"], text = [undefined, "long", "short", "narrow"];
  o.weekday = option(options, "weekday", text);
  o.era = option(options, "era", text);
  o.year = option(options, "year", numeric);
  o.month = option(options, "month", [...numeric, "long", "short", "narrow"]);
  o.day = option(options, "day", numeric);
  o.hour = option(options, "hour", numeric);
  o.minute = option(options, "minute", numeric);
  o.second = option(options, "second", numeric);
  o.fractionalSecondDigits = digitsOption(options, "fractionalSecondDigits", 1, 3);
  o.timeZoneName = option(options, "timeZoneName", [undefined, "short", "long", "shortOffset", "longOffset"]);
  const dateStyle = option(options, "dateStyle", [undefined, "full", "long", "medium", "short"]);
  const timeStyle = option(options, "timeStyle", [undefined, "full", "long", "medium", "short"]);
  const given = [...dateFields, ...timeFields].filter((k) => o[k] !== undefined);
  if (dateStyle !== undefined || timeStyle !== undefined) {
    const clash = [...given, ...(o.timeZoneName !== undefined ? ["timeZoneName"] : [])][0];
    if (clash !== undefined) throw new TypeError(`Can't set option ${clash} when ${dateStyle !== undefined ? "dateStyle" : "timeStyle"} is used`);
    if (need === "date" && timeStyle !== undefined || need === "time" && dateStyle !== undefined) {
      throw new TypeError(`Invalid option : ${need === "date" ? "timeStyle" : "dateStyle"}`);
    }
    Object.assign(o, styles.date[dateStyle], styles.time[timeStyle], { dateStyle, timeStyle });
  } else if (!given.some((k) => (need !== "time" && dateFields.includes(k)) || (need !== "date" && timeFields.includes(k)))) {
    if (usual !== "time") o.year = o.month = o.day = "numeric";
    if (usual !== "date") Object.assign(o, { hour: "numeric", minute: "2-digit", second: "2-digit" });
  }
  const cycle = option(options, "hourCycle", [undefined, "h11", "h12", "h23", "h24"]);
  o.hourCycle = options.hour12 === undefined ? cycle ?? "h12" : options.hour12 ? "h12" : "h24";
  for (const k of Object.keys(o)) if (o[k] === undefined) delete o[k];
  return o;
}

function zoneOf(name) {
  try {
    return host.zone(name, 0).name;
  } catch {
    throw new RangeError(`Invalid time zone specified: ${name}`);
  }
}

function separator(o) {
  if (o.weekday !== undefined && o.year === undefined && o.month === undefined && o.day === undefined) return " ";
  return o.month === "long" && o.dateStyle !== "medium" ? " at " : ", ";
}

function dateParts(o, d) {
  const literal = (value) => ({ type: "literal", value });
  const year = o.year && { type: "year", value: o.year === "2-digit" ? pad(((d.getUTCFullYear() % 100) + 100) % 100) : `${d.getUTCFullYear()}` };
  if (year && d.getUTCFullYear() <= 0) throw new RangeError("dates before the year 1 are not available in this engine");
  const day = o.day && { type: "day", value: o.day === "2-digit" ? pad(d.getUTCDate()) : `${d.getUTCDate()}` };
  const name = days[d.getUTCDay()];
  const weekday = o.weekday && { type: "weekday", value: o.weekday === "long" ? name : o.weekday === "short" ? name.slice(0, 3) : name[0] };
  const textual = ["long", "short", "narrow"].includes(o.month);
  const full = months[d.getUTCMonth()];
  const month = o.month && { type: "month", value: o.month === "long" ? full : o.month === "short" ? full.slice(0, 3) : o.month === "narrow" ? full[0]
    : o.month === "2-digit" ? pad(d.getUTCMonth() + 1) : `${d.getUTCMonth() + 1}` };
  if (!month) {
    if (year && day) return [...(weekday ? [weekday, literal(", ")] : []), year, literal(" (day: "), day, literal(")")];
    if (day && weekday) return [day, literal(" "), weekday];
    if (year && weekday) return [year, literal(" "), weekday];
    return [year, day, weekday].filter(Boolean);
  }
  if (weekday && !day && !year) return [month, literal(" "), weekday];
  const out = weekday ? [weekday, literal(", ")] : [];
  out.push(month);
  if (day) out.push(literal(textual ? " " : "/"), day);
  if (year) out.push(literal(!textual ? "/" : day ? ", " : " "), year);
  return out;
}

function timeParts(o, d) {
  const literal = (value) => ({ type: "literal", value });
  const parts = [];
  const twelve = o.hourCycle === "h12" || o.hourCycle === "h11";
  if (o.hour !== undefined) {
    let h = d.getUTCHours();
    if (o.hourCycle === "h12") h = h % 12 || 12;
    else if (o.hourCycle === "h11") h %= 12;
    else if (o.hourCycle === "h24") h ||= 24;
    parts.push({ type: "hour", value: o.hour === "2-digit" || !twelve ? pad(h) : `${h}` });
  }
  if (o.minute !== undefined) {
    if (parts.length > 0) parts.push(literal(":"));
    const bare = o.hour === undefined && o.second === undefined;
    parts.push({ type: "minute", value: bare ? `${d.getUTCMinutes()}` : pad(d.getUTCMinutes()) });
  }
  if (o.second !== undefined) {
    if (parts.length > 0) parts.push(literal(":"));
    parts.push({ type: "second", value: o.minute === undefined ? `${d.getUTCSeconds()}` : pad(d.getUTCSeconds()) });
  }
  if (o.fractionalSecondDigits !== undefined) {
    if (parts.length > 0) parts.push(literal("."));
    parts.push({ type: "fractionalSecond", value: pad(d.getUTCMilliseconds(), 3).slice(0, o.fractionalSecondDigits) });
  }
  if (o.hour !== undefined && twelve) parts.push(literal(" "), { type: "dayPeriod", value: d.getUTCHours() < 12 ? "AM" : "PM" });
  return parts;
}

const usualDates = new Map();
function toLocale(need, usual) {
  return function (locales, options) {
    const ms = Date.prototype.getTime.call(this);
    if (locales === undefined && options === undefined) {
      if (Number.isNaN(ms)) return "Invalid Date";
      if (!usualDates.has(usual)) usualDates.set(usual, madeOf(dateOptions({}, need, usual)));
      return usualDates.get(usual).format(ms);
    }
    checkLocales(locales);
    const f = madeOf(dateOptions(optionsOf(options), need, usual));
    return Number.isNaN(ms) ? "Invalid Date" : f.format(ms);
  };
}
exports.dateToLocaleString = toLocale("any", "all");
exports.dateToLocaleDateString = toLocale("date", "date");
exports.dateToLocaleTimeString = toLocale("time", "time");

// The engine's own texts lack the name of the time zone.
const named = (original) => function () {
  const text = original.call(this);
  if (text === "Invalid Date") return text;
  const at = host.zone(undefined, Date.prototype.getTime.call(this));
  try {
    return `${text} (${zoneName(at.name, "long", at)})`;
  } catch {
    return text; // a zone without a known name
  }
};
exports.dateToString = named(host.original("dateToString"));
exports.dateToTimeString = named(host.original("dateToTimeString"));

//go:build real

package inmemory_test

import (
	"fmt"
	"strings"
	"testing"
	_ "time/tzdata"
)

// localized are programs whose output depends on the locale en-US, each of
// which must print what node prints.
var localized = []string{
	`for (const x of [1234567.891, 0, -0, 1e21, NaN, Infinity, -5.5, 1.005, 0.000001, 123456789012345678901234567890n, 1e-7, 999999, 1500, 1250000, -1234.5, 2 ** 53]) console.log(x.toLocaleString())`,
	`for (const o of [{ style: "percent" }, { style: "percent", maximumFractionDigits: 1 }, { minimumFractionDigits: 2 }, { maximumFractionDigits: 2 }, { minimumFractionDigits: 5 }, { minimumIntegerDigits: 10 },
		{ maximumSignificantDigits: 3 }, { minimumSignificantDigits: 12 }, { useGrouping: false }, { useGrouping: "min2" }, { signDisplay: "always" }, { signDisplay: "exceptZero" }, { signDisplay: "never" },
		{ notation: "compact" }, { notation: "compact", compactDisplay: "long" }, { notation: "compact", maximumFractionDigits: 1 }])
		console.log(JSON.stringify(o), [-1234567.891, 1500, 0.256, 0, 2.5, 999.5].map((x) => x.toLocaleString("en-US", o)))`,
	`for (const currency of ["USD", "EUR", "JPY", "GBP", "CHF", "INR", "CAD", "KWD", "KRW", "SEK", "usd"]) for (const o of [{}, { currencyDisplay: "code" }, { maximumFractionDigits: 0 }, { minimumFractionDigits: 0 }, { notation: "compact" }])
		console.log(currency, JSON.stringify(o), [-1234567.891, 1500, 0.256].map((x) => x.toLocaleString("en-US", { style: "currency", currency, ...o })))`,
	`console.log((5).toLocaleString("en-US", { style: "currency", currency: "CAD", currencyDisplay: "narrowSymbol" }))`,
	`for (const x of [999, 1000, 1050, 1049, 999999, 1e6, 12345, 123456789, 1e15, 1e18, 0.5, 12.34, 99.99, 1234567890]) console.log(x.toLocaleString("en-US", { notation: "compact" }), x.toLocaleString("en-US", { notation: "compact", compactDisplay: "long" }))`,
	`for (const o of [{ style: "currency" }, { style: "currency", currency: "US" }, { minimumFractionDigits: 3, maximumFractionDigits: 1 }, { maximumFractionDigits: 101 }, { maximumSignificantDigits: 0 }, { style: "foo" }]) try { (1).toLocaleString("en-US", o); console.log("no error") } catch (e) { console.log(e.name) }`,
	`console.log(new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).formatToParts(-1234.5))`,
	`console.log(["1,5", [1234.5, null, undefined, 7].toLocaleString(), [1234.5].toLocaleString("en-US", { minimumFractionDigits: 2 }), new Intl.NumberFormat().format("12345678901234567890"), Intl.NumberFormat("en-US").format(1e6)])`,
	`const d = new Date(Date.UTC(2024, 0, 15, 15, 45, 7, 123)); console.log(d.toLocaleString("en-US", { timeZone: "UTC" }), d.toLocaleDateString("en-US", { timeZone: "UTC" }), d.toLocaleTimeString("en-US", { timeZone: "UTC" }))`,
	`const dates = [Date.UTC(2024, 0, 15, 15, 45, 7, 123), Date.UTC(1999, 11, 31, 0, 5), Date.UTC(2024, 6, 4, 12)].map((x) => new Date(x));
		for (const o of [{ hour12: false }, { hourCycle: "h23" }, { month: "long", day: "numeric", year: "numeric", hour: "numeric", minute: "numeric" }, { month: "short", day: "numeric", year: "numeric", hour: "numeric", minute: "2-digit" },
			{ dateStyle: "full" }, { dateStyle: "long" }, { dateStyle: "medium" }, { dateStyle: "short" }, { timeStyle: "short" }, { timeStyle: "medium" }, { timeStyle: "long" }, { dateStyle: "long", timeStyle: "short" }, { dateStyle: "medium", timeStyle: "medium" }, { dateStyle: "short", timeStyle: "long" }, { dateStyle: "full", timeStyle: "full" },
			{ weekday: "long" }, { weekday: "short", day: "numeric" }, { weekday: "long", month: "long", day: "numeric" }, { year: "numeric" }, { year: "2-digit", month: "2-digit", day: "2-digit" }, { year: "numeric", month: "2-digit", day: "2-digit" },
			{ month: "long", year: "numeric" }, { month: "short", year: "2-digit" }, { month: "2-digit", year: "numeric" }, { month: "2-digit", day: "2-digit" }, { month: "short", day: "numeric" }, { hour: "numeric" }, { hour: "2-digit" }, { hour: "2-digit", minute: "2-digit" }, { minute: "2-digit" }, { minute: "numeric", second: "numeric" },
			{ second: "2-digit" }, { fractionalSecondDigits: 3 }, { hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3 }, { timeZoneName: "short" }, { timeZoneName: "long" },
			{ weekday: "short", year: "numeric", month: "numeric", day: "numeric" }, { weekday: "short", year: "numeric", month: "short", day: "numeric" }, { weekday: "short", hour: "numeric" }, { month: "narrow" }, { month: "long", hour: "numeric" }, { day: "numeric", year: "numeric" },
			{ weekday: "long", month: "long" }, { weekday: "long", year: "numeric" }, { month: "short", day: "numeric", hour: "numeric" }, { weekday: "long", month: "long", day: "numeric", year: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" },
			{ hour: "2-digit", minute: "2-digit", hour12: false }, { hour: "2-digit", hour12: false }, { timeStyle: "short", hour12: false }, { month: "numeric" }, { day: "2-digit" }])
			console.log(JSON.stringify(o), dates.map((d) => d.toLocaleString("en-US", { timeZone: "UTC", ...o })))`,
	`const d = new Date(Date.UTC(2024, 0, 15, 15, 45, 7)), s = new Date(Date.UTC(2024, 6, 4, 3)); for (const timeZone of ["America/New_York", "America/Los_Angeles", "America/Chicago", "America/Denver", "Europe/Paris", "Europe/London", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney", "Asia/Kathmandu", "UTC"])
		console.log(timeZone, d.toLocaleString("en-US", { timeZone }), s.toLocaleDateString("en-US", { timeZone }), d.toLocaleString("en-US", { timeZone, timeZoneName: "shortOffset" }), s.toLocaleTimeString("en-US", { timeZone, timeZoneName: "longOffset" }))`,
	`const d = new Date(Date.UTC(2024, 0, 15, 15, 45, 7)), s = new Date(Date.UTC(2024, 6, 4, 3)); for (const timeZone of ["America/New_York", "America/Los_Angeles", "America/Anchorage", "UTC"]) for (const timeZoneName of ["short", "long"]) console.log([d, s].map((x) => x.toLocaleString("en-US", { timeZone, timeZoneName })))`,
	`for (const f of [() => new Date(0).toLocaleString("en-US", { timeZone: "Foo/Bar" }), () => new Date(0).toLocaleString("en-US", { dateStyle: "short", weekday: "long" }), () => new Date(0).toLocaleDateString("en-US", { timeStyle: "short" }), () => new Intl.DateTimeFormat().format(NaN), () => new Date(NaN).toLocaleString(), () => new Date(0).toLocaleString("not a locale")]) try { console.log(f()) } catch (e) { console.log(e.name) }`,
	`const d = new Date(Date.UTC(2024, 0, 15, 15, 45)); console.log(d.toLocaleTimeString("en-US", { year: "numeric", timeZone: "UTC" }), d.toLocaleDateString("en-US", { hour: "numeric", timeZone: "UTC" }), new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "long", timeStyle: "short" }).formatToParts(d))`,
	`console.log(["a", "B", "ä", "C", "_x", "-x", "1", "10", "2", "Z", "ß", "ss", "é", "e", "E", " x", "$", "~", "'", '"'].sort((a, b) => a.localeCompare(b)).join())`,
	`const all = []; for (let i = 32; i < 127; i++) all.push(String.fromCharCode(i)); console.log(all.sort((a, b) => a.localeCompare(b)).join(""))`,
	`const l = []; for (let i = 0xc0; i < 0x180; i++) if (!"×÷ðÐıĸŉŊŋſ".includes(String.fromCharCode(i))) l.push(String.fromCharCode(i)); for (let i = 97; i < 123; i++) l.push(String.fromCharCode(i), String.fromCharCode(i - 32)); console.log(l.sort((a, b) => a.localeCompare(b)).join(""))`,
	`console.log("a".localeCompare("b"), "a".localeCompare("A"), "A".localeCompare("a"), "a".localeCompare("á"), "a".localeCompare("á", undefined, { sensitivity: "base" }), "a".localeCompare("A", undefined, { sensitivity: "accent" }), "a".localeCompare("á", undefined, { sensitivity: "case" }),
		"item10".localeCompare("item9", undefined, { numeric: true }), "item010".localeCompare("item10", undefined, { numeric: true }), "co-op".localeCompare("coop"), "résumé".localeCompare("resume"), "Resume".localeCompare("résumé"), "b".localeCompare("a"), "".localeCompare("a"))`,
	`console.log(["file10", "file9", "File1", "file1"].sort(new Intl.Collator("en", { numeric: true }).compare), ["résumé", "resume", "Resume", "Résumé", "résume"].sort(new Intl.Collator().compare), ["новый", "Абрам", "абак", "zebra", "ёлка"].sort((a, b) => a.localeCompare(b)))`,
	`console.log([0, 1, 2, 1.5, 22, 103, 11, 12, 13].map((n) => [new Intl.PluralRules("en-US").select(n), new Intl.PluralRules("en-US", { type: "ordinal" }).select(n)]))`,
}

// language are programs that models are likely to write where engines like this one
// differ from node.
var language = []string{
	`console.log((1234567.891).toLocaleString(), (0.256).toLocaleString("en-US", { style: "percent" }), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), 123456789n.toLocaleString())`,
	`console.log("I".toLocaleLowerCase(), "I".toLocaleLowerCase("de"), "ß".toLocaleUpperCase(["en-US"]), "".toLocaleLowerCase.length, "".toLocaleUpperCase.name)`,
	`const f = [].toLocaleString; try { console.log(f()) } catch (e) { console.log(e.name, e.message) }`,
	`const d = new Date(0); console.log(d.toLocaleDateString("en-US", { timeZone: "UTC" }), d.toLocaleString("en-US", { timeZone: "America/New_York" }), d.toLocaleDateString("en-US", { weekday: "long", month: "long", day: "numeric", timeZone: "UTC" }))`,
	`const d = new Date(NaN); console.log(String(d), d.toTimeString(), Date.prototype.toString.length, Date.prototype.toTimeString.name); try { Date.prototype.toString.call(1) } catch (e) { console.log(e.name) }`,
	`console.log(["a", "C", "b", "ä"].sort((x, y) => x.localeCompare(y)).join(), "item10".localeCompare("item9", undefined, { numeric: true }), "a".localeCompare("A", undefined, { sensitivity: "base" }), "a".localeCompare("z"))`,
	`const f = []; for (let i = 0; i < 3; i++) { if (i === 1) { f.push(() => i); continue } f.push(() => i) } console.log(f.map((g) => g()).join())`,
	`const f = []; for (let i = 0; i < 3; i++) { const k = i; f.push(() => k); if (i === 1) continue; f.push(() => k) } console.log(f.map((g) => g()).join())`,
	`const f = []; for (const s of ["1", "x", "3"]) try { const n = s; f.push(() => n); if (isNaN(n)) throw 1 } catch {} console.log(f.map((g) => g()).join())`,
	`const f = []; for (const s of ["1", "x", "3"]) { const n = s; try { f.push(() => n); if (isNaN(n)) throw 1 } catch {} } console.log(f.map((g) => g()).join())`,
	`(async () => { let n = 0; const it = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: n++ > 1, value: n }), return: async () => { console.log("returned"); return {} } }) }; for await (const x of it); console.log("end") })()`,
	`(async () => { async function* rows() { try { yield 1 } finally { await null; await null; console.log("closed") } } for await (const r of rows()) break; console.log("behind") })()`,
	`try { null.x } catch (e) { console.log(e.stack.startsWith(e.name + ": " + e.message)) } console.log(Object.keys(new Error("x")))`,
	`console.log(new Intl.NumberFormat("en-US").format(1234.5), new Intl.PluralRules("en-US").select(1), ["b", "a"].sort(new Intl.Collator("en").compare), Intl.DateTimeFormat().resolvedOptions().locale)`,
	`let d = 0; function f() { d++; f() } try { f() } catch (e) { console.log(e instanceof RangeError, e.name) } const g = (n) => n ? 1 + g(n - 1) : 0; console.log(g(3500))`,
	`class A extends Error { constructor(m) { super(m); this.name = this.constructor.name; Error.captureStackTrace(this, this.constructor) } } try { throw new A("m") } catch (e) { console.log(e.name, e.message, e instanceof A, e.stack.split("\n")[0]) }`,
	`for (const m of ["stream", "readline", "zlib", "stream/promises", "timers/promises", "perf_hooks"]) console.log(typeof require(m))`,
	`const fs = require("fs"), os = require("os"), path = require("path"); const d = fs.mkdtempSync(path.join(os.tmpdir(), "toolcell-")); fs.writeFileSync(d + "/x", "1"); console.log(fs.readFileSync(d + "/x", "utf8"), os.tmpdir()); fs.rmSync(d, { recursive: true }); console.log(fs.existsSync(d))`,
	`for (const f of [() => { const o = {}; o.f() }, () => { undefined.x }, () => { foo }, () => { return [].foo(1) }, () => { new (class A { constructor() { this.m() } })() }, () => { const a = {}; a.b.c = 1 }]) try { f() } catch (e) { console.log(e.name) }`,
	`for (const s of ["{a:1}", "[1,]", "", "{", "\n{\n \"a\": x\n}"]) try { JSON.parse(s) } catch (e) { console.log(e.name) } try { [].reduce((a, b) => a) } catch (e) { console.log(e.name) }`,
	`console.log({ ...'abc', x: 1 })`,
	`console.log(Object.assign({ x: 1 }, 'abc'))`,
	`console.log(JSON.parse('{"a":[1,{"b":2}]}', (k, v) => typeof v === "number" ? v + 1 : v), JSON.parse("1"), JSON.parse(null))`,
	`class AppError extends Error { constructor(message) { super(message); this.name = "AppError"; Error.captureStackTrace(this, AppError) } } const e = new AppError("no"); console.log(e.stack.split("\n")[0], e instanceof AppError, String(e)); const o = {}; Error.captureStackTrace(o); console.log(typeof o.stack)`,
}

// TestNodeLocale compares Intl and its kin with node.
func TestNodeLocale(t *testing.T) { compareWithNode(t, append(localized, language...)) }

// compareWithNode runs programs here and under node, which has to print the
// same.
func compareWithNode(t *testing.T, programs []string) {
	t.Helper()
	node := lookNode(t)
	want := nodeOutput(t, node, programs)
	s := open(t, nil)
	for i, code := range programs {
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Stdout() != want[i] || !res.OK() {
			t.Errorf("%s\n%v, in these lines:\n%s", clip(code), res.Error, firstDifferent(res.Stdout(), want[i]))
		}
	}
}

// TestIteratorHelpersEndEarly runs what the engine itself gets wrong, and what
// node 20 does not have.
func TestIteratorHelpersEndEarly(t *testing.T) {
	s := open(t, nil)
	for code, want := range map[string]string{
		`[1, 2, 3, 4].values().map((x) => x * 2).take(2).toArray().join()`:  "2,4",
		`const [a] = new Map([[1, 2], [3, 4]]).values().map((x) => -x); a`:  "-2",
		`[1, 2, 3].values().filter((x) => x > 1).find((x) => x > 1)`:        "2",
		`[[1, 2], [3]].values().flatMap((x) => x).drop(1).toArray().join()`: "2,3",
		`[[1, 2], [3]].values().flatMap((x) => x).some((x) => x === 1)`:     "true",
		`[2 ** 53, 2 ** 63, 1e300, Infinity, { valueOf: () => 2 ** 64 }].map((n) => [1, 2].values().take(n).toArray().length + ":" + [1, 2].values().drop(n).toArray().length).join()`: "2:0,2:0,2:0,2:0,2:0",
		`[NaN, -1, -1e300, 2n, Symbol()].map((n) => { try { [1].values().take(n) } catch (e) { return e.name } }).join()`:                                                              "RangeError,RangeError,RangeError,TypeError,TypeError",
		`let n = 0; ({ __proto__: Iterator.prototype, next: () => ({ done: false, value: n++ }) }).map((x) => x + 1).take(3).toArray().join()`:                                         "1,2,3",
		`(await Array.fromAsync([1, Promise.resolve(2)], (x) => x * 2)).join()`:                                                                                                        "2,4",
		`(await Array.fromAsync((async function* () { yield 1; yield 2 })())).join()`:                                                                                                  "1,2",
		`(await Array.fromAsync({ length: 2, 0: 7, 1: 8 })).join()`:                                                                                                                    "7,8",
	} {
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil || res.Text() != want {
			t.Errorf("%s: got %q, %v, %v, want %q", code, res.Text(), res.Error, err, want)
		}
	}
}

// firstDifferent returns the first lines of two outputs that differ.
func firstDifferent(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for i, shown := 0, 0; i < max(len(g), len(w)) && shown < 5; i++ {
		var x, y string
		if i < len(g) {
			x = g[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if x != y {
			shown++
			fmt.Fprintf(&b, " got: %q\nwant: %q\n", x, y)
		}
	}
	return b.String()
}

func clip(code string) string {
	if len(code) > 400 {
		return code[:400] + " ..."
	}
	return code
}

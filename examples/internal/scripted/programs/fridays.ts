// Zeller's congruence: no library for dates.
function weekday(year: number, month: number, day: number): number {
  if (month < 3) { month += 12; year--; }
  const k = year % 100, j = Math.floor(year / 100);
  return (day + Math.floor(13 * (month + 1) / 5) + k + Math.floor(k / 4) + Math.floor(j / 4) + 5 * j) % 7;
}
const fridays: [number, number][] = [];
for (let year = 2001; year <= 2100; year++) {
  for (let month = 1; month <= 12; month++) {
    if (weekday(year, month, 13) === 6) fridays.push([year, month]);
  }
}
console.log(`${fridays.length} in this century`);
fridays.length

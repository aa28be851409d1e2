{{convert}}
const sums = {};
for (const [i, row] of rows.entries()) {
  const month = row.date.slice(0, 7);
  sums[month] = (sums[month] ?? 0) + number(row.amount, i + 1);
}
console.log("sums: " + JSON.stringify(sums));

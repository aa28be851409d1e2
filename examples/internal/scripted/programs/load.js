const rows = [];
for (const line of {{sales}}.split("\n")) {
  const [date, region, amount] = line.split(";");
  rows.push({ date, region, amount });
  console.log(`row ${rows.length}: ${date}`);
  await new Promise(done => setTimeout(done, 10));
}
`${rows.length} rows`

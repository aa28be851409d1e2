function number(text, row) {
  const n = Number(text);
  if (Number.isNaN(n)) throw new Error(`row ${row} is not a number: '${text}'`);
  return n;
}

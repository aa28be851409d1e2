var checked = 0;
for (let n = 1; ; n++) {
  for (let m = n; m >= n && m !== 1; ) m = m % 2 ? 3 * m + 1 : m / 2;
  checked = n;
  if (n % 50000 === 0) console.log(`none up to ${n}`);
}

var checked = 0;
for (let n = 1, next = 1000; ; n++) {
  for (let m = n; m >= n && m !== 1; ) m = m % 2 ? 3 * m + 1 : m / 2;
  checked = n;
  if (n === next) {
    console.log(`none up to ${n}`);
    next *= 2;
  }
}

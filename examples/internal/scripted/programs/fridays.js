let n = 0;
for (let month = 0; month < 1200; month++) {
  if (new Date(Date.UTC(2001, month, 13)).getUTCDay() === 5) n++;
}
console.log(`${n} in this century`);
n

// Lines of a file of several chunks, whose ends are within characters.
const fs = require("fs"), readline = require("readline");
fs.writeFileSync("f", Array.from({ length: 20000 }, (_, i) => `${i} é€😀`).join("\n"));
(async () => {
  let n = 0, sum = 0;
  for await (const l of readline.createInterface({ input: fs.createReadStream("f") })) { n++; sum += l.length; if (l.includes("\ufffd")) console.log("broken", l); }
  console.log(n, sum);
  const out = [];
  for await (const l of readline.createInterface({ input: fs.createReadStream("f", { end: 30 }) })) out.push(l);
  console.log(out);
})();

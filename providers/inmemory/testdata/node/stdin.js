// Standard input as a stream.
process.stdin.setEncoding("utf8").on("readable", () => { let c; while ((c = process.stdin.read()) !== null) console.log("read", c); })
  .on("end", () => console.log("end", process.stdin.fd, process.stdin.read())).on("close", () => console.log("close"));

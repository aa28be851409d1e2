// A PNG by hand: there is no library for it here.
const table = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
const crc = bytes => ~bytes.reduce((c, b) => table[(c ^ b) & 255] ^ (c >>> 8), -1);
const u32 = n => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const chunk = (name, data) => {
  const body = [...name].map(c => c.charCodeAt(0)).concat(data);
  return [...u32(data.length), ...body, ...u32(crc(body))];
};
function png(width, height, color) {
  const raw = [];
  for (let y = 0; y < height; y++) {
    raw.push(0);
    for (let x = 0; x < width; x++) raw.push(...color(x, y));
  }
  let a = 1, b = 0;
  for (const byte of raw) { a = (a + byte) % 65521; b = (b + a) % 65521; }
  const n = raw.length, stored = [0x78, 1, 1, n & 255, n >> 8, ~n & 255, (~n >> 8) & 255, ...raw, ...u32(b * 65536 + a)];
  return new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10,
    ...chunk("IHDR", [...u32(width), ...u32(height), 8, 2, 0, 0, 0]), ...chunk("IDAT", stored), ...chunk("IEND", [])]);
}

const heights = Object.values(sums), top = Math.max(...heights);
const best = Object.keys(sums).find(month => sums[month] === top);
console.log(`best: ${best} with ${top.toFixed(2)}, ahead of ${heights.length - 1} others`);
const picture = png(heights.length * 10, 24, (x, y) => {
  const i = Math.floor(x / 10), bar = x % 10 < 8 && y >= 24 - 22 * heights[i] / top;
  return !bar ? [24, 26, 32] : heights[i] === top ? [255, 176, 0] : [70, 130, 180];
});
if (typeof Deno === "undefined") display("image/png", picture);
else await Deno.jupyter.display({ "image/png": btoa(String.fromCharCode(...picture)) }, { raw: true });

import struct, zlib

def png(width, height, color):
    raw = b"".join(b"\0" + b"".join(bytes(color(x, y)) for x in range(width)) for y in range(height))
    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))

heights = list(sums.values())
top = max(heights)
print(f"best: {max(sums, key=sums.get)} with {top:.2f}, ahead of {len(heights) - 1} others")

def color(x, y):
    i = x // 10
    if x % 10 >= 8 or y < 24 - 22 * heights[i] / top:
        return 24, 26, 32
    return (255, 176, 0) if heights[i] == top else (70, 130, 180)

picture = png(len(heights) * 10, 24, color)
try:
    from IPython.display import Image
    display(Image(data=picture))
except ImportError:
    display("image/png", picture)

// Frames: how they are written, read and served.

function writeAll(fd, data) {
  for (let at = 0; at < data.length;) {
    try {
      at += fs.writeSync(fd, data, at);
    } catch (e) {
      // The descriptor does not block, and node has nothing to wait by but the clock.
      if (e.code !== 'EAGAIN') throw e;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
const pause = new Int32Array(new SharedArrayBuffer(4));

const hex = (n) => n.toString(16).padStart(8, '0');

const send = (...frame) => pristine(() => sendFrame(...frame));
function sendFrame(kind, ...fields) {
  const parts = [];
  let size = 1;
  for (const f of fields) {
    const b = f instanceof Uint8Array ? f : Buffer.from(String(f));
    parts.push(Buffer.from(hex(b.length)), b);
    size += 8 + b.length;
  }
  writeAll(CONTROL, Buffer.concat([Buffer.from(hex(size) + kind), ...parts]));
}

// guarded makes a driver that a program broke end, instead of being silent.
const { apply } = Reflect;
const guarded = (f) => (...args) => {
  try {
    return apply(f, undefined, args);
  } catch (e) {
    // An interrupt ends the program, not the driver.
    if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw e;
    try { writeAll(2, Buffer.from(`the driver failed: ${e?.stack}\n`)); } catch {}
    realExit(70);
  }
};

let pending = [], have = 0;
function onData(chunk) {
  const arrived = [];
  pristine(() => take(chunk, arrived));
  for (let i = 0; i < arrived.length; i++) serve(arrived[i][0], arrived[i][1]);
}

function take(chunk, arrived) {
  pending.push(chunk);
  have += chunk.length;
  while (have >= 8) {
    if (pending[0].length < 8) pending = [Buffer.concat(pending)];
    const size = parseInt(pending[0].toString('latin1', 0, 8), 16);
    if (have < 8 + size) return;
    const all = pending.length > 1 ? Buffer.concat(pending) : pending[0];
    pending = all.length > 8 + size ? [all.subarray(8 + size)] : [];
    have -= 8 + size;
    const fields = [];
    for (let i = 9; i < 8 + size;) {
      const n = parseInt(all.toString('latin1', i, i + 8), 16);
      fields.push(all.subarray(i + 8, i + 8 + n));
      i += 8 + n;
    }
    arrived[arrived.length] = [all.toString('latin1', 8, 9), fields];
  }
}

function serve(kind, fields) {
  switch (kind) {
    case 'C': return configure(fields);
    case 'N': return pristine(() => offer(fields.map(String)));
    case 'V': return answer(String(fields[0]), String(fields[1]), String(fields[2]));
    case 'R': return void start(fields);
    case 'O': return complete(fields[0], fields[1], fields[2]);
    case 'K': sent++; return;
    case 'I': if (current?.seq === String(fields[0])) current.stop('interrupt', 130); return;
  }
}

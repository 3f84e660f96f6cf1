// SHA-256 and HMAC, at once. Web Crypto answers later and only in secure
// contexts; a request is signed in the moment in which it is made.

const k = new Uint32Array(64);
const start = new Uint32Array(8);

// The first bits of the fractional parts of the roots of the first primes.
for (let n = 2, i = 0; i < 64; n++) {
  if (!prime(n)) continue;
  if (i < 8) start[i] = fraction(Math.sqrt(n));
  k[i++] = fraction(Math.cbrt(n));
}

function prime(n: number): boolean {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
}

function fraction(x: number): number {
  return Math.floor((x - Math.floor(x)) * 2 ** 32);
}

const turn = (x: number, by: number) => (x >>> by) | (x << (32 - by));

export function sha256(text: Uint8Array): Uint8Array {
  const state = start.slice();
  const padded = pad(text);
  for (let at = 0; at < padded.length; at += 64) block(state, new DataView(padded.buffer, at, 64));
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => out.setUint32(4 * i, word));
  return new Uint8Array(out.buffer);
}

/** The text, a one, zeros, and the length in bits: whole blocks. */
function pad(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(((text.length + 8) >> 6) * 64 + 64);
  padded.set(text);
  padded[text.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(text.length / 2 ** 29));
  view.setUint32(padded.length - 4, text.length << 3);
  return padded;
}

function block(state: Uint32Array, words: DataView): void {
  const w = new Uint32Array(64);
  for (let i = 0; i < 64; i++) {
    const [x, y] = [w[i - 15] ?? 0, w[i - 2] ?? 0];
    w[i] =
      i < 16
        ? words.getUint32(4 * i)
        : (w[i - 16] ?? 0) + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (w[i - 7] ?? 0) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (k[i] ?? 0) + (w[i] ?? 0);
    const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] = (state[i] ?? 0) + x));
}

export function hmac(key: Uint8Array, text: Uint8Array): Uint8Array {
  const mix = (by: number) => {
    const out = new Uint8Array(64).fill(by);
    key.forEach((x, i) => (out[i] = x ^ by));
    return out;
  };
  return sha256(join(mix(0x5c), sha256(join(mix(0x36), text))));
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

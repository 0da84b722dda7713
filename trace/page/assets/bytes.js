// The data of a page: packed bytes, and the columns of whole numbers in them.

/// The unpacked bytes of a text: base64 of zlib's format.
export async function unpacked(text) {
  const stream = new Blob([fromBase64(text.trim())]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/// Reads columns from the beginning on: the number of values, then each value in as few bytes as
/// possible.
export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  json() {
    const size = new DataView(this.bytes.buffer, this.bytes.byteOffset).getUint32(this.at, true);
    const from = this.at + 4;
    this.at = from + size;
    return JSON.parse(new TextDecoder().decode(this.bytes.subarray(from, this.at)));
  }

  number() {
    const bytes = this.bytes;
    let at = this.at;
    let byte = bytes[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    this.at = at;
    return value;
  }

  /// The numbers of a column, as an array of the given class.
  column(Numbers = Float64Array) {
    const numbers = new Numbers(this.number());
    for (let i = 0; i < numbers.length; ++i) numbers[i] = this.number();
    return numbers;
  }

  /// The same for signed numbers.
  signedColumn(Numbers = Float64Array) {
    const numbers = new Numbers(this.number());
    for (let i = 0; i < numbers.length; ++i) numbers[i] = unfolded(this.number());
    return numbers;
  }

  /// Numbers of bars, stored as differences from the last one; -1 for none.
  references() {
    const numbers = new Int32Array(this.number());
    let before = 0;
    for (let i = 0; i < numbers.length; ++i) {
      const code = this.number();
      numbers[i] = code === 0 ? -1 : before += unfolded(code - 1);
    }
    return numbers;
  }
}

/// 0, 1, 2, 3, 4 as 0, -1, 1, -2, 2.
export function unfolded(code) {
  return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
}

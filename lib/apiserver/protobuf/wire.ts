/** Encodings of a field: a number of variable length, eight bytes, or bytes behind their length. */
export type WireType = 0 | 1 | 2;

/** Maximum depth of nested messages. */
const depthLimit = 1_000;

/**
 * Reads the fields of a message one after another. The same reader reads nested messages: within a nested
 * message, the reader ends where that message ends.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;
  #end: number;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = 0;
    this.#end = bytes.byteLength;
  }

  /** True if the message has no more fields. */
  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  /**
   * Reads a whole number of 64 bits with a sign. Numbers beyond 2^53 lose digits, as in JSON.
   * @throws RangeError the number does not end.
   */
  varint(): number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 127) << shift;
      if (byte < 128) return low;
    }
    let high = 0;
    for (let shift = 0; shift < 42; shift += 7) {
      const byte = this.#byte();
      // Addition, because the shift operators of JavaScript have 32 bits.
      high += (byte & 127) * 2 ** shift;
      if (byte < 128) {
        const unsigned = high * 2 ** 28 + low;
        return unsigned >= 2 ** 63 ? Number(BigInt.asIntN(64, exact(high, low))) : unsigned;
      }
    }
    throw new RangeError('the number does not end');
  }

  /** Reads an IEEE 754 number of 64 bits. */
  double(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  /** Reads the rest of the current message as text. */
  text(): string {
    return this.#bytes.toString('utf8', this.#at, this.#end);
  }

  /** Reads the rest of the current message. */
  bytes(): Buffer {
    return this.#bytes.subarray(this.#at, this.#end);
  }

  /**
   * Reads the fields of the current message. `read` must read the field's value or return false;
   * the value is then skipped.
   * @throws RangeError the bytes are not a message, or messages are nested too deeply.
   */
  fields(read: (number: number, wireType: WireType) => boolean): void {
    while (!this.atEnd) {
      const tag = this.varint();
      const wireType = tag % 8;
      if (wireType !== 0 && wireType !== 1 && wireType !== 2) {
        throw new RangeError(`no field has the wire type ${wireType}`);
      }
      const read1 = (): boolean => read(Math.floor(tag / 8), wireType);
      if (wireType === 2) this.#within(read1);
      else if (!read1()) this.#skipValue(wireType);
    }
  }

  /** Reads a value whose length precedes it. Skips the bytes that `read` leaves. */
  #within(read: () => boolean): void {
    const length = this.varint();
    const from = this.#skip(length);
    const [next, end] = [this.#at, this.#end];
    if (++this.#depth > depthLimit) throw new RangeError('messages are nested too deeply');
    [this.#at, this.#end] = [from, next];
    read();
    [this.#at, this.#end] = [next, end];
    this.#depth--;
  }

  #skipValue(wireType: 0 | 1): void {
    if (wireType === 0) this.varint();
    else this.#skip(8);
  }

  /** Skips `length` bytes. @returns their position */
  #skip(length: number): number {
    if (!(length >= 0 && this.#at + length <= this.#end)) {
      throw new RangeError('the message ends within a field');
    }
    this.#at += length;
    return this.#at - length;
  }

  #byte(): number {
    const byte = this.atEnd ? undefined : this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('the number does not end');
    return byte;
  }
}

function exact(high: number, low: number): bigint {
  return (BigInt(high) << 28n) | BigInt(low);
}

/** Writes a message from its end to its start, because the length of a nested message precedes its content. */
export class WireWriter {
  #bytes: Buffer;
  #at: number;

  constructor(capacity = 16 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
    this.#at = capacity;
  }

  /** The number of bytes so far. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** Returns a copy of the bytes so far, and empties the writer. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, this.#at);
    this.#at = this.#bytes.length;
    return taken;
  }

  /** Writes a whole number; a negative one as 64 bits. */
  varint(value: number): void {
    if (value < 0 || value >= 2 ** 31) {
      this.#long(BigInt.asUintN(64, BigInt(Math.trunc(value))));
      return;
    }
    let size = 1;
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++;
    let at = this.#room(size);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.#bytes[at++] = (rest & 127) | 128;
    this.#bytes[at] = rest;
  }

  /** Writes an IEEE 754 number of 64 bits. */
  double(value: number): void {
    const at = this.#room(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    const at = this.#room(size);
    this.#bytes.write(value, at, size, 'utf8');
  }

  bytes(value: Uint8Array): void {
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  /** Writes a field: its value, which `write` writes, before its tag. */
  field(number: number, wireType: WireType, write: () => void): void {
    const before = this.length;
    write();
    if (wireType === 2) this.varint(this.length - before);
    this.varint(number * 8 + wireType);
  }

  #long(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    bytes.push(Number(rest));
    this.bytes(Uint8Array.from(bytes));
  }

  /**
   * Makes room for `size` bytes before the bytes written so far, in a new buffer if needed: read `#bytes` after the
   * call.
   * @returns the position of the room
   */
  #room(size: number): number {
    if (size > this.#at) {
      const { length } = this;
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, length + size));
      this.#bytes.copy(larger, larger.length - length, this.#at);
      this.#at = larger.length - length;
      this.#bytes = larger;
    }
    this.#at -= size;
    return this.#at;
  }
}

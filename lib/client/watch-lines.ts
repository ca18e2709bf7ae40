import { ConnectionError } from '../system/connection-error.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';

const newline = 0x0a;

/**
 * The longest line, 64 MiB. etcd takes objects of 1.5 MB by default, and client-go reads watch events of
 * up to 16 MiB: a server that sends more is broken, and must not fill the memory.
 */
const maxLineBytes = 64 * 2 ** 20;

/**
 * The JSON values of a body, one per line: those of each chunk together, for a turn of the event loop
 * each would cost as much as reading them. They are parsed as they are taken. Lines are cut as bytes,
 * so that a character may be split between two chunks, and joined once, so that a line of many chunks
 * costs no more than its length.
 * @throws OperatorError `ConnectionFailed`: the last line is cut off, a line is no JSON, or is longer
 *   than 64 MiB. What came before it was yielded.
 */
export async function* jsonLines(
  body: AsyncIterable<Uint8Array>,
  call: Call,
): AsyncGenerator<Iterable<unknown>> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes > maxLineBytes) throw tooLong(call);
      continue;
    }
    const whole = chunk.subarray(0, end);
    const lines = textOf(pending.length === 0 ? whole : Buffer.concat([...pending, whole]));
    pending = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    pendingBytes = chunk.length - end - 1;
    yield valuesOf(lines, call);
  }
  const rest = textOf(Buffer.concat(pending));
  if (rest.trim() !== '') yield valuesOf(rest, call);
}

function tooLong(call: Call): ConnectionError {
  const got = `more than ${maxLineBytes / 2 ** 20} MiB without an end`;
  const message = `${describeCall(call)}: the stream holds an event that is too long, got ${got}`;
  return new ConnectionError(message, { requestSent: true });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function* valuesOf(lines: string, call: Call): Generator {
  for (let start = 0; start < lines.length;) {
    const newlineAt = lines.indexOf('\n', start);
    const end = newlineAt < 0 ? lines.length : newlineAt;
    if (end > start) yield parseLine(lines.slice(start, end), call);
    start = end + 1;
  }
}

function parseLine(line: string, call: Call): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    // Not the line itself: it may be half a Secret.
    const message = `${describeCall(call)}: the stream broke off within an event`;
    throw new ConnectionError(message, { requestSent: true });
  }
}

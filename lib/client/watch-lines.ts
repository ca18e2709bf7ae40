import { ConnectionError } from '../system/connection-error.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';

const newline = 0x0a;

/**
 * The longest line, 64 MiB. etcd accepts objects of 1.5 MB by default, and client-go reads watch events of up
 * to 16 MiB. A server that sends more is broken and must not fill the memory.
 */
const maxLineBytes = 64 * 2 ** 20;

/**
 * Yields the JSON values of a body, one per line. The values of a chunk come together, because a turn of the
 * event loop per value would cost as much as reading it; each is parsed when the caller takes it. Lines are
 * split as bytes, so that a character may span two chunks, and joined once, so that the cost of a line does
 * not depend on its chunks.
 * @throws OperatorError `ConnectionFailed`: the last line is truncated, a line is not JSON, or is longer than
 * 64 MiB. The values before it were yielded.
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
    // The message omits the line: it may be half a Secret.
    const message = `${describeCall(call)}: the stream broke off within an event`;
    throw new ConnectionError(message, { requestSent: true });
  }
}

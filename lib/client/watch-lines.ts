import { ConnectionError } from '../system/connection-error.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';

const newline = 0x0a;

/**
 * The JSON values of a body, one per line. Lines are cut as bytes, so that a character may be split
 * between two chunks, and joined once, so that a line of many chunks costs no more than its length.
 * @throws OperatorError `ConnectionFailed`: the last line is cut off, or a line is no JSON.
 */
export async function* jsonLines(body: AsyncIterable<Uint8Array>, call: Call): AsyncGenerator {
  let pending: Uint8Array[] = [];
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const tail = chunk.subarray(start, end);
      const line = pending.length === 0 ? tail : Buffer.concat([...pending, tail]);
      pending = [];
      start = end + 1;
      if (line.length > 0) yield parseLine(line, call);
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  const rest = Buffer.concat(pending);
  if (rest.toString('latin1').trim() !== '') yield parseLine(rest, call);
}

function parseLine(line: Uint8Array, call: Call): unknown {
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not the line itself: it may be half a Secret.
    const message = `${describeCall(call)}: the stream broke off within an event`;
    throw new ConnectionError(message, { requestSent: true });
  }
}

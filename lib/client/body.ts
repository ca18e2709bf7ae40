import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ConnectionError } from '../system/connection-error.js';
import type { TransportResponse } from '../system/transport.js';

const inflate = promisify(gunzip);

/**
 * Reads a response body to its end and decompresses it.
 * @throws OperatorError `ConnectionFailed`: the connection broke, or the body is not the gzip it claims to
 * be.
 */
export async function readBody(response: TransportResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const [only] = chunks;
  const packed =
    chunks.length === 1 && only !== undefined
      ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
      : Buffer.concat(chunks);
  if (response.headers['content-encoding'] !== 'gzip') return packed;
  try {
    return await inflate(packed);
  } catch (cause) {
    throw new ConnectionError('the compressed answer is broken', { cause, requestSent: true });
  }
}

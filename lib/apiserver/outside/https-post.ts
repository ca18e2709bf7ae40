import { request as plainRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent, request as secureRequest } from 'node:https';
import type { Clock } from '../../system/clock.js';
import { DeadlineExceeded } from './webhook-failure.js';

/** A POST of JSON. */
export interface HttpsPost {
  readonly url: URL;
  /**
   * The name that the server's certificate must have.
   * @defaultValue the host of the URL
   */
  readonly servername: string | undefined;
  readonly agent: Agent;
  readonly text: string;
  /** The time-out in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** The response to a POST. */
export interface PostAnswer {
  readonly status: number;
  readonly text: string;
  /** The content type; empty if absent. */
  readonly type: string;
}

/** Creates an agent that trusts the authorities in `ca`, or those of the machine if `ca` is undefined. */
export function newAgent(ca: string | undefined): Agent {
  return new Agent({ keepAlive: true, ...(ca !== undefined && { ca }) });
}

const answerLimitBytes = 3 * 1024 * 1024;

/**
 * Sends a POST.
 * @throws the error of the connection; DeadlineExceeded: no response in time.
 */
export function httpsPost(post: HttpsPost): Promise<PostAnswer> {
  const { url, servername, agent, text, timeoutMs, clock } = post;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'kube-apiserver-admission',
    'content-length': Buffer.byteLength(text),
  };
  const secure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, ...(servername !== undefined && { servername }) };
    const sent = secure
      ? secureRequest(url, { ...options, agent })
      : plainRequest(url, { method: 'POST', headers });
    const timer = clock.setTimer(() => sent.destroy(new DeadlineExceeded()), timeoutMs);
    sent.once('error', reject);
    sent.once('close', () => timer.cancel());
    sent.once('response', (answer) => {
      readText(answer).then(
        (read) =>
          resolve({
            status: answer.statusCode ?? 0,
            text: read,
            type: answer.headers['content-type'] ?? '',
          }),
        reject,
      );
    });
    sent.end(text);
  });
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > answerLimitBytes) throw new Error(`response exceeds ${answerLimitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

import { Pod } from '../object/index.js';
import type { ObjectKey } from '../object/index.js';
import type { CallOptions, Client } from './client.js';
import { refuseUnknownOptions } from '../system/index.js';
import type { OptionNames } from '../system/index.js';

/** Options of {@link podLog} and {@link podLogLines}. The server's defaults apply to absent options. */
export interface PodLogOptions extends CallOptions {
  /** Required if the Pod has several containers. */
  readonly container?: string | undefined;
  /** Reads the log of the container's previous run. */
  readonly previous?: boolean | undefined;
  /** Only lines of the last `sinceSeconds` seconds. */
  readonly sinceSeconds?: number | undefined;
  /** Only the last `tailLines` lines. */
  readonly tailLines?: number | undefined;
  /** At most `limitBytes` bytes. */
  readonly limitBytes?: number | undefined;
  /** Begins each line with its time (RFC 3339). */
  readonly timestamps?: boolean | undefined;
}

/** Options of {@link podLogLines}. */
export interface PodLogLinesOptions extends PodLogOptions {
  /** Continues with new output until the container ends. @defaultValue false */
  readonly follow?: boolean | undefined;
}

/**
 * Reads the log of a container as text.
 * @throws ApiError, for example 400: the container has not started, or the Pod has several.
 */
export async function podLog(
  client: Client,
  key: ObjectKey,
  options: PodLogOptions = {},
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of logBytes(client, key, options)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Yields the log of a container line by line as it arrives. Leaving the loop ends it.
 * @throws ApiError as {@link podLog}. `ConnectionFailed`: the stream broke off; continue with `sinceSeconds`.
 */
export async function* podLogLines(
  client: Client,
  key: ObjectKey,
  options: PodLogLinesOptions = {},
): AsyncGenerator<string> {
  // Keeps a character that is split between two chunks.
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of logBytes(client, key, options)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const optionNames: OptionNames<PodLogLinesOptions> = {
  ...{ container: true, previous: true, sinceSeconds: true, tailLines: true, limitBytes: true },
  ...{ timestamps: true, follow: true, signal: true },
};

function logBytes(
  client: Client,
  key: ObjectKey,
  options: PodLogLinesOptions,
): AsyncIterable<Uint8Array> {
  refuseUnknownOptions('podLog', options, optionNames);
  const { signal, container, previous, sinceSeconds, tailLines, limitBytes, timestamps, follow } =
    options;
  const query = { container, previous, sinceSeconds, tailLines, limitBytes, timestamps, follow };
  return client.stream(Pod, key, { subresource: 'log', query, signal });
}

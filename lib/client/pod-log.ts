import { Pod } from '../object/kinds.js';
import type { ObjectKey } from '../object/kubernetes-object.js';
import type { CallOptions, Client } from './client.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link podLog} and {@link podLogLines}; the server's own defaults hold where left out. */
export interface PodLogOptions extends CallOptions {
  /** Needed where a Pod has several. */
  readonly container?: string | undefined;
  /** Of the container's last run before this one. */
  readonly previous?: boolean | undefined;
  /** Only the last so many seconds. */
  readonly sinceSeconds?: number | undefined;
  /** Only the last so many lines. */
  readonly tailLines?: number | undefined;
  /** At most so many bytes. */
  readonly limitBytes?: number | undefined;
  /** Begin each line with its time (RFC 3339). */
  readonly timestamps?: boolean | undefined;
}

/** Options of {@link podLogLines}. */
export interface PodLogLinesOptions extends PodLogOptions {
  /** Go on with what the container writes from now on, until it ends. @defaultValue false */
  readonly follow?: boolean | undefined;
}

/**
 * The log of a container as text.
 * @throws ApiError for example 400: the container has not started, or the Pod has several.
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
 * The log of a container, line by line as they come. Leaving the loop ends it.
 * @throws ApiError as {@link podLog}. `ConnectionFailed`: the stream broke off; what was yielded may
 *   be followed up with `sinceSeconds`.
 */
export async function* podLogLines(
  client: Client,
  key: ObjectKey,
  options: PodLogLinesOptions = {},
): AsyncGenerator<string> {
  // It keeps a character that two chunks share.
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

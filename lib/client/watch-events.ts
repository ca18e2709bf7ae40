import { isJsonObject } from '../object/index.js';
import type { KubernetesObject, ObjectMeta, ResourceType } from '../object/index.js';
import { ConnectionError } from '../system/index.js';
import { failureIn, withTypeOf } from './answers.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { WatchEvent } from './client.js';
import { eventParser, metadataOf } from './event-text.js';
import type { EventTextOptions } from './event-text.js';

/** Marks the bookmark after the objects that existed when a streaming list began (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/**
 * Returns the event that a watch line holds.
 * @throws ApiError: an `ERROR` event, for example 410 if the resourceVersion is too old.
 * @throws OperatorError `ConnectionFailed`: the event is malformed.
 */
export function watchEvent<T extends KubernetesObject>(
  line: unknown,
  type: ResourceType<T>,
  call: Call,
): WatchEvent<T> {
  const { type: event, object } = (line ?? {}) as RawEvent;
  switch (event) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event, object: withTypeOf(object as T, type) };
    case 'BOOKMARK': {
      const metadata = metadataOf(line);
      if (metadata === undefined) throw malformedEvent(call, 'a BOOKMARK event has no metadata');
      const { resourceVersion = '', annotations } = metadata as ObjectMeta;
      const ended = annotations?.[initialEventsEnd] === 'true';
      return { type: event, resourceVersion, initialEventsEnd: ended };
    }
    case 'ERROR': {
      if (!isJsonObject(object)) throw malformedEvent(call, 'an ERROR event has no Status object');
      throw failureIn(object, call);
    }
    default:
      throw malformedEvent(call, 'its type is unknown');
  }
}

function malformedEvent(call: Call, problem: string): ConnectionError {
  const message = `${describeCall(call)}: the server sent a malformed watch event: ${problem}`;
  return new ConnectionError(message, { requestSent: true });
}

const newline = 0x0a;

/**
 * The longest line, 64 MiB. etcd accepts objects of 1.5 MB by default, and client-go reads watch events of up
 * to 16 MiB. A server that sends more is broken and must not fill the memory.
 */
const maxLineBytes = 64 * 2 ** 20;

interface JsonLinesOptions<T> extends EventTextOptions {
  /** Called for the value of each line when the caller takes it. */
  readonly valueOf: (json: unknown) => T;
}

/**
 * Yields the JSON values of a body, one per line. The values of a chunk come together, because a turn of the
 * event loop per value would cost as much as reading the value. Each value is parsed when the caller takes
 * it. Lines are split as bytes, because a character may span two chunks. The parts of a line are joined once,
 * so that its cost does not depend on the number of chunks.
 * @throws OperatorError `ConnectionFailed`: the last line is truncated, a line is not JSON, or is longer than
 * 64 MiB. The values before it were yielded.
 */
export async function* jsonLines<T>(
  body: AsyncIterable<Uint8Array>,
  call: Call,
  { valueOf, ...options }: JsonLinesOptions<T>,
): AsyncGenerator<Iterable<T>> {
  const parse = eventParser(call, options);
  function* valuesOf(lines: string): Generator<T> {
    for (let start = 0; start < lines.length;) {
      const newlineAt = lines.indexOf('\n', start);
      const end = newlineAt < 0 ? lines.length : newlineAt;
      if (end > start) yield valueOf(parse(lines.slice(start, end)));
      start = end + 1;
    }
  }
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
    yield valuesOf(lines);
  }
  const rest = textOf(Buffer.concat(pending));
  if (rest.trim() !== '') yield valuesOf(rest);
}

function tooLong(call: Call): ConnectionError {
  const got = `more than ${maxLineBytes / 2 ** 20} MiB without an end`;
  const message = `${describeCall(call)}: the stream contains an event that is too long, got ${got}`;
  return new ConnectionError(message, { requestSent: true });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/**
 * Yields the items of `batches` one by one. Only the first item of a batch takes a turn of an async
 * generator.
 *
 * Behaves as an async generator: overlapping calls of `next` are answered in order. An error of a batch or of
 * an item in it ends `batches`.
 */
export function flattened<T>(batches: AsyncGenerator<Iterable<T>>): AsyncGenerator<T> {
  return new Flattened(batches);
}

/**
 * Returns `items` in the batches in which they arrived: a loop over a batch takes no turn of the event loop. Each item
 * is a batch of its own if `items` was not made by {@link flattened}. Read either the batches or the items.
 */
export function inBatches<T>(items: AsyncIterable<T>): AsyncIterable<Iterable<T>> {
  return items instanceof Flattened ? (items as Flattened<T>).batches : oneByOne(items);
}

/** Not a generator: its extra promises would let other code run between two events that arrived together. */
function oneByOne<T>(items: AsyncIterable<T>): AsyncIterable<Iterable<T>> {
  const iterator = items[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Iterable<T>, undefined>> => {
    const item = await iterator.next();
    return item.done === true
      ? { done: true, value: undefined }
      : { done: false, value: [item.value] };
  };
  const end = async (): Promise<IteratorResult<Iterable<T>, undefined>> => {
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

class Flattened<T> implements AsyncGenerator<T> {
  readonly batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> | undefined;
  /** The last call that is not answered yet. */
  #last: Promise<unknown> | undefined;

  constructor(batches: AsyncGenerator<Iterable<T>>) {
    this.batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#last === undefined && this.#batch !== undefined) {
      try {
        const item = this.#batch.next();
        if (item.done !== true) return Promise.resolve({ done: false, value: item.value });
        this.#batch = undefined;
      } catch (error) {
        return this.#inTurn(() => this.#fail(error));
      }
    }
    return this.#inTurn(() => this.#advance());
  }

  return(): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(() => this.#end());
  }

  throw(error: unknown): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(() => this.#fail(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #inTurn<R>(run: () => Promise<R>): Promise<R> {
    const answer = this.#last === undefined ? run() : this.#last.then(run, run);
    const over = (): void => {
      if (this.#last === answer) this.#last = undefined;
    };
    this.#last = answer;
    answer.then(over, over);
    return answer;
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = await this.#nextOfBatch();
      if (item?.done === false) return { done: false, value: item.value };
      const batch = await this.batches.next();
      if (batch.done === true) return { done: true, value: undefined };
      this.#batch = batch.value[Symbol.iterator]();
    }
  }

  async #nextOfBatch(): Promise<IteratorResult<T> | undefined> {
    try {
      return this.#batch?.next();
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #end(): Promise<IteratorResult<T, undefined>> {
    this.#batch = undefined;
    await this.batches.return(undefined);
    return { done: true, value: undefined };
  }

  async #fail(error: unknown): Promise<never> {
    await this.#end();
    throw error;
  }
}

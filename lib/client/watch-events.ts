import { ApiError } from '../object/index.js';
import type { Status, KubernetesObject, ResourceType } from '../object/index.js';
import { ConnectionError } from '../system/index.js';
import { withTypeOf } from './answers.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { WatchEvent } from './client.js';

/** Marks the bookmark after the objects that existed when a streaming list began (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/**
 * Returns the event that a watch line holds.
 * @throws ApiError: an `ERROR` event, for example 410 if the resourceVersion is too old.
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
      const { resourceVersion = '', annotations } = (object as T).metadata;
      const ended = annotations?.[initialEventsEnd] === 'true';
      return { type: event, resourceVersion, initialEventsEnd: ended };
    }
    case 'ERROR': {
      const status = object as Status;
      throw new ApiError(status, { ...call, status: status.code ?? 500 });
    }
    default: {
      const message = `${describeCall(call)}: invalid watch event in the stream`;
      throw new ConnectionError(message, { requestSent: true });
    }
  }
}

const newline = 0x0a;

/**
 * The longest line, 64 MiB. etcd accepts objects of 1.5 MB by default, and client-go reads watch events of up
 * to 16 MiB. A server that sends more is broken and must not fill the memory.
 */
const maxLineBytes = 64 * 2 ** 20;

interface JsonLinesOptions<T> {
  /** Called for the value of each line when the caller takes it. */
  readonly valueOf: (json: unknown) => T;
  /** Leaves out `object.metadata.managedFields`, without parsing it. @defaultValue false */
  readonly omitManagedFields?: boolean | undefined;
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
  { valueOf, omitManagedFields = false }: JsonLinesOptions<T>,
): AsyncGenerator<Iterable<T>> {
  const lineOf = omitManagedFields ? lineWithoutManagedFields : wholeLine;
  function* valuesOf(lines: string): Generator<T> {
    for (let start = 0; start < lines.length;) {
      const newlineAt = lines.indexOf('\n', start);
      const end = newlineAt < 0 ? lines.length : newlineAt;
      if (end > start) yield valueOf(parseLine(lineOf(lines, start, end), call));
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
  const message = `${describeCall(call)}: the stream holds an event that is too long, got ${got}`;
  return new ConnectionError(message, { requestSent: true });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function wholeLine(lines: string, start: number, end: number): string {
  return lines.slice(start, end);
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [objectStart, metadataStart] = ['"object":{', '"metadata":{'];
const managedFieldsStart = '"managedFields":[';

/**
 * Returns a watch event without `managedFields` of its object: often half of the text, and the half that
 * takes longest to parse. A text that is not compact JSON in the members' usual order stays whole.
 */
function lineWithoutManagedFields(lines: string, start: number, end: number): string {
  const objectAt = lines.indexOf(objectStart, start);
  // `type` and its value precede the object.
  if (objectAt < 0 || objectAt > start + maxTypeLength) return wholeLine(lines, start, end);
  const at = managedFieldsAt(lines, objectAt + objectStart.length, end);
  if (at < 0) return wholeLine(lines, start, end);
  const after = afterBracket(lines, at + managedFieldsStart.length, end);
  const isFirst = lines.charCodeAt(at - 1) !== comma;
  const isFollowed = lines.charCodeAt(after) === comma;
  // Removing a member also removes one of the commas around it.
  return (
    lines.slice(start, isFirst ? at : at - 1) +
    lines.slice(isFirst && isFollowed ? after + 1 : after, end)
  );
}

/** The longest start of an event: `{"type":"BOOKMARK",`. */
const maxTypeLength = 24;

/** Finds the name of `metadata.managedFields`, from the start of an object's members. Returns -1 if the object has no such field. */
function managedFieldsAt(text: string, start: number, end: number): number {
  const metadataAt = text.indexOf(metadataStart, start);
  if (metadataAt < 0 || metadataAt >= end) return -1;
  const membersAt = metadataAt + metadataStart.length;
  // The first text that looks like it may be part of a string or of a deeper object.
  const isMember = depthAt(text, start, metadataAt) === 0;
  const at = isMember ? text.indexOf(managedFieldsStart, membersAt) : -1;
  return at < 0 || at >= end || depthAt(text, membersAt, at) !== 0 ? -1 : at;
}

/**
 * Returns how many objects and arrays that begin at or after `start` are open at `end`. Returns -1 if an
 * earlier one ends in between, or if `end` is in a string.
 */
function depthAt(text: string, start: number, end: number): number {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0 || at >= end) return -1;
    } else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth < 0) return -1;
  }
  return depth;
}

/** Returns the offset after the bracket that closes the array whose items begin at `start`. */
function afterBracket(text: string, start: number, end: number): number {
  let depth = 1;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0) return end;
    } else if (code === openBracket) depth++;
    else if (code === closeBracket && --depth === 0) return at + 1;
  }
  return end;
}

/** Returns the offset of the quote that ends the string whose characters begin at `start`; -1 without one. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

/** An odd number of backslashes before a character escapes it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
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
 * Returns the remaining items of the current batch of `items`, without a turn of the event loop. The caller
 * handles their errors and ends `items`. Empty if `items` was not made by {@link flattened}.
 */
export function atOnce<T>(items: AsyncIterable<T>): Iterable<T> {
  return items instanceof Flattened ? (items as Flattened<T>).restOfBatch() : [];
}

class Flattened<T> implements AsyncGenerator<T> {
  readonly #batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> | undefined;
  /** The last call that is not answered yet. */
  #last: Promise<unknown> | undefined;

  constructor(batches: AsyncGenerator<Iterable<T>>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  restOfBatch(): Iterable<T> {
    const batch = this.#last === undefined ? this.#batch : undefined;
    return batch === undefined ? [] : { [Symbol.iterator]: () => batch };
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
      const batch = await this.#batches.next();
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
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  async #fail(error: unknown): Promise<never> {
    await this.#end();
    throw error;
  }
}

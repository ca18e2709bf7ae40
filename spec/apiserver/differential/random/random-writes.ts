import fc from 'fast-check';
import { applyMergePatch } from '../../../../lib/object/index.js';
import { compare } from '../comparison.js';
import type { Comparison, Servers } from '../comparison.js';
import { reportOf } from '../report.js';
import { get, isCollection } from '../scenario.js';
import type { Request } from '../scenario.js';
import type { Server } from '../servers.js';
import { builtInKinds } from './kinds.js';
import { customKinds, defineThings } from './things.js';
import { sequenceOf } from './writes.js';
import type { Edit } from './writes.js';

/** Options of {@link compareRandomWrites}. */
export interface RandomWritesOptions {
  /** Number of requests, about. */
  readonly steps: number;
  readonly seed: number;
  /** Kinds to write. @defaultValue all */
  readonly kinds?: readonly string[] | undefined;
}

/** The result of {@link compareRandomWrites}. */
export interface RandomWritesResult {
  readonly comparisons: readonly Comparison[];
  /** The shortest sequence found that the servers answer differently. */
  readonly failure?: readonly Comparison[];
}

/** The most writes in a sequence. */
const longest = 20;
/** The mean number of requests in a sequence, reads included. */
const meanLength = 14;

/**
 * Sends random sequences of creates, applies, updates, patches and deletions by several managers to both servers.
 * Each answer must be equal, with its managedFields. The sequence that differs first is shrunk.
 */
export async function compareRandomWrites(
  servers: Servers,
  { steps, seed, kinds }: RandomWritesOptions,
): Promise<RandomWritesResult> {
  await Promise.all([defineThings(servers.embedded), defineThings(servers.real)]);
  const agreed: Comparison[] = [];
  let failure: readonly Comparison[] | undefined;
  const property = fc.asyncProperty(sequences(kinds), async (requests) => {
    const comparisons = await compareSequence(servers, requests);
    const differs = reportOf('random', comparisons).unlisted.length > 0;
    if (differs) failure = comparisons;
    else agreed.push(...comparisons);
    return !differs;
  });
  await fc.check(property, { seed, numRuns: Math.ceil(steps / meanLength) });
  return failure === undefined ? { comparisons: agreed } : { comparisons: failure, failure };
}

function sequences(names: readonly string[] | undefined): fc.Arbitrary<Request[]> {
  const kinds = [...builtInKinds, ...customKinds].filter(
    ({ kind }) => names?.includes(kind) ?? true,
  );
  return fc.oneof(...kinds.map((kind) => sequenceOf(kind, longest)));
}

/** Returns the requests of a sequence as text, with the codes of both answers. */
export function sequenceText(comparisons: readonly Comparison[]): string {
  return comparisons
    .map(({ request, embedded, real }) => {
      const { method, path, type = '', body } = request;
      const text = body === undefined ? '' : ` ${JSON.stringify(body)}`;
      return `  ${embedded.code}/${real.code} ${method} ${path} ${type}${text}`;
    })
    .join('\n');
}

async function compareSequence(
  { embedded, real }: Servers,
  requests: readonly Request[],
): Promise<readonly Comparison[]> {
  const reading = { embedded: new ReadingServer(embedded), real: new ReadingServer(real) };
  return compare(reading, [{ title: 'random writes', requests }]);
}

/** A server behind a client that keeps the object that it read last. The client applies an edit to that object. */
class ReadingServer implements Server {
  readonly #server: Server;
  #read: unknown;

  constructor(server: Server) {
    this.#server = server;
  }

  async send(request: Request): ReturnType<Server['send']> {
    // A run starts with the creation of its namespace.
    if (request.path === '/api/v1/namespaces') this.#read = undefined;
    const { edit } = (request.body ?? {}) as Partial<Edit>;
    const body = edit === undefined ? request.body : applyMergePatch(this.#read, edit);
    // If the client has not yet read the object, it reads it instead of sending the edit.
    const isRead = edit !== undefined && this.#read === undefined;
    const path = request.path.replace(/\?.*/, '');
    const sent = isRead ? get(path) : { ...request, body };
    const answer = await this.#server.send(sent);
    // Lists are not kept: the comparison reads them to wait for the server.
    const isObject = sent.method === 'GET' && !isCollection(path);
    if (isObject && answer.code === 200) this.#read = answer.body;
    return { ...answer, body: withoutGoOrder(answer.body) };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

/**
 * Sorts the problems of a body that does not fit its schema, which Go finds in random order. Drops the text of a
 * patched object: in parts, the real server shows it in the order of Go's structs.
 */
function withoutGoOrder(body: unknown): unknown {
  const { message } = (body ?? {}) as { readonly message?: string };
  if (typeof message !== 'string') return body;
  const text = JSON.stringify(body).replace(patchedText, 'Invalid value: PATCH: ');
  const status = JSON.parse(text) as { readonly message: string };
  if (!message.includes(': errors:\n')) return status;
  const [first = '', ...problems] = status.message.split('\n');
  // Go stops at an undeclared field. In its random order, this field may come before or after the other problems.
  const undeclared = problems.find((problem) => problem.endsWith(': field not declared in schema'));
  if (undeclared !== undefined) {
    return { ...status, message: first.replace(/errors:$/, undeclared.trim()) };
  }
  return { ...status, message: [first, ...problems.sort()].join('\n') };
}

const patchedText = /Invalid value: \\"(?:map\[|\{).*?[\]}]\\": /gs;

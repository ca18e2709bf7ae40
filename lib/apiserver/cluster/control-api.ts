import { createHash, timingSafeEqual } from 'node:crypto';
import type { MetricRule } from '../controllers/index.js';
import type { Entrance } from '../api-server.js';
import { usedRoles } from '../auth/used-rules.js';
import type { FaultRule } from '../faults.js';
import type { RequestEntry } from '../request-log.js';
import type { StoreSnapshot } from '../storage/mvcc-log.js';
import {
  bodyText,
  errorResponse,
  jsonResponse,
  parseJson,
  textResponse,
} from '../requests/body.js';
import { failure, internalError, isStatusError } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { isJsonObject } from '../../object/index.js';
import {
  errorMessage,
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
  VirtualClock,
} from '../../system/index.js';
import type { OptionNames, TransportRequest, TransportResponse } from '../../system/index.js';
import type { EmbeddedCluster } from './embedded-cluster.js';

/** The path of the control API, below the URL of the cluster. */
const controlPath = '/_control/v1';

/**
 * Controls a cluster over HTTP, for tests in other languages: each path is a call of `EmbeddedCluster`. Bodies
 * and answers are JSON, and errors are a `Status`, as those of the Kubernetes API. Every request needs the
 * token, so that neither a website nor the operator under test can control the cluster.
 */
export class ControlApi {
  readonly #cluster: EmbeddedCluster;
  readonly #token: string;
  readonly #ids = new NumberedItems();
  readonly #snapshots = new Set<StoreSnapshot>();
  // The last move of the clock. The next move waits for it, so that only one move at a time fires timers.
  #lastMove: Promise<unknown> = Promise.resolve();

  /** @param token - the bearer token of the API's clients. */
  constructor(cluster: EmbeddedCluster, token: string) {
    this.#cluster = cluster;
    this.#token = token;
  }

  /** Adds the API to the handlers of a listener. */
  entrance({ admit, handler }: Entrance): Entrance {
    return {
      admit: (head) => {
        if (!isControlPath(head.path)) return admit?.(head);
        const refused = this.#refusal(head.headers['authorization'] ?? '');
        return refused && { refused };
      },
      handler: (request, origin) => {
        if (!isControlPath(request.path)) return handler(request, origin);
        const { refused } = origin.visitor ?? {};
        return refused === undefined
          ? this.#handle(request)
          : Promise.resolve(errorResponse(refused));
      },
    };
  }

  #refusal(authorization: string): StatusError | undefined {
    const [, token = ''] = /^Bearer (.+)$/i.exec(authorization) ?? [];
    if (timingSafeEqual(digest(token), digest(this.#token))) return undefined;
    const message = 'control API: unknown token; send the control token as a bearer token';
    return failure(401, 'Unauthorized', message);
  }

  async #handle(request: TransportRequest): Promise<TransportResponse> {
    try {
      const { route, id, query, creates } = this.#find(request);
      const answer = await route({ id, query, request, body: bodyOf(request) });
      if (typeof answer === 'string') return textResponse(200, 'application/yaml', answer);
      return jsonResponse(creates ? 201 : 200, answer ?? {});
    } catch (error) {
      if (isStatusError(error)) return errorResponse(error);
      if (isOperatorError(error)) {
        return errorResponse(failure(400, error.code, `control API: ${error.message}`));
      }
      return errorResponse(internalError(errorMessage(error)));
    }
  }

  #find({ method, path }: TransportRequest): Found {
    const { pathname, searchParams: query } = new URL(path, 'http://control');
    const [collection = '', second, ...rest] = pathname.slice(controlPath.length + 1).split('/');
    const isNumbered = ['faults', 'pod-rules', 'metrics', 'snapshots'].includes(collection);
    const id = isNumbered ? (second ?? '') : '';
    const words = [collection, ...(second === undefined ? [] : [id === '' ? second : '{id}'])];
    const name = [...words, ...rest].join('/');
    const methods = this.#routes[name];
    if (methods === undefined) {
      const known = Object.keys(this.#routes).filter((one) => one !== '');
      const message = `control API: unknown path, got ${pathname}; the paths are ${known.join(', ')}`;
      throw failure(404, 'NotFound', message);
    }
    const route = methods[method];
    const creates = method === 'POST' && isNumbered && id === '';
    if (route !== undefined) return { route, id, query, creates };
    const known = Object.keys(methods).join(', ');
    const message = `control API: ${name}: unsupported method, got ${method}; use ${known}`;
    throw failure(405, 'MethodNotAllowed', message);
  }

  readonly #routes: Readonly<Record<string, Readonly<Partial<Record<string, Route>>>>> = {
    '': { GET: () => this.#state() },
    kubeconfig: { GET: (call) => this.#kubeConfig(call) },
    faults: {
      GET: () => ({ items: this.#cluster.faults.active.map((one) => this.#ids.show(one)) }),
      POST: ({ body }) => this.#ids.show(this.#cluster.faults.add(body as unknown as FaultRule)),
      DELETE: () => this.#cluster.faults.clear(),
    },
    'faults/{id}': {
      GET: ({ id }) => this.#ids.show(this.#ids.find(this.#cluster.faults.active, id)),
      DELETE: ({ id }) => this.#ids.find(this.#cluster.faults.active, id).remove(),
    },
    'pod-rules': {
      GET: () => ({ items: this.#cluster.pods.active.map((one) => this.#ids.show(one)) }),
      POST: ({ body }) => this.#ids.show(this.#cluster.pods.add(body)),
      DELETE: () => this.#cluster.pods.clear(),
    },
    'pod-rules/{id}': {
      DELETE: ({ id }) => this.#ids.find(this.#cluster.pods.active, id).remove(),
    },
    commands: { GET: () => ({ items: this.#cluster.pods.commands }) },
    metrics: {
      GET: () => ({ items: this.#cluster.metrics.active.map((one) => this.#ids.show(one)) }),
      POST: ({ body }) => this.#ids.show(this.#cluster.metrics.add(body as unknown as MetricRule)),
      DELETE: () => this.#cluster.metrics.clear(),
    },
    'metrics/{id}': {
      DELETE: ({ id }) => this.#ids.find(this.#cluster.metrics.active, id).remove(),
    },
    compact: { POST: () => this.#cluster.server.compact() },
    'drop-watches': { POST: () => this.#cluster.server.dropWatches() },
    clock: { GET: () => this.#time() },
    'clock/advance': { POST: ({ body }) => this.#move(() => this.#advance(body)) },
    settle: { POST: ({ body }) => this.#move(() => this.#cluster.settled(body)) },
    snapshots: {
      GET: () => ({ items: [...this.#snapshots].map((one) => this.#shown(one)) }),
      POST: () => {
        const snapshot = this.#cluster.snapshot();
        this.#snapshots.add(snapshot);
        return this.#shown(snapshot);
      },
      DELETE: () => this.#snapshots.clear(),
    },
    'snapshots/{id}': {
      DELETE: ({ id }) => void this.#snapshots.delete(this.#snapshot(id)),
    },
    'snapshots/{id}/restore': {
      POST: ({ id }) => this.#cluster.restore(this.#snapshot(id)),
    },
    requests: {
      GET: (call) => this.#requests(call),
      DELETE: () => this.#cluster.requests.clear(),
    },
    roles: { GET: (call) => this.#roles(call) },
  };

  #state(): unknown {
    const { server } = this.#cluster;
    const { resourceVersion, openWatches } = server;
    return { ...this.#time(), resourceVersion, openWatches };
  }

  #time(): { readonly now: string; readonly virtual: boolean } {
    const { clock } = this.#cluster;
    return { now: new Date(clock.now()).toISOString(), virtual: clock instanceof VirtualClock };
  }

  async #move(move: () => Promise<void>): Promise<unknown> {
    const moved = this.#lastMove.then(move);
    this.#lastMove = moved.catch(() => undefined);
    await moved;
    return this.#time();
  }

  async #advance(body: Body): Promise<void> {
    const { clock } = this.#cluster;
    refuseUnknownOptions<Body>('clock/advance', body, { ms: true });
    const { ms } = body;
    if (typeof ms !== 'number' || !(ms >= 0 && ms <= longestAdvanceMs)) {
      const got = JSON.stringify(ms);
      const message = `clock/advance: want ms to be 0 to ${longestAdvanceMs}, got ${got}`;
      throw new OperatorError('InvalidOption', message);
    }
    if (clock instanceof VirtualClock) {
      await clock.advance(ms);
      return;
    }
    const remedy = 'start the server with a virtual clock (--virtual-clock)';
    throw failure(409, 'Conflict', `control API: the clock is the system's; ${remedy}`);
  }

  #kubeConfig({ query, request }: Call): string {
    knownParameters('kubeconfig', query, ['user']);
    const { host } = request.headers;
    const { protocol } = new URL(this.#cluster.url);
    // The client may reach the server by another name and port, for example from outside a container.
    const url = host === undefined ? this.#cluster.url : `${protocol}//${host}`;
    return this.#cluster.kubeConfig(query.get('user') ?? undefined, { url });
  }

  #snapshot(id: string): StoreSnapshot {
    return this.#ids.find([...this.#snapshots], id);
  }

  #shown(snapshot: StoreSnapshot): unknown {
    const sizes = [...snapshot.collections.values()].map((objects) => [...objects].length);
    return { id: this.#ids.idOf(snapshot), objects: sizes.reduce((sum, size) => sum + size, 0) };
  }

  #requests({ query }: Call): unknown {
    const filters = [
      'user',
      'verb',
      'resource',
      'subresource',
      'namespace',
      'name',
      'group',
    ] as const;
    knownParameters('requests', query, [...filters, 'since', 'entries']);
    const { requests } = this.#cluster;
    const since = query.get('since') ?? '0';
    if (!/^\d{1,15}$/.test(since)) throw badParameter('requests', 'since', ['a mark', since]);
    const wanted = filters.filter((name) => query.has(name));
    const matches = (entry: RequestEntry): boolean =>
      wanted.every((name) => (entry[name] ?? '') === query.get(name));
    const log = requests.since({ count: Number(since) }).filter(matches);
    return {
      total: log.length,
      reads: log.reads,
      writes: log.writes,
      byVerbAndResource: log.byVerbAndResource(),
      byUser: log.byUser(),
      mark: String(requests.mark().count),
      ...(flag('requests', query, 'entries') && { entries: log.entries }),
    };
  }

  #roles({ query }: Call): unknown {
    knownParameters('roles', query, ['user', 'name', 'denied', 'names', 'clusterWide']);
    const items = usedRoles(this.#cluster.requests.entries, {
      user: query.get('user') ?? undefined,
      name: query.get('name') ?? undefined,
      denied: flag('roles', query, 'denied'),
      names: flag('roles', query, 'names'),
      clusterWide: flag('roles', query, 'clusterWide'),
    });
    return { apiVersion: 'v1', kind: 'List', items };
  }
}

// 366 days: firing the timers of a longer advance would block the server.
const longestAdvanceMs = 366 * 24 * 60 * 60_000;

type Body = Readonly<Record<string, unknown>>;

interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly request: TransportRequest;
  /** The JSON of the request; empty without a body. */
  readonly body: Body;
}

/** Handles a call. A string is sent as YAML, undefined as an empty object, and any other result as JSON. */
type Route = (call: Call) => unknown;

interface Found extends Pick<Call, 'id' | 'query'> {
  readonly route: Route;
  /** Whether the route adds an item to a collection. */
  readonly creates: boolean;
}

function isControlPath(path: string): boolean {
  return path.startsWith('/_control/');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bodyOf(request: TransportRequest): Body {
  const text = bodyText(request);
  if (text.trim() === '') return {};
  const { value } = parseJson(text, (problem) => badBody(problem));
  if (!isJsonObject(value)) throw badBody(`got ${Array.isArray(value) ? 'a list' : String(value)}`);
  return value;
}

function badBody(problem: string): StatusError {
  return failure(400, 'BadRequest', `control API: want a body of a JSON object: ${problem}`);
}

function knownParameters(path: string, query: URLSearchParams, names: readonly string[]): void {
  const known = Object.fromEntries(names.map((name) => [name, true])) as OptionNames<Body>;
  refuseUnknownOptions<Body>(path, Object.fromEntries(query), known);
}

function flag(path: string, query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw badParameter(path, name, ['true or false', value]);
}

function badParameter(
  path: string,
  name: string,
  [wanted, got]: readonly [string, string],
): OperatorError {
  const message = `${path}: want ${name} to be ${wanted}, got ${JSON.stringify(got)}`;
  return new OperatorError('InvalidOption', message);
}

/** Numbers items in the order in which they are first shown. */
class NumberedItems {
  readonly #ids = new WeakMap<object, string>();
  #count = 0;

  idOf(item: object): string {
    const id = this.#ids.get(item) ?? String(++this.#count);
    this.#ids.set(item, id);
    return id;
  }

  /** Returns an active rule as JSON. */
  show(item: ShownRule): ShownRule & { readonly id: string } {
    const { rule, struck } = item;
    return { id: this.idOf(item), rule, ...(struck !== undefined && { struck }) };
  }

  /** @throws StatusError 404: there is no such item. */
  find<T extends object>(items: readonly T[], id: string): T {
    const found = items.find((item) => this.idOf(item) === id);
    if (found !== undefined) return found;
    const known = items.map((item) => this.idOf(item)).join(', ');
    throw failure(
      404,
      'NotFound',
      `control API: unknown id, got ${JSON.stringify(id)}; known ids: ${known === '' ? 'none' : known}`,
    );
  }
}

interface ShownRule {
  readonly rule: object;
  /** The number of requests that a fault has affected. */
  readonly struck?: number;
}

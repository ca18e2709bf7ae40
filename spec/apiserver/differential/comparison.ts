import { isDeepStrictEqual } from 'node:util';
import uniqWith from 'lodash/uniqWith.js';
import { comparable } from '../recorded-server/comparable.js';
import { ScenarioNames, versionsInPlace } from './scenario-names.js';
import { isCollection } from './scenario.js';
import type { Request, Scenario } from './scenario.js';
import type { Answer, Server } from './servers.js';

/** The normalised answers of both servers to one request. */
export interface Comparison {
  readonly scenario: string;
  readonly request: Request;
  readonly embedded: Answer;
  readonly real: Answer;
  /** Set if the answers differed in an earlier run of the scenario. */
  readonly differedBefore?: boolean;
}

/** The embedded server, and the real one that it must agree with. */
export interface Servers {
  readonly embedded: Server;
  readonly real: Server;
}

/**
 * Runs scenarios on both servers, several at a time, and returns their comparisons in order. A scenario with
 * differences runs again, in a new namespace: plugins of the real server watch nodes, limits and webhooks, and
 * on a busy machine they may receive a change only after the next request. The second run decides.
 * @param run - part of the names of namespaces
 */
export async function compare(
  servers: Servers,
  scenarios: readonly Scenario[],
  run = Date.now().toString(36),
): Promise<Comparison[]> {
  const results = await severalAtATime(scenarios, async (scenario, index) => {
    const namespace = namespaceOf(run, index);
    const first = await compareScenario(servers, scenario, namespace);
    if (first.every(agrees)) return first;
    return compared(first, await compareScenario(servers, scenario, `${namespace}-again`));
  });
  return results.flat();
}

/**
 * Runs scenarios on a server of this process, several at a time, and returns the normalised answers to each. A
 * scenario waits for such a server for at most one second.
 */
export function answersOf(
  server: Server,
  scenarios: readonly Scenario[],
  run: string,
): Promise<Answer[][]> {
  return severalAtATime(scenarios, async ({ requests }, index) => {
    const own = new Run(server, namespaceOf(run, index), 1_000);
    await own.start();
    const answers: Answer[] = [];
    for (const request of requests) {
      const answer = await own.send(request);
      answers.push(answer);
      if (answer.code === request.whileStatus) break;
    }
    return answers;
  });
}

function namespaceOf(run: string, index: number): string {
  return `diff-${run}-${index}`;
}

const parallel = 6;

async function severalAtATime<R>(
  scenarios: readonly Scenario[],
  work: (scenario: Scenario, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = scenarios.entries();
  const worker = async (): Promise<void> => {
    for (const [index, scenario] of waiting) results[index] = await work(scenario, index);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

function agrees({ embedded, real }: Comparison): boolean {
  return isDeepStrictEqual(embedded, real);
}

/** Returns the comparisons of a second run, with those that differed in the first marked. */
function compared(first: readonly Comparison[], second: readonly Comparison[]): Comparison[] {
  return second.map((comparison, index) => {
    const { [index]: before } = first;
    const differedBefore = before !== undefined && !agrees(before);
    return differedBefore ? { ...comparison, differedBefore } : comparison;
  });
}

async function compareScenario(
  servers: Servers,
  { title, requests }: Scenario,
  namespace: string,
): Promise<Comparison[]> {
  const runs = {
    embedded: new Run(servers.embedded, namespace),
    real: new Run(servers.real, namespace),
  };
  await Promise.all([runs.embedded.start(), runs.real.start()]);
  const comparisons: Comparison[] = [];
  for (const request of requests) {
    const [embedded, real] = await Promise.all([
      runs.embedded.send(request),
      runs.real.send(request),
    ]);
    const comparison = { scenario: title, request, embedded, real };
    comparisons.push(comparison);
    if (agrees(comparison) && embedded.code === request.whileStatus) break;
  }
  return comparisons;
}

/** Returns the parts of two answers that differ. */
export function differences(embedded: unknown, real: unknown, path = ''): readonly Difference[] {
  if (isDeepStrictEqual(embedded, real)) return [];
  const isInside =
    isTree(embedded) && isTree(real) && Array.isArray(embedded) === Array.isArray(real);
  if (!isInside) return [{ path, embedded, real }];
  const names = new Set([...Object.keys(real), ...Object.keys(embedded)]);
  return [...names].flatMap((name) => differences(embedded[name], real[name], `${path}.${name}`));
}

/** A part of two answers. */
export interface Difference {
  readonly path: string;
  readonly embedded: unknown;
  readonly real: unknown;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** A scenario on one server. */
class Run {
  readonly #server: Server;
  readonly #namespace: string;
  readonly #longestWaitMs: number;
  readonly #answers = new Map<string, unknown>();
  readonly #names = new ScenarioNames();

  constructor(server: Server, namespace: string, longestWaitMs = 5_000) {
    this.#server = server;
    this.#namespace = namespace;
    this.#longestWaitMs = longestWaitMs;
  }

  async start(): Promise<void> {
    const body = { metadata: { name: this.#namespace } };
    await this.#server.send({ method: 'POST', path: '/api/v1/namespaces', body });
  }

  async send(request: Request): Promise<Answer> {
    const filled = { ...request, ...(this.#fill(request) as Request) };
    const answer = await this.#settled(filled);
    if (request.as !== undefined) this.#answers.set(request.as, answer.body);
    await this.#written(filled, answer);
    return normalised(answer, filled, { namespace: this.#namespace, names: this.#names });
  }

  async #settled(request: Request): Promise<Answer> {
    return this.#sendWhile(
      request,
      // A real server first has to prepare the storage of a new kind or schema.
      (answer) => answer.code === request.whileStatus || isPreparing(answer),
    );
  }

  /** Sends a request again while `waits` returns true for its answer, but at most for the longest wait of the run. */
  async #sendWhile(request: Request, waits: (answer: Answer) => boolean): Promise<Answer> {
    const until = Date.now() + this.#longestWaitMs;
    for (;;) {
      const answer = await this.#server.send(request);
      if (!waits(answer) || Date.now() > until) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /**
   * Waits until the server has done what it does after a write, so that the next answer does not depend on time:
   * - The cache of the server has the change. A real server answers some requests from its cache, and begins a write
   *   with the cached object. If that object is old, it begins again, and its answer has the warnings of both tries.
   * - The controllers of the server have accepted the names of a CRD.
   */
  async #written(request: Request, { code, body }: Answer): Promise<void> {
    const { method, path } = request;
    if (method === 'GET' || code >= 300) return;
    const { pathname } = new URL(path, 'http://localhost');
    if (method === 'DELETE') {
      await this.#deleted(isCollection(path) ? pathname : pathname.replace(/\/[^/]*$/, ''));
      return;
    }
    const { metadata } = (body ?? {}) as Partial<KubernetesObject>;
    const object = method === 'POST' ? `${pathname}/${metadata?.name ?? ''}` : pathname;
    const { resourceVersion } = metadata ?? {};
    // The answer to a dry run or a review has no version.
    if (resourceVersion === undefined) return;
    await this.#read(`${object}?resourceVersion=${resourceVersion}`);
    if (!pathname.includes('/customresourcedefinitions')) return;
    const isAccepting = (answer: Answer): boolean =>
      answer.code === 200 && !isAccepted(answer.body as KubernetesObject);
    await this.#sendWhile({ method: 'GET', path: object }, isAccepting);
  }

  /** Waits until the server's cache is as new as its store: lists at the version that the store has now. */
  async #deleted(collection: string): Promise<void> {
    const { body } = await this.#read(`${collection}?limit=1`);
    const { resourceVersion = '0' } = (body as Partial<KubernetesObject>).metadata ?? {};
    await this.#read(`${collection}?resourceVersion=${resourceVersion}`);
  }

  #read(path: string): Promise<Answer> {
    return this.#server.send({ method: 'GET', path });
  }

  #fill(request: Request): unknown {
    const text = JSON.stringify({
      path: request.path,
      body: request.body,
      headers: request.headers,
    });
    const withAnswers = text.replace(/"\{\{(\w+)\}\}"/g, (whole, name: string) =>
      this.#answers.has(name) ? JSON.stringify(this.#answers.get(name)) : whole,
    );
    const filled = withAnswers.replace(/\{\{([\w.-]+)\}\}/g, (whole, path: string) => {
      if (path === 'ns') return this.#namespace;
      const [name = '', ...members] = path.split('.');
      let value: unknown = this.#answers.get(name);
      for (const member of members) value = (value as Record<string, unknown> | null)?.[member];
      return typeof value === 'string' ? value : whole;
    });
    return JSON.parse(filled);
  }
}

interface KubernetesObject {
  readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec?: { readonly names?: object };
  readonly status?: {
    readonly acceptedNames?: object;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

function isPreparing({ code, body }: Answer): boolean {
  return code === 429 && JSON.stringify(body).includes('storage is (re)initializing');
}

function isAccepted({ spec, status }: KubernetesObject): boolean {
  const { acceptedNames = {}, conditions = [] } = status ?? {};
  const accepts = Object.entries(spec?.names ?? {}).every(([member, name]) =>
    isDeepStrictEqual(acceptedNames[member as never], name),
  );
  return accepts && conditions.some(({ type }) => type === 'Established');
}

/** Returns an answer without the values that differ between two servers that behave equally. */
function normalised(
  { type, body, code, warning }: Answer,
  request: Request,
  { namespace, names }: { readonly namespace: string; readonly names: ScenarioNames },
): Answer {
  const own = names.next(request);
  const whole = {
    ...{ code, body: versionsInPlace(withoutGenerated(body, request), request, names) },
    ...(warning !== undefined && { warning }),
  };
  const text = JSON.stringify(comparable(whole, own))
    .replaceAll(namespace, 'NAMESPACE')
    // The address of a Service in a message.
    .replace(/10\.96\.(?!0\.)\d+\.\d+/g, 'ADDRESS')
    .replace(/(nodePort\\+":)\d+/g, '$1PORT');
  return { type, ...(withoutRepeatedCauses(JSON.parse(text)) as Omit<Answer, 'type'>) };
}

/** Drops equal causes: the real server repeats one each time that a kind checks its metadata. */
function withoutRepeatedCauses(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) =>
      name === 'causes' && Array.isArray(value) ? uniqWith(value, isDeepStrictEqual) : value,
    ),
  );
}

/** Replaces the random end of generated names. */
function withoutGenerated(body: unknown, request: Request): unknown {
  let result = JSON.stringify(body);
  const prefixes = (JSON.stringify(request.body ?? '') + result).matchAll(
    /"generateName":"([\w-]+)"/g,
  );
  for (const [, prefix = ''] of prefixes) {
    // A server cuts a prefix after 58 characters.
    const kept = prefix.slice(0, 58);
    result = result.replaceAll(new RegExp(`${kept}[a-z0-9]{5}`, 'g'), `${kept}RANDOM`);
  }
  return JSON.parse(result);
}

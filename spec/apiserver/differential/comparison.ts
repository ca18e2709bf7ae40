import { isDeepStrictEqual } from 'node:util';
import uniqWith from 'lodash/uniqWith.js';
import { comparable } from '../recorded-server/comparable.js';
import { ScenarioNames, versionsInPlace } from './scenario-names.js';
import type { Request, Scenario } from './scenario.js';
import type { Answer, Server } from './servers.js';

/** The normalised answers of both servers to one request. */
export interface Comparison {
  readonly scenario: string;
  readonly request: Request;
  readonly embedded: Answer;
  readonly real: Answer;
}

/** The embedded server, and the real one that it must agree with. */
export interface Servers {
  readonly embedded: Server;
  readonly real: Server;
}

/** Runs scenarios on both servers, several at a time, and returns their comparisons in order. */
export async function compare(
  servers: Servers,
  scenarios: readonly Scenario[],
  parallel = 6,
): Promise<Comparison[]> {
  const results: Comparison[][] = [];
  const run = Date.now().toString(36);
  const waiting = scenarios.entries();
  const worker = async (): Promise<void> => {
    for (const [index, scenario] of waiting) {
      results[index] = await compareScenario(servers, scenario, `diff-${run}-${index}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results.flat();
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
    const agrees = isDeepStrictEqual(embedded, real);
    comparisons.push({ scenario: title, request, embedded, real });
    if (agrees && embedded.code === request.whileStatus) break;
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

/** Returns the first part of two answers that differs. */
export function firstDifference(embedded: unknown, real: unknown): Difference | undefined {
  return differences(embedded, real)[0];
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
  readonly #answers = new Map<string, unknown>();
  readonly #names = new ScenarioNames();

  constructor(server: Server, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  async start(): Promise<void> {
    const body = { metadata: { name: this.#namespace } };
    await this.#server.send({ method: 'POST', path: '/api/v1/namespaces', body });
  }

  async send(request: Request): Promise<Answer> {
    const filled = { ...request, ...(this.#fill(request) as Request) };
    const answer = await this.#settled(filled);
    if (request.as !== undefined) this.#answers.set(request.as, answer.body);
    await this.#cached(filled, answer);
    return normalised(answer, filled, { namespace: this.#namespace, names: this.#names });
  }

  async #settled(request: Request): Promise<Answer> {
    const until = Date.now() + 5000;
    for (;;) {
      const answer = await this.#server.send(request);
      // A real server answers 429 while it prepares the storage of a new kind.
      const waits = request.whileStatus !== undefined && answer.code === 429;
      if (!(waits || answer.code === request.whileStatus) || Date.now() > until) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /**
   * Waits until the server's cache has the object that a request wrote. A real server starts the next write with
   * the object in its cache: with an old one, it starts again, and its answer has the warnings of both.
   */
  async #cached({ method, path }: Request, { body }: Answer): Promise<void> {
    const { metadata } = (body ?? {}) as { metadata?: { name?: string; resourceVersion?: string } };
    const { name, resourceVersion = '' } = metadata ?? {};
    if (method === 'GET' || method === 'DELETE' || resourceVersion === '') return;
    const { pathname } = new URL(path, 'http://localhost');
    const object = method === 'POST' ? `${pathname}/${name ?? ''}` : pathname;
    await this.#server.send({
      method: 'GET',
      path: `${object}?resourceVersion=${resourceVersion}`,
    });
  }

  #fill(request: Request): unknown {
    const text = JSON.stringify({
      path: request.path,
      body: request.body,
      headers: request.headers,
    });
    const filled = text.replace(/\{\{([\w.-]+)\}\}/g, (whole, path: string) => {
      if (path === 'ns') return this.#namespace;
      const [name = '', ...members] = path.split('.');
      let value: unknown = this.#answers.get(name);
      for (const member of members) value = (value as Record<string, unknown> | null)?.[member];
      return typeof value === 'string' ? value : whole;
    });
    return JSON.parse(filled);
  }
}

/** Returns what is equal on two servers that behave equally. */
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
    // A Service in a message.
    .replace(/10\.96\.\d+\.\d+/g, 'ADDRESS')
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
    // A server cuts long prefixes.
    const kept = prefix.slice(0, 58);
    result = result.replaceAll(new RegExp(`${kept}[a-z0-9]{5}`, 'g'), `${kept}RANDOM`);
  }
  return JSON.parse(result);
}

import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import type { EmbeddedApiServerOptions } from '../../lib/apiserver/internal.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { seededRandom } from '../../lib/system/random.js';
import type { TransportRequest, TransportResponse } from '../../lib/system/transport.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** A response with its whole body. */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body parsed as JSON, unchecked. */
  readonly body: UnstructuredObject & { items: UnstructuredObject[]; message: string };
}

/** An event of a watch. */
export interface Event {
  readonly type: string;
  readonly object: UnstructuredObject;
}

export const merge = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const strategic = 'application/strategic-merge-patch+json';
export const apply = 'application/apply-patch+yaml';

export const configMaps = '/api/v1/namespaces/default/configmaps';
export const deployments = '/apis/apps/v1/namespaces/default/deployments';

/** A server with a virtual clock, and shortcuts for requests. */
export class Api {
  readonly clock = new VirtualClock(Date.UTC(2026, 0, 1));
  readonly server: EmbeddedApiServer;

  constructor(options: EmbeddedApiServerOptions = {}) {
    this.server = new EmbeddedApiServer({ clock: this.clock, random: seededRandom(1), ...options });
  }

  raw(request: Partial<TransportRequest> & { path: string }): Promise<TransportResponse> {
    const { headers = {}, ...rest } = request;
    const own = { 'user-agent': 'spec/1', ...headers };
    return this.server.handle({ method: 'GET', headers: own, ...rest });
  }

  async call(
    method: TransportRequest['method'],
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<Answer> {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': contentType };
    const response = await this.raw({
      method,
      path,
      headers,
      ...(body !== undefined && { body: sent }),
    });
    return read(response);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.raw({ path, headers }).then(read);
  }

  /** Creates an object, and expects success. */
  async create(path: string, body: object): Promise<UnstructuredObject> {
    const answer = await this.call('POST', path, body);
    if (answer.code !== 201) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  }

  async watch(path: string, signal?: AbortSignal): Promise<Watch> {
    const request = { method: 'GET', path, headers: {}, streaming: true } as const;
    const transport = this.server.transport();
    const response = await transport.request({ ...request, ...(signal && { signal }) });
    return new Watch(response);
  }
}

/** Reads the events of a watch one at a time. */
export class Watch {
  readonly code: number;
  readonly #body: AsyncIterator<Uint8Array>;
  readonly #events: Event[] = [];

  constructor({ status, body }: TransportResponse) {
    this.code = status;
    this.#body = body[Symbol.asyncIterator]();
  }

  /** Returns the next event; undefined when the watch has ended. */
  async next(): Promise<Event | undefined> {
    while (this.#events.length === 0) {
      const result = await this.#body.next();
      if (result.done === true) return undefined;
      const lines = new TextDecoder()
        .decode(result.value)
        .split('\n')
        .filter((line) => line !== '');
      this.#events.push(...lines.map((line) => JSON.parse(line) as Event));
    }
    return this.#events.shift();
  }

  /** Returns the next `count` events as `ADDED a`, `MODIFIED b`. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    for (let index = 0; index < count; index++) {
      const event = await this.next();
      names.push(
        event === undefined ? 'end' : `${event.type} ${event.object.metadata.name ?? ''}`.trim(),
      );
    }
    return names;
  }

  async stop(): Promise<void> {
    await this.#body.return?.();
  }
}

async function read(response: TransportResponse): Promise<Answer> {
  let text = '';
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  const isJson = /^[[{]/.test(text) && !text.includes('}\n{');
  const body = (isJson ? JSON.parse(text) : {}) as Answer['body'];
  return { code: response.status, headers: response.headers, text, body };
}

export function configMap(name: string, data: Record<string, string> = {}, metadata = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function deployment(name: string, spec = {}): object {
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template, ...spec },
  };
}

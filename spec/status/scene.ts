import omit from 'lodash/omit.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import type { CustomResourceDefinition } from '../../lib/object/kinds.js';
import type { Condition, KubernetesObject } from '../../lib/object/index.js';
import { StatusWriter } from '../../lib/status/index.js';
import type { StatusWriterOptions } from '../../lib/status/index.js';
import { silentLogger } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

/** An object with a status. */
export interface Shop extends KubernetesObject {
  readonly spec?: { readonly size?: number };
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly Condition[];
  };
}

const text = { type: 'string' };
const condition = {
  ...{ type: 'object', required: ['type', 'status'] },
  properties: {
    ...{ type: text, status: text, reason: text, message: text, lastTransitionTime: text },
    observedGeneration: { type: 'integer' },
  },
};
const conditions = {
  ...{ type: 'array', items: condition, 'x-kubernetes-list-type': 'map' },
  'x-kubernetes-list-map-keys': ['type'],
};
const status = {
  type: 'object',
  properties: { conditions, phase: text, url: text, observedGeneration: { type: 'integer' } },
};

/**
 * Kinds with statuses of several schemas: whole, with a plain list of conditions, without fields, with conditions that
 * have a default and no `observedGeneration`, with conditions that have no message, and without the subresource.
 */
const schemas: Readonly<Record<string, object | undefined>> = {
  Shop: status,
  Stall: withConditions(plain(conditions)),
  Booth: undefined,
  Kiosk: withConditions({
    ...conditions,
    items: withMembers({
      ...omit(condition.properties, 'observedGeneration'),
      severity: { ...text, default: 'Info' },
    }),
  }),
  Cart: withConditions({
    ...conditions,
    items: withMembers(omit(condition.properties, 'message')),
  }),
  Stand: status,
};

function withConditions(list: object): object {
  return { ...status, properties: { ...status.properties, conditions: list } };
}

function withMembers(properties: object): object {
  return { ...condition, properties };
}

function plain(list: object): object {
  return Object.fromEntries(Object.entries(list).filter(([name]) => !name.startsWith('x-')));
}

function definition(kind: string, ofStatus: object | undefined): CustomResourceDefinition {
  const plural = `${kind.toLowerCase()}s`;
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const subresources = kind === 'Stand' ? {} : { subresources: { status: {} } };
  const properties = { spec, ...(ofStatus !== undefined && { status: ofStatus }) };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.status.example.com` },
    spec: {
      ...{ group: 'status.example.com', scope: 'Namespaced', names: { kind, plural } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, ...subresources },
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

/** A server with kinds that have a status, and a clock that stands still. */
export class StatusScene {
  readonly clock = new VirtualClock();
  readonly #cluster: EmbeddedCluster;
  readonly client: Client;
  #count = 0;

  private constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
    this.client = cluster.client({ user: 'operator' });
  }

  static async open(): Promise<StatusScene> {
    const cluster = await EmbeddedCluster.start();
    const scene = new StatusScene(cluster);
    const clock = scene.clock;
    const all = Object.entries(schemas).map(([kind, schema]) => definition(kind, schema));
    await Promise.all(all.map((each) => ensureCrd(cluster.client(), each, { clock })));
    return scene;
  }

  close(): Promise<void> {
    return this.#cluster.stop();
  }

  /** Creates an object with a name of its own. */
  create(kind = 'Shop'): Promise<Shop> {
    const metadata = { name: `one-${++this.#count}`, namespace: 'default' };
    return this.client.create<Shop>({
      ...{ apiVersion: 'status.example.com/v1', kind, metadata, spec: { size: 1 } },
    });
  }

  read({ apiVersion, kind, metadata }: Shop): Promise<Shop> {
    const { namespace, name = '' } = metadata;
    return this.client.get<Shop>({ apiVersion, kind }, { namespace, name });
  }

  /** Returns the writes during `work`. */
  async writesDuring(work: () => Promise<unknown>): Promise<number> {
    const verbs = await this.requestsDuring(work);
    return verbs.filter((verb) => verb !== 'get' && verb !== 'list').length;
  }

  /** Returns the verbs of the requests during `work`. */
  async requestsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
    const mark = this.#cluster.requests.mark();
    await work();
    return this.#cluster.requests.since(mark).entries.map(({ verb }) => verb);
  }
}

/** A writer of the condition Ready in a process of its own. */
export function newWriter(
  scene: StatusScene,
  fieldManager: string,
  more: Partial<StatusWriterOptions<Shop>> = {},
) {
  const { type = { apiVersion: 'status.example.com/v1', kind: 'Shop' } } = more;
  const options = { strategy: 'apply', generation: false, remedy: 'rename one' } as const;
  const writer = new StatusWriter<Shop>({ ...options, type, fieldManager, ...more });
  const warnings: string[] = [];
  const notes: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (text: string) => void warnings.push(text),
    info: (text: string) => void notes.push(text),
  };
  const { client, clock } = scene;
  const context = { client, clock, logger, signal: new AbortController().signal };
  const write = async (object: Shop, reason: string, status: 'True' | 'False' = 'True') => {
    const current = await scene.read(object);
    const conditions = [{ type: 'Ready', status, reason, message: reason }];
    return writer.write(current, { conditions }, { context });
  };
  return { writer, warnings, notes, write, context };
}

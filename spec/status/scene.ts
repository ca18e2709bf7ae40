import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import type { CustomResourceDefinition } from '../../lib/object/kinds.js';
import type { Condition, KubernetesObject } from '../../lib/object/index.js';
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

/** Kinds with statuses of several schemas: whole, with a plain list of conditions, and without fields. */
const schemas: Readonly<Record<string, object | undefined>> = {
  Shop: status,
  Stall: { ...status, properties: { ...status.properties, conditions: plain(conditions) } },
  Booth: undefined,
};

function plain(list: object): object {
  return Object.fromEntries(Object.entries(list).filter(([name]) => !name.startsWith('x-')));
}

function definition(kind: string, ofStatus: object | undefined): CustomResourceDefinition {
  const plural = `${kind.toLowerCase()}s`;
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const properties = { spec, ...(ofStatus !== undefined && { status: ofStatus }) };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.status.example.com` },
    spec: {
      ...{ group: 'status.example.com', scope: 'Namespaced', names: { kind, plural } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

/** A server with the kinds Shop, Stall and Booth, and a clock that stands still. */
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

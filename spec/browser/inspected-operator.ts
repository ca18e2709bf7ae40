import type { ConnectedClient } from '../../lib/client/http-client.js';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import { Manager } from '../../lib/manager/manager.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import type { Deployment } from '../../lib/object/kinds.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';
import { inspectorUrl } from '../manager/inspector/inspected.js';

/** Text that would run a script if it were not escaped. */
export const hostile = `<img src=x onerror="document.title='owned'">"'><script>document.title='owned'</script>`;

/** An operator with an inspector, on an embedded cluster with the system clock. */
export class InspectedOperator {
  readonly cluster: EmbeddedCluster;
  readonly person: ConnectedClient;
  readonly #stop = new AbortController();
  readonly #manager: Manager;
  #running: Promise<void> = Promise.resolve();

  private constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
    this.person = cluster.client({ user: 'system:admin' });
    const client = cluster.client({ user: 'operator' });
    const inspector = { host: '127.0.0.1', port: 0, updateMs: 100 };
    this.#manager = new Manager({ client, inspector });
    const reconciler = controllerFor(ConfigMap).owns(Secret);
    this.#manager.add(
      reconciler.complete(async ({ key }) => {
        if (key.name === 'bad') throw new Error(hostile);
        return done();
      }),
    );
  }

  static async start(): Promise<InspectedOperator> {
    const operator = new InspectedOperator(await EmbeddedCluster.start());
    operator.#running = operator.#manager.run(operator.#stop.signal);
    await operator.#manager.whenLeading();
    return operator;
  }

  get url(): string {
    return inspectorUrl(this.#manager);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.cluster.stop();
  }

  async create(name: string): Promise<ConfigMap> {
    return this.person.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
      data: { word: 'never-shown' },
    });
  }

  /**
   * Creates a Deployment (not cached) that owns a ConfigMap, which owns a Secret. @returns the
   * ConfigMap
   */
  async createTree(): Promise<ConfigMap> {
    const labels = { app: 'shop' };
    const deployment = await this.person.create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: 'shop', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
      },
    });
    const conditions = [{ type: 'Available', status: 'True', reason: 'Fine', message: hostile }];
    await this.person.update<Deployment>(
      { ...deployment, status: { conditions } },
      {
        subresource: 'status',
      },
    );
    const config = await this.person.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'shop', namespace: 'default', ownerReferences: [ownedBy(deployment)] },
    });
    await this.person.create<Secret>({
      ...{ apiVersion: 'v1', kind: 'Secret' },
      metadata: { name: 'shop-key', namespace: 'default', ownerReferences: [ownedBy(config)] },
      stringData: { key: 'never-shown' },
    });
    return config;
  }
}

function ownedBy({ apiVersion, kind, metadata }: KubernetesObject) {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true };
}

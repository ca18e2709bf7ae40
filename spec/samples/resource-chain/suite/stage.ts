import { getIfExists } from '../../../../lib/client/index.js';
import {
  ConfigMap,
  Deployment,
  Event,
  Namespace,
  Pod,
  Secret,
  Service,
} from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../../lib/object/resource-type.js';
import { siteOperator } from '../../../../samples/resource-chain/operator.js';
import type { ChainOptions } from '../../../../samples/resource-chain/chain-parts.js';
import { FakeRegistry } from '../../../../samples/resource-chain/registry.js';
import { Site, chainLabel } from '../../../../samples/resource-chain/site.js';
import type { BuilderTarget, Operator } from '../../../builder/suite/target.js';
import { isWrite } from '../../../builder/suite/target.js';
import { RunningOperators } from '../../suite/running-operators.js';
import { isSettled } from './settled.js';

const kinds: readonly ResourceType<KubernetesObject>[] = [ConfigMap, Secret, Service, Deployment];

let stages = 0;

/** A site, and an operator that reconciles no other. */
export class SiteStage {
  readonly name: string;
  readonly target: BuilderTarget;
  readonly operator: Operator;
  readonly registry: FakeRegistry;
  readonly #running: RunningOperators;

  private constructor(target: BuilderTarget, operator: Operator, name: string) {
    this.target = target;
    this.#running = new RunningOperators(target);
    this.operator = operator;
    this.name = name;
    this.registry = new FakeRegistry(target.clock, 3_000);
  }

  static async open(target: BuilderTarget): Promise<SiteStage> {
    // Cluster-scoped names must be unique: other specs share the real server.
    const name = `site-${++stages}-${target.real ? Math.floor(target.clock.now()) : 'x'}`;
    return new SiteStage(target, await target.operator(), name);
  }

  get domain(): string {
    return `${this.name}.example.com`;
  }

  /** Starts the operator; resolves when it works. */
  start(options: Partial<ChainOptions> = {}): Promise<void> {
    const { client } = this.operator;
    const { clock } = this.target;
    const { registry, name: site } = this;
    return this.#running.operate(siteOperator({ registry, site, ...options }), { client, clock });
  }

  /** Stops the operator; running reconciles may finish in their time. */
  stop(): Promise<void> {
    return this.#running.stop();
  }

  /** Calls `check` until it no longer throws; time advances meanwhile. */
  eventually<T>(check: () => Promise<T>): Promise<T> {
    return this.#running.eventually(check);
  }

  async create(labels: Record<string, string> = { [chainLabel]: 'v1' }): Promise<Site> {
    return this.target.admin.create<Site>({
      apiVersion: 'sites.example.com/v1',
      kind: 'Site',
      metadata: { name: this.name, labels },
      spec: { domain: this.domain, replicas: 2 },
    });
  }

  patch(body: object): Promise<Site> {
    return this.target.admin.patch(Site, { name: this.name }, { type: 'merge', body });
  }

  moveTo(chain: string): Promise<Site> {
    return this.patch({ metadata: { labels: { [chainLabel]: chain } } });
  }

  remove(): Promise<unknown> {
    return this.target.admin.delete(Site, { name: this.name });
  }

  site(): Promise<Site | undefined> {
    return getIfExists(this.target.admin, Site, { name: this.name });
  }

  /** Waits until the newest spec is applied. */
  async settled(chain: string): Promise<void> {
    await this.eventually(async () => {
      const site = await this.site();
      if (site !== undefined && isSettled(site, chain)) return;
      throw new Error(`not settled: ${JSON.stringify(site?.status)}`);
    });
  }

  /** Waits until no object is left. */
  async gone(): Promise<void> {
    await this.eventually(async () => {
      const { admin } = this.target;
      const namespace = await getIfExists(admin, Namespace, { name: this.name });
      if (namespace !== undefined) throw new Error('the namespace is still there');
      if ((await this.site()) !== undefined) throw new Error('the site is still there');
    });
  }

  /** Returns the UIDs of the site's objects: `Deployment web` and so on. */
  async objects(): Promise<ReadonlyMap<string, string>> {
    const { admin } = this.target;
    const lists = await Promise.all(
      kinds.map(async (kind) => {
        const { items } = await admin.list(kind, { namespace: this.name });
        return items.map(({ metadata: { name = '', uid = '' } }) => {
          return [`${kind.kind} ${name}`, uid] as const;
        });
      }),
    );
    const found = new Map(lists.flat());
    found.delete('ConfigMap kube-root-ca.crt');
    return found;
  }

  /** Returns the UIDs of a Deployment's pods, sorted. */
  async pods(app: string): Promise<readonly string[]> {
    const within = { namespace: this.name, labelSelector: `app=${app}` };
    const { items } = await this.target.admin.list(Pod, within);
    return items.map(({ metadata: { uid = '' } }) => uid).sort();
  }

  /** Returns the operator's warnings about the site. */
  async warnings(): Promise<readonly string[]> {
    const { items } = await this.target.admin.list(Event, {});
    return items
      .filter(({ regarding, type }) => regarding?.name === this.name && type === 'Warning')
      .map(({ note = '' }) => note);
  }

  /** Returns the operator's writes since the last call, without events. */
  async writes(): Promise<readonly string[]> {
    const requests = await this.operator.requests();
    return requests
      .filter((request) => isWrite(request) && request.resource !== 'events')
      .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
  }
}

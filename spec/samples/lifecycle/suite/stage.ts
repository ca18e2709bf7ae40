import { expect } from 'chai';
import { getIfExists } from '../../../../lib/client/index.js';
import { Deployment } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../../lib/object/resource-type.js';
import { isOperatorError } from '../../../../lib/system/operator-error.js';
import { ownedTypes, sampleOperator } from '../../../../samples/lifecycle/operator.js';
import { SampleConfig } from '../../../../samples/lifecycle/sample-config.js';
import type { BuilderTarget, Operator } from '../../../builder/suite/target.js';
import { isWrite } from '../../../builder/suite/target.js';
import { RunningOperators } from '../../suite/running-operators.js';
import { isDeployed } from './deployed.js';
import { servingPods } from './serving-pods.js';

let stages = 0;

/** A SampleConfig, its namespace, and operators of any release that reconcile it. */
export class SampleStage {
  readonly name: string;
  readonly namespace: string;
  readonly target: BuilderTarget;
  readonly operator: Operator;
  /** Event reasons since the last call, in order. */
  #events: string[] = [];
  readonly #running: RunningOperators;

  private constructor(target: BuilderTarget, operator: Operator, namespace: string) {
    this.target = target;
    this.#running = new RunningOperators(target);
    this.operator = operator;
    this.namespace = namespace;
    this.name = `sample-${++stages}-${namespace}`;
  }

  static async open(target: BuilderTarget): Promise<SampleStage> {
    return new SampleStage(target, await target.operator(), await target.namespace());
  }

  /** Starts the operator of this release; resolves when it works. */
  start(version: string): Promise<void> {
    const { client } = this.operator;
    const { clock } = this.target;
    const operator = sampleOperator({
      ...{ release: version, namespace: this.namespace },
      onEvent: ({ reason }) => this.#events.push(reason),
    });
    return this.#running.operate(operator, { client, clock });
  }

  /** Stops the operator; running reconciles may finish in their time. */
  stop(): Promise<void> {
    return this.#running.stop();
  }

  /** Stops the operator, and deletes objects that a failed spec left behind. */
  async close(): Promise<void> {
    await this.stop();
    const { admin } = this.target;
    const found = await getIfExists(admin, SampleConfig, { name: this.name }).catch(noKind);
    if (found === undefined) return;
    await this.patch({ metadata: { finalizers: null } });
    if (found.metadata.deletionTimestamp === undefined) await this.remove();
  }

  /** Replaces the running release by another. */
  async replaceBy(version: string): Promise<void> {
    await this.stop();
    await this.start(version);
  }

  /** Calls `check` until it no longer throws; time advances meanwhile. */
  eventually<T>(check: () => Promise<T>): Promise<T> {
    return this.#running.eventually(check);
  }

  create(spec: SampleConfig['spec'] = {}): Promise<SampleConfig> {
    return this.target.admin.create<SampleConfig>({
      apiVersion: 'lifecycle.example.com/v1alpha1',
      kind: 'SampleConfig',
      metadata: { name: this.name, labels: { 'app.kubernetes.io/part-of': 'shop' } },
      spec,
    });
  }

  patch(body: object): Promise<SampleConfig> {
    return this.target.admin.patch(SampleConfig, { name: this.name }, { type: 'merge', body });
  }

  config(): Promise<SampleConfig> {
    return this.target.admin.get(SampleConfig, { name: this.name });
  }

  async remove(): Promise<void> {
    await this.target.admin.delete(SampleConfig, { name: this.name });
  }

  /** Waits until `version` is deployed, healthy and reported by the operator. */
  async deployed(version: string): Promise<void> {
    await this.eventually(async () => {
      const { status } = await this.config();
      if (!isDeployed(status, version)) throw new Error(JSON.stringify(status));
    });
  }

  /** Waits until no object is left. */
  async gone(): Promise<void> {
    await this.eventually(async () => {
      const found = await getIfExists(this.target.admin, SampleConfig, { name: this.name });
      if (found !== undefined) throw new Error('the configuration is still there');
      expect([...(await this.objects()).keys()]).to.deep.equal([]);
    });
  }

  /** Returns the system's objects, such as `Deployment http-server`. */
  async objects(): Promise<ReadonlyMap<string, KubernetesObject>> {
    const lists = await Promise.all(ownedTypes.map((type) => this.#ofType(type)));
    return new Map(lists.flat());
  }

  async #ofType(
    type: ResourceType<KubernetesObject>,
  ): Promise<readonly (readonly [string, KubernetesObject])[]> {
    const { items } = await this.target.admin.list(type, { namespace: this.namespace });
    return items
      .filter(({ metadata }) => metadata.ownerReferences !== undefined)
      .map((item) => [`${type.kind} ${item.metadata.name ?? ''}`, item] as const);
  }

  deployment(name: string): Promise<Deployment> {
    return this.target.admin.get(Deployment, { name, namespace: this.namespace });
  }

  /** Returns the number of ready pods behind the Service. */
  async readyEndpoints(): Promise<number> {
    return (await servingPods(this.target.admin, this.namespace)).length;
  }

  /** Returns the event reasons since the last call, in order. */
  events(): readonly string[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /**
   * Returns the operator's writes since the last call, without those of events and the definition.
   */
  async writes(): Promise<readonly string[]> {
    const requests = await this.operator.requests();
    return requests
      .filter((request) => isWrite(request) && request.resource !== 'events')
      .filter(({ resource }) => resource !== 'customresourcedefinitions')
      .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
  }
}

/** Ignores that the kind does not exist, because the operator was never started. */
function noKind(error: unknown): undefined {
  if (!isOperatorError(error, 'UnknownKind')) throw error;
}

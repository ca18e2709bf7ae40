import { defineResource, s } from '../../../lib/crd/index.js';
import type { ObjectOf } from '../../../lib/crd/index.js';
import { ensureCrd } from '../../../lib/client/index.js';
import { findCondition } from '../../../lib/object/conditions.js';
import type { Condition } from '../../../lib/object/conditions.js';
import { Event } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { readCommandLine } from '../../../lib/operator/command-line.js';
import { Operator } from '../../../lib/operator/index.js';
import type { OperatorOptions, OperatorRunOptions } from '../../../lib/operator/index.js';
import { runOperator } from '../../../lib/operator/run-operator.js';
import type { RunPlace } from '../../../lib/operator/command-line.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type {
  BuilderTarget,
  Operator as Writer,
  ServedRequest,
} from '../../builder/suite/target.js';
import { isWrite } from '../../builder/suite/target.js';

/** The custom resource of these specs. */
export const Tenant = defineResource({
  group: 'front.example',
  kind: 'Tenant',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          replicas: s.defaulted(s.integer({ minimum: 0 }), 0),
          env: s.defaulted(s.map(s.string()), {}),
        }),
      }),
      status: s.status({ endpoint: s.optional(s.string()) }),
    },
  ],
});
export type Tenant = ObjectOf<typeof Tenant>;

/** The custom resource of a lifecycle. */
export const System = defineResource({
  group: 'front.example',
  kind: 'System',
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec: s.object({ mode: s.string() }) }),
      status: s.unknownObject(),
    },
  ],
});

export const operatorName = 'tenant-operator';
export const podSpec = { containers: [{ name: 'app', image: 'registry.example/app:1' }] };

/** An operator in a namespace of its own, with the helpers that observe it. */
export class Stage {
  readonly operator: Operator;
  readonly target: BuilderTarget;
  readonly namespace: string;
  readonly #writer: Writer;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  reconciles = 0;

  private constructor(
    target: BuilderTarget,
    namespace: string,
    writer: Writer,
    { name = operatorName, ...options }: OperatorOptions & { readonly name?: string } = {},
  ) {
    this.operator = new Operator(name, options);
    this.target = target;
    this.namespace = namespace;
    this.#writer = writer;
  }

  static async open(target: BuilderTarget, options: OperatorOptions = {}): Promise<Stage> {
    const { clock, admin } = target;
    await ensureCrd(admin, Tenant.crd, clock instanceof VirtualClock ? {} : { clock });
    const [namespace, writer] = await Promise.all([target.namespace(), target.operator()]);
    return new Stage(target, namespace, writer, options);
  }

  /** Opens another process in the same namespace: of the same operator, or of one with another name. */
  static async after({ target, namespace }: Stage, name?: string): Promise<Stage> {
    const options = name === undefined ? {} : { name };
    return new Stage(target, namespace, await target.operator(), options);
  }

  /**
   * Starts the operator.
   * @param place - where it prints, as if it were a process; by default it prints nothing
   */
  start(options: OperatorRunOptions = {}, place?: RunPlace): void {
    const { clock } = this.target;
    const all: OperatorRunOptions = {
      ...{ client: this.#writer.client, clock, rbacPreflight: 'off' },
      cacheOptions: { namespaces: [this.namespace] },
      signal: this.#stop.signal,
      onEvent: (event) => {
        if (event.type === 'reconciled') this.reconciles++;
      },
      ...options,
    };
    this.#running =
      place === undefined
        ? this.operator.run({ logger: silentLogger, ...all })
        : runOperator(this.operator, all, readCommandLine([]), place);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  create(name: string, spec: Partial<Tenant['spec']> = {}): Promise<Tenant> {
    const metadata = { namespace: this.namespace, name };
    return this.target.admin.create<Tenant>(Tenant.object({ metadata, spec }));
  }

  change(name: string, body: object): Promise<Tenant> {
    return this.target.admin.patch(Tenant, this.key(name), { type: 'merge', body });
  }

  async get(name: string): Promise<Tenant> {
    return this.target.admin.get(Tenant, this.key(name));
  }

  key(name: string): { namespace: string; name: string } {
    return { namespace: this.namespace, name };
  }

  /** Returns the names of the objects of a kind, without those that every namespace has. */
  async names(type: ResourceType<KubernetesObject>): Promise<readonly string[]> {
    const { items } = await this.target.admin.list(type, { namespace: this.namespace });
    return items
      .map(({ metadata }) => metadata.name ?? '')
      .filter((name) => name !== 'kube-root-ca.crt')
      .sort();
  }

  /** Returns a condition of an object once it has `status` for the current generation. */
  condition(name: string, type: string, status: Condition['status']): Promise<Condition> {
    return this.target.eventually(async () => {
      const { metadata, status: shown } = await this.get(name);
      const found = findCondition(shown?.conditions as readonly Condition[] | undefined, type);
      const isNew = found?.observedGeneration === metadata.generation || type === 'Paused';
      if (found?.status === status && isNew) return found;
      throw new Error(`${type} is ${JSON.stringify(found)}, not ${status}`);
    });
  }

  /** Returns type, reason and note of the Events on an object. */
  async events(name: string): Promise<readonly string[]> {
    const { clock } = this.target;
    // The recorder writes an Event a second after the reconcile.
    if (clock instanceof VirtualClock) await clock.advance(1_000);
    const { items } = await this.target.admin.list(Event, { namespace: this.namespace });
    return items
      .filter(({ regarding }) => regarding?.kind === 'Tenant' && regarding.name === name)
      .map(({ type = '', reason = '', note = '' }) => `${type} ${reason}: ${note}`);
  }

  /** Returns the requests since the last call, without watches and those for Events. */
  async requests(): Promise<readonly ServedRequest[]> {
    const all = await this.#writer.requests();
    return all.filter(({ verb, resource }) => verb !== 'watch' && resource !== 'events');
  }

  async writes(): Promise<readonly string[]> {
    const all = (await this.requests()).filter(isWrite);
    return all.map(({ resource }) => resource);
  }

  /** Runs `work` and resolves after one more reconcile. */
  async reconciledAfter(work: () => Promise<unknown>): Promise<void> {
    const wanted = this.reconciles + 1;
    await work();
    await this.target.eventually(() =>
      this.reconciles >= wanted
        ? Promise.resolve()
        : Promise.reject(new Error(`${this.reconciles} reconciles, not ${wanted}`)),
    );
  }
}

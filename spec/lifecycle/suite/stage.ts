import { ensureCrd, isStaleWrite } from '../../../lib/client/index.js';
import type { Client, DeleteOptions } from '../../../lib/client/index.js';
import type { ObjectEvent } from '../../../lib/events/index.js';
import {
  CallbackDispatcher,
  createCrd,
  LifecycleReconciler,
} from '../../../lib/lifecycle/index.js';
import type { LifecycleObject, LifecycleStatus } from '../../../lib/lifecycle/index.js';
import type { LifecycleCondition } from '../../../lib/lifecycle/lifecycle-status.js';
import type { LifecycleReconcilerOptions } from '../../../lib/lifecycle/reconciler/settings.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import type { TypeReference } from '../../../lib/object/resource-type.js';
import { rolloutStatus } from '../../../lib/object/rollout-status.js';
import { sleep } from '../../../lib/system/clock.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, Operator, ServedRequest } from '../../builder/suite/target.js';
import { isWrite } from '../../builder/suite/target.js';
import { system } from './system.js';

export const group = 'lifecycle-specs.example.com';

/** Configuration kinds of the specs: cluster-scoped or namespaced. */
export interface Config extends LifecycleObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const SampleConfig: TypeReference<Config> = {
  apiVersion: `${group}/v1alpha1`,
  kind: 'SampleConfig',
};
export const LocalConfig: TypeReference<Config> = {
  apiVersion: `${group}/v1alpha1`,
  kind: 'LocalConfig',
};

/** Installs the specs' kinds. */
export async function installKinds({ admin, clock }: BuilderTarget): Promise<void> {
  await ensureCrd(admin, createCrd({ group, kind: 'SampleConfig' }), { clock });
  const local = createCrd({ group, kind: 'LocalConfig' }, { scope: 'Namespaced' });
  await ensureCrd(admin, local, { clock });
}

/** Result of a reconcile: its status and events. */
export interface Seen {
  readonly phase: string | undefined;
  /** operator, target and observed version */
  readonly versions: string;
  /** Available/Progressing/Degraded, and the reason of the condition that has one. */
  readonly conditions: string;
  /** `Reason Kind name`, in order. */
  readonly events: readonly string[];
  readonly error?: string;
}

export type Options = Partial<LifecycleReconcilerOptions<Config>>;

/** The type of the event for each reason, as on the page of lifecycles. */
const eventTypes: Readonly<Record<string, string>> = {
  ...{ DeployStarted: 'Normal', UpgradeStarted: 'Normal', RollbackStarted: 'Normal' },
  ...{ DeployCompleted: 'Normal', Paused: 'Normal', Resumed: 'Normal' },
  ...{ CreateResourceSuccess: 'Normal', CreateResourceFailed: 'Warning' },
  ...{ UpdateResourceSuccess: 'Normal', UpdateResourceFailed: 'Warning' },
  ...{ DeleteResourceSuccess: 'Normal', DeleteResourceFailed: 'Warning' },
  ...{ ConfigError: 'Warning', OrphansExist: 'Warning', DowngradeRefused: 'Warning' },
  ...{ PruneRefused: 'Warning', ResourcesUnknown: 'Warning', OperatorsCompete: 'Warning' },
  ...{ ReconcileFailed: 'Warning', ResourceBeingDeleted: 'Warning' },
};

/** @throws Error: the event has another type than that of its reason. */
function known(event: ObjectEvent): ObjectEvent {
  const { type, reason, action } = event;
  if (eventTypes[reason] === type && action === reason) return event;
  throw new Error(`an unknown event: ${type} ${reason} ${action}`);
}

/** Namespace, configuration, and an operator that reconciles it step by step. */
export class Stage {
  readonly target: BuilderTarget;
  readonly operator: Operator;
  readonly namespace: string;
  readonly type: TypeReference<Config>;
  readonly events: ObjectEvent[] = [];
  readonly dispatcher = new CallbackDispatcher<Config>();
  readonly logged: string[] = [];
  /** Desired objects; a spec may replace them at any time. */
  resources: (config: Config) => unknown;
  /** Kinds to prune. */
  dependants: readonly TypeReference<KubernetesObject>[] = [
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { apiVersion: 'v1', kind: 'Service' },
    { apiVersion: 'v1', kind: 'ServiceAccount' },
    { apiVersion: 'apps/v1', kind: 'Deployment' },
  ];
  /** Options of every reconciler of this stage. */
  readonly options: Options;
  reconciler: LifecycleReconciler<Config>;

  private constructor(
    parts: Pick<Stage, 'target' | 'operator' | 'namespace' | 'type'>,
    options: Options,
  ) {
    this.target = parts.target;
    this.operator = parts.operator;
    this.namespace = parts.namespace;
    this.type = parts.type;
    this.resources = () => system(this.namespace);
    this.options = options;
    this.reconciler = this.newReconciler(options);
  }

  static async open(
    target: BuilderTarget,
    { type = SampleConfig, config = {}, ...options }: Options & Scene = {},
  ): Promise<Stage> {
    const [operator, namespace] = await Promise.all([target.operator(), target.namespace()]);
    const stage = new Stage({ target, operator, namespace, type }, options);
    if (config !== null) await stage.create(config);
    return stage;
  }

  get admin(): Client {
    return this.target.admin;
  }

  /** The key of the configuration. A cluster-scoped one has the name of the namespace. */
  get key(): { readonly name: string; readonly namespace?: string } {
    const { namespace } = this;
    return this.type.kind.startsWith('Local') ? { name: 'config', namespace } : { name: namespace };
  }

  /** Returns a reconciler as in a new process, without state. */
  newReconciler(options: Options = {}): LifecycleReconciler<Config> {
    return new LifecycleReconciler<Config>({
      client: this.operator.client,
      namespace: this.namespace,
      dispatcher: this.dispatcher,
      clock: this.target.clock,
      recorder: { record: (event) => void this.events.push(known(event)) },
      crManager: {
        type: this.type,
        getAllResources: (config) => this.resources(config) as KubernetesObject[],
        getDependantResourceTypes: () => this.dependants,
      },
      ...options,
    });
  }

  create({ metadata, ...rest }: Partial<Config> = {}): Promise<Config> {
    const { apiVersion, kind } = this.type as KubernetesObject;
    const whole = { apiVersion, kind, spec: {}, ...rest, metadata: { ...metadata, ...this.key } };
    return this.admin.create<Config>(whole);
  }

  config(): Promise<Config> {
    return this.admin.get(this.type, this.key);
  }

  async status(): Promise<LifecycleStatus> {
    return (await this.config()).status ?? {};
  }

  /** Replaces the status by hand. */
  async setStatus(status: LifecycleStatus): Promise<void> {
    const patch = { type: 'merge', body: { status } } as const;
    await this.admin.patch(this.type, this.key, patch, { subresource: 'status' });
  }

  async edit(body: object): Promise<void> {
    await this.admin.patch(this.type, this.key, { type: 'merge', body });
  }

  /** Reconciles once as operator `version`. Repeats this after a conflict with a controller of a real server. */
  async pass(version: string, reconciler = this.reconciler): Promise<Seen> {
    let error: unknown;
    for (let attempt = 0; attempt < (this.target.real ? 5 : 1); attempt++) {
      error = undefined;
      try {
        await reconciler.reconcile({ key: this.key }, version);
      } catch (thrown) {
        error = thrown;
      }
      if (!isStaleWrite(error)) break;
    }
    const status = await this.status().catch((gone: unknown) => {
      if (isNotFound(gone)) return undefined;
      throw gone;
    });
    const events = this.events.splice(0).map((event) => this.line(event));
    const message = error instanceof Error ? error.message : String(error);
    return { ...seen(status), events, ...(error !== undefined && { error: message }) };
  }

  /** `Reason Kind name` */
  line({ reason, related }: ObjectEvent): string {
    if (related === undefined || !('metadata' in related)) return reason;
    return `${reason} ${related.kind} ${related.metadata.name ?? ''}`;
  }

  /** Reconciles until the configuration is `Deployed` in `version`, and drops the events. */
  async deploy(version: string): Promise<void> {
    await this.target.eventually(async () => {
      const { phase, versions, error } = await this.pass(version);
      const isThere = phase === 'Deployed' && versions === `${version} ${version} ${version}`;
      if (!isThere) throw new Error(`${phase ?? ''} ${versions} ${error ?? ''}`);
    });
    await this.operator.requests();
  }

  /** Waits until every Deployment of the namespace has rolled out. */
  async rolledOut(): Promise<void> {
    await this.target.eventually(async () => {
      const { items } = await this.admin.list(
        { apiVersion: 'apps/v1', kind: 'Deployment' },
        { namespace: this.namespace },
      );
      for (const item of items) {
        const status = rolloutStatus({ ...item, kind: 'Deployment' });
        if (!status.complete) throw new Error(status.message);
      }
    });
  }

  get<T extends KubernetesObject = UnstructuredObject>(
    kind: string,
    name: string,
    apiVersion = kind === 'Deployment' ? 'apps/v1' : 'v1',
  ): Promise<T> {
    return this.admin.get(
      { apiVersion, kind },
      {
        name,
        namespace: this.namespace,
      },
    );
  }

  async isGone(kind: string, name: string): Promise<boolean> {
    try {
      await this.get(kind, name);
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }

  /** Changes an object by hand. */
  async touch(kind: string, name: string, body: object): Promise<void> {
    const apiVersion = kind === 'Deployment' ? 'apps/v1' : 'v1';
    const key = { name, namespace: this.namespace };
    await this.admin.patch({ apiVersion, kind }, key, { type: 'merge', body });
  }

  /** Lets time pass, at least `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    const { clock } = this.target;
    await (clock instanceof VirtualClock ? clock.advance(ms) : sleep(clock, ms));
  }

  /** Returns `verb resource` of each write since the last call. */
  async writes(): Promise<readonly string[]> {
    const requests = await this.operator.requests();
    return requests.filter(isWrite).map(text);
  }

  async delete(options: DeleteOptions = {}): Promise<void> {
    await this.admin.delete(this.type, this.key, options);
  }

  async exists(): Promise<boolean> {
    return this.config().then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  }
}

/** Initial state of a stage. */
export interface Scene {
  readonly type?: TypeReference<Config>;
  /** The configuration at the start; `null`: the spec creates it later. */
  readonly config?: Partial<Config> | null;
}

export type OpenStage = (options?: Options & Scene) => Promise<Stage>;

/** Creates {@link OpenStage} in a `describe`. */
export function stages(newTarget: () => Promise<BuilderTarget>): OpenStage {
  let target: BuilderTarget;
  before(async () => {
    target = await newTarget();
    await installKinds(target);
  });
  let opened = 0;
  // Most reads cover all namespaces. A new server for every 20 stages keeps them short.
  beforeEach(async () => {
    if (target.real || ++opened % 20 !== 0) return;
    await target.close();
    target = await newTarget();
    await installKinds(target);
  });
  after(() => target.close());
  return (options) => Stage.open(target, options);
}

function text({ verb, resource }: ServedRequest): string {
  return `${verb} ${resource}`;
}

/** Returns a status in short form. */
export function seen(status: LifecycleStatus | undefined): Omit<Seen, 'events' | 'error'> {
  const { operatorVersion = '-', targetVersion = '-', observedVersion = '-' } = status ?? {};
  return {
    phase: status?.phase,
    versions: `${operatorVersion} ${targetVersion} ${observedVersion}`,
    conditions: conditionsText(status?.conditions ?? []),
  };
}

function conditionsText(conditions: readonly LifecycleCondition[]): string {
  const value = (type: string): string =>
    conditions.find((one) => one.type === type)?.status.slice(0, 1) ?? '-';
  const values = ['Available', 'Progressing', 'Degraded'].map(value).join('/');
  const reasons = conditions.flatMap(({ reason }) => reason ?? []);
  return [values, ...reasons].join(' ');
}

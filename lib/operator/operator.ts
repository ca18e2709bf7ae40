import { ensureCrd } from '../client/index.js';
import { Backoff, refuseNoType } from '../controller/index.js';
import type { Controller } from '../controller/index.js';
import { isConvertedResource } from '../crd/internal.js';
import type { OperatorEvents } from '../events/index.js';
import type {
  RequiredAccess,
  ManagerAddOptions,
  ManagerOptions,
  Manager,
  OperatorDefinition,
  OperatorResource,
  Runnable,
  Webhook,
} from '../manager/index.js';
import { migrationAccess, refuseOther, storageMigration } from '../manager/index.js';
import {
  isFoundInvalid,
  describeObject,
  CustomResourceDefinition,
  dns1123LabelProblem,
} from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  sleep,
  refuseNonList,
  refuseOtherThan,
  refuseUnknownOptions,
  isOperatorError,
  OperatorError,
} from '../system/index.js';
import type { ForOptions } from './contexts.js';
import { FailureReports } from './failures.js';
import { ControllerLinks } from './operator-controller.js';
import type { DescribedController, OperatorController } from './operator-controller.js';
import { operatorMain, runOperator } from './run-operator.js';
import type { OperatorRunOptions } from './run-operator.js';
import { unservedConversions } from './unconverted-crds.js';

/** Options of {@link Operator}. */
export interface OperatorOptions {
  /**
   * Custom resources whose CRDs belong to the operator although none of its controllers reconciles them.
   * @defaultValue none
   */
  readonly resources?: readonly OperatorResource[] | undefined;
  /** Admission and conversion webhooks to serve. @defaultValue none */
  readonly webhooks?: readonly Webhook[] | undefined;
  /**
   * Installs or updates the CRDs of the custom resources before anything else starts. The role then needs
   * access to CRDs. Not allowed with a conversion webhook, nor for a resource whose `conversion` has functions.
   * @defaultValue false: the manifests contain the CRDs
   */
  readonly installCrds?: boolean | undefined;
  /** Limits what is cached, by kind. @defaultValue all objects of the watched kinds */
  readonly cacheOptions?: ManagerOptions['cacheOptions'];
}

/**
 * An operator: a set of kinds and the code that reconciles their objects. It includes status conditions,
 * Events, finalizers, pausing, pruning, RBAC rules, health, metrics and leader election.
 *
 * @example
 * ```ts
 * const operator = new Operator('tenant-operator');
 * operator
 *   .for(Tenant)
 *   .owns(ConfigMap)
 *   .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }));
 * await operator.run();
 * ```
 */
export class Operator implements OperatorDefinition {
  /** Field manager, reporter of Events, and part of the names of the operator's objects. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly cacheOptions: ManagerOptions['cacheOptions'];
  readonly #resources: readonly OperatorResource[];
  readonly #controllers: DescribedController[] = [];
  readonly #reports = new FailureReports();
  readonly #installsCrds: boolean;
  readonly #added: ((manager: Manager) => void)[] = [];

  /**
   * @param name - a DNS label. Do not change it later: objects written under another name are left behind.
   * @throws OperatorError `InvalidOption`: the name is not a DNS label, an option is unknown, or `installCrds`
   * is not possible.
   */
  constructor(name: string, options: OperatorOptions = {}) {
    const problem =
      typeof name === 'string' ? dns1123LabelProblem(name) : `is of type ${typeof name}`;
    if (problem !== undefined) {
      throw new OperatorError('InvalidOption', `Operator: name: ${problem}`);
    }
    const { resources = [], webhooks = [], installCrds = false, cacheOptions } = options;
    refuseUnknownOptions<OperatorOptions>('Operator', options, {
      ...{ resources, webhooks, installCrds, cacheOptions },
    });
    refuseNonList('Operator: resources', resources);
    refuseNonList('Operator: webhooks', webhooks);
    refuseOtherThan('Operator: installCrds', installCrds, [true, false]);
    if (installCrds && webhooks.some(({ type }) => type === 'conversion')) {
      const remedy = 'install the CRDs that `operator-builder manifests` writes';
      throw new OperatorError(
        'InvalidOption',
        `Operator: installCrds is not possible with a conversion webhook; ${remedy}`,
      );
    }
    this.name = name;
    this.webhooks = webhooks;
    this.cacheOptions = cacheOptions;
    this.#installsCrds = installCrds;
    this.#resources = resources;
    for (const resource of resources) this.#refuseUnconverted(resource);
  }

  /** Events of the operator's builders, for listeners in this process. */
  get events(): OperatorEvents {
    return this.#reports.events;
  }

  /**
   * The kinds that a running operator plans for its users: those of `builds` and `reconciles`. Controllers with `uses`
   * call code that does not support plans: during a plan, it would change things outside the cluster.
   * @internal
   */
  get plannedKinds(): readonly TypeReference<KubernetesObject>[] {
    return this.#controllers.flatMap(({ isPlanned, type }) => (isPlanned ? [type] : []));
  }

  /** Custom resources of the operator: those that its controllers reconcile, and those of the options. */
  get resources(): readonly OperatorResource[] {
    const own = this.#controllers.map(({ type }): unknown => type).filter(isResource);
    return [...new Set([...own, ...this.#resources])];
  }

  /**
   * Starts the description of a controller for a kind. If the schema of the kind has them, the operator
   * writes the conditions `Ready`, `Progressing` and `Degraded`, and `observedGeneration`.
   */
  for<T extends KubernetesObject>(
    type: TypeReference<T>,
    options: ForOptions<T> = {},
  ): OperatorController<T> {
    refuseNoType('Operator.for', type);
    this.#refuseUnconverted(type);
    const parts = { name: this.name, reports: this.#reports, controllers: this.#controllers };
    const controller = new ControllerLinks<T, never>(parts, type, options);
    this.#controllers.push(controller);
    return controller;
  }

  /** If a CRD has no conversion, the API server drops the fields that a version lacks. */
  #refuseUnconverted(type: TypeReference<KubernetesObject>): void {
    if (!this.#installsCrds || !isConvertedResource(type)) return;
    const remedy =
      'serve its conversionWebhook, and install the CRDs that `operator-builder manifests` writes';
    throw new OperatorError(
      'InvalidOption',
      `Operator: installCrds is not possible for ${type.kind}, whose versions are converted by functions; ${remedy}`,
    );
  }

  #warnOfUnconverted({ logger }: Manager): void {
    for (const { kind } of unservedConversions(this)) {
      const problem = 'no webhook of this operator converts between its versions';
      const remedy =
        'add its conversionWebhook to webhooks; otherwise writes drop the fields that a version lacks';
      logger.warn(`${kind}: ${problem}`, { remedy });
    }
  }

  /**
   * Adds a controller of `controllerFor` or a runnable.
   * @throws OperatorError `InvalidOption`: `item` is neither, nor a function.
   */
  add(item: Controller | Runnable, options?: ManagerAddOptions): this;
  /**
   * Calls `setup` with the operator's manager, to add an index, a `/readyz` check or a metric. Tools call
   * `setup` too: it must not wait, and must not access anything but the manager.
   */
  add(setup: (manager: Manager) => void): this;
  add(
    item: Controller | Runnable | ((manager: Manager) => void),
    options?: ManagerAddOptions,
  ): this {
    if (typeof item !== 'function') refuseOther(item);
    this.#added.push(
      typeof item === 'function' ? item : (manager) => void manager.add(item, options),
    );
    return this;
  }

  /**
   * Migrates stored objects of a kind after its storage version has changed. The leader writes each object once
   * without a change, so that the server stores it in the new version, then removes the old versions from
   * `status.storedVersions`. A restart continues the migration; without old versions it does nothing.
   * @param options - `writesPerSecond`: the limit of writes, above 0. @defaultValue 50
   * @throws OperatorError `InvalidOption`: the limit is not above 0, or an option is unknown
   */
  migratesStorage(
    type: OperatorResource,
    options: { readonly writesPerSecond?: number | undefined } = {},
  ): this {
    const migration = storageMigration(type, options);
    return this.add((manager) => {
      const { givenClient: client, clock, metrics } = manager;
      manager.add(migration({ client, clock, metrics }), { requires: migrationAccess(type) });
    });
  }

  /**
   * Adds everything to a manager; `run` and the command line do so.
   * @throws OperatorError `InvalidOption`: a controller has no `builds`, `reconciles` or `uses`.
   */
  setup(manager: Manager): void {
    this.#warnOfUnconverted(manager);
    if (this.#installsCrds) {
      const crds = this.resources.map(({ crd }) => crd);
      manager.add(crdInstaller(crds, this.name, manager), { requires: installAccess(crds) });
    }
    for (const controller of this.#controllers) controller.addTo(manager);
    for (const add of this.#added) add(manager);
  }

  /**
   * Runs until SIGINT, SIGTERM or an abort of `signal`. In a cluster, one replica leads; the operator serves
   * health, metrics and webhooks and logs JSON lines. At a terminal, it only prints a line for each change
   * and failure.
   * @throws as `Manager.run` does.
   */
  async run(options: OperatorRunOptions = {}): Promise<void> {
    await runOperator(this, options);
  }

  /**
   * Runs as a program: reads the command line (`--help` lists its options), prints an error as one line, and sets the
   * exit code. One second after an error, it ends a process that still runs, unless `signal` is given or the exit code
   * has been set again.
   * @param args - the command line. @defaultValue the arguments of the process
   * @param options - take precedence over the command line; omit those that it should decide
   */
  async main(
    args: readonly string[] = process.argv.slice(2),
    options: OperatorRunOptions = {},
  ): Promise<void> {
    await operatorMain(this, args, options);
  }
}

function isResource(type: unknown): type is OperatorResource {
  return typeof type === 'object' && type !== null && 'crd' in type;
}

/** The access that {@link crdInstaller} needs. */
export function installAccess(
  crds: readonly CustomResourceDefinition[],
): readonly RequiredAccess[] {
  const type = CustomResourceDefinition;
  const names = crds.map(({ metadata: { name = '' } }) => name);
  return [
    { type, verbs: ['create'] },
    { type, verbs: ['get', 'list', 'watch', 'patch'], names },
  ];
}

/**
 * Installs CRDs on every replica before the caches start, and retries until they are served. Health probes
 * are answered meanwhile, so an unavailable API server does not restart the Pod.
 */
export function crdInstaller(
  crds: readonly CustomResourceDefinition[],
  fieldManager: string,
  { givenClient: client, clock }: Manager,
): Runnable {
  const installed = async (crd: CustomResourceDefinition, signal: AbortSignal) => {
    try {
      await ensureCrd(client, crd, { fieldManager, clock, signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      // Retries do not help against an invalid CRD or names that are taken.
      if (isFoundInvalid(error) || isOperatorError(error, 'InvalidObject')) throw error;
      return error;
    }
  };
  return {
    name: 'the custom resources',
    phase: 'server',
    run: async ({ signal, logger }) => {
      for (const crd of crds) {
        const backoff = new Backoff({ baseDelayMs: 1_000, maxDelayMs: 30_000 });
        for (;;) {
          const error = await installed(crd, signal);
          if (error === undefined) break;
          const delayMs = backoff.next('');
          const problem = `${describeObject(crd)} is not installed yet`;
          logger.warn(`${problem}; tried again in ${delayMs} ms`, { error });
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

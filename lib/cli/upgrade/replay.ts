import omit from 'lodash/omit.js';
import { immutableChanges, isReconcileFailed } from '../../apply/index.js';
import type { DesiredObject } from '../../apply/index.js';
import { forwarding, getIfExists } from '../../client/index.js';
import type { Client, WriteOptions } from '../../client/index.js';
import type { Controller } from '../../controller/index.js';
import type { EmbeddedCluster } from '../../apiserver/index.js';
import { Manager } from '../../manager/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import {
  isApiError,
  describeObject,
  keyOf,
  referenceTo,
  groupOf,
  groupOfType,
} from '../../object/index.js';
import type {
  ApiError,
  KubernetesObject,
  UnstructuredObject,
  ObjectReference,
} from '../../object/index.js';
import { asError, isOperatorError } from '../../system/index.js';
import type { Logger } from '../../system/index.js';
import { checkManager, objectsIn } from './cluster-state.js';
import { finding } from './upgrade-report.js';
import type { Finding } from './upgrade-report.js';

interface ReplaySettings {
  readonly cluster: EmbeddedCluster;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /**
   * Whether to recreate objects with immutable fields and continue, which reveals later problems.
   * @defaultValue false
   */
  readonly remake?: boolean | undefined;
  /** Objects that controllers must not reconcile. */
  readonly skipped?: readonly ObjectReference[] | undefined;
}

/** An error of a controller in the last round, and the object that it reconciled. */
export interface ReplayFailure {
  readonly ref: ObjectReference;
  readonly error: Error;
}

export interface ReplayEnd {
  /** The writes that the server rejected. */
  readonly refused: readonly Finding[];
  readonly failures: readonly ReplayFailure[];
  /** Objects written in the last round; empty if the operator settled. */
  readonly restless: readonly ObjectReference[];
  /** Objects that were recreated because of immutable fields. */
  readonly remade: readonly ObjectReference[];
}

/** Maximum number of rounds: several times as many as a large operator needs, whose workloads wait for each other. */
const mostRounds = 50;

/**
 * Runs an operator on an embedded cluster until it settles. Each round reconciles every object of its kinds
 * once and then waits until the workloads stop changing. `planning` is true in the context of reconcilers, which must
 * not change anything outside the cluster.
 */
export async function replay(
  operator: OperatorDefinition,
  settings: ReplaySettings,
): Promise<ReplayEnd> {
  const { cluster, logger, remake = false } = settings;
  const refusals = new Refusals();
  const client = refusals.noting(cluster.client());
  const { clock } = cluster;
  const manager = new Manager({ client, logger, clock, rbacPreflight: 'off', shards: false });
  await operator.setup(manager);
  const remade: ObjectReference[] = [];
  for (;;) {
    const end = await untilRest(manager.controllers, client, settings);
    const immovable = remake ? refusals.takeImmovable() : [];
    const made = await Promise.all(immovable.map((each) => makeAgain(each, cluster)));
    remade.push(...made.flat());
    if (made.flat().length > 0) continue;
    return { ...end, refused: refusals.findings, remade };
  }
}

async function untilRest(
  controllers: readonly Controller[],
  client: Client,
  settings: ReplaySettings,
) {
  const { cluster } = settings;
  for (let round = 1; ; round++) {
    const written = new Map<string, UnstructuredObject>();
    const stop = cluster.server.loopback.subscribe(({ object }) => {
      if (!isFleeting(object)) written.set(object.metadata.uid ?? '', object);
    });
    const failures = await oneRound(controllers, client, settings);
    await cluster.settled();
    stop();
    const restless = [...written.values()].map((object) => referenceTo(object));
    if (restless.length === 0 || round === mostRounds) return { failures, restless };
  }
}

async function oneRound(
  controllers: readonly Controller[],
  client: Client,
  settings: ReplaySettings,
): Promise<readonly ReplayFailure[]> {
  const { cluster, logger, signal } = settings;
  const failures: ReplayFailure[] = [];
  for (const { controller, key, ref } of due(controllers, settings)) {
    const reconcile = { key, client, planning: true, clock: cluster.clock, logger, signal };
    await controller.reconcileOnce(reconcile).catch((thrown: unknown) => {
      if (signal.aborted) throw thrown;
      failures.push(...errorsOf(thrown).map((error) => ({ ref, error })));
    });
  }
  return failures;
}

/** Deletes an object without its dependents and creates the desired one. @returns the new object */
async function makeAgain(
  { live, desired, manager }: Immovable,
  cluster: EmbeddedCluster,
): Promise<readonly ObjectReference[]> {
  const client = cluster.client();
  const { apiVersion, kind } = live;
  const current = await getIfExists(client, { apiVersion, kind }, keyOf(live));
  // The operator has recreated it already.
  if (current?.metadata.uid !== live.metadata.uid) return [];
  const options = { propagationPolicy: 'Orphan' } as const;
  await client.delete({ apiVersion, kind }, keyOf(live), options);
  await cluster.settled();
  const metadata = omit(desired.metadata, ['uid', 'resourceVersion']);
  const fieldManager = manager === '' ? checkManager : manager;
  const made = await client.apply({ ...desired, metadata }, { fieldManager, force: true });
  return [referenceTo(made.object)];
}

/** Whether the kind is written continually or contains times. */
function isFleeting({ apiVersion, kind }: UnstructuredObject): boolean {
  return kind === 'Event' || (kind === 'Lease' && groupOf(apiVersion) === 'coordination.k8s.io');
}

/** Returns the objects that controllers reconcile, each with its controller. */
function due(controllers: readonly Controller[], { cluster, skipped = [] }: ReplaySettings) {
  const objects = objectsIn(cluster.snapshot());
  const isSkipped = ({ apiVersion, kind, metadata }: UnstructuredObject): boolean =>
    skipped.some(
      (ref) =>
        groupOf(ref.apiVersion) === groupOf(apiVersion) &&
        ref.kind === kind &&
        ref.namespace === metadata.namespace &&
        ref.name === metadata.name,
    );
  return controllers.flatMap((controller) =>
    [...objects.values()]
      .filter((object) => {
        const { type } = controller;
        return object.kind === type.kind && groupOf(object.apiVersion) === groupOfType(type);
      })
      .filter((object) => !isSkipped(object))
      .map((object) => ({ controller, key: keyOf(object), ref: referenceTo(object) })),
  );
}

/** Returns the errors within an error, without those that only follow from another one. */
function errorsOf(thrown: unknown): readonly Error[] {
  const error = asError(thrown);
  if (isReconcileFailed(error)) {
    return error.errors.filter((each) => !isOperatorError(each, 'DependencyFailed'));
  }
  const { cause } = error;
  return isReconcileFailed(cause) ? errorsOf(cause) : [error];
}

/** An object whose immutable field the operator tries to change. */
interface Immovable {
  readonly live: UnstructuredObject;
  /** The whole object that was to be written. */
  readonly desired: KubernetesObject;
  readonly manager: string;
}

/** Records the writes that the server rejects. */
export class Refusals {
  readonly #found = new Map<string, Finding>();
  readonly #immovable = new Map<string, Immovable>();
  readonly #taken = new Set<string>();

  /** The rejected writes, without repetitions. */
  get findings(): readonly Finding[] {
    return [...this.#found.values()];
  }

  /** Returns the objects rejected for immutable fields since the last call; each object only once overall. */
  takeImmovable(): readonly Immovable[] {
    const taken = [...this.#immovable.values()].filter(({ live }) => !this.#taken.has(uidOf(live)));
    for (const { live } of taken) this.#taken.add(uidOf(live));
    this.#immovable.clear();
    return taken;
  }

  /** Returns a client that records rejected writes and rethrows their errors. */
  noting(client: Client): Client {
    const noted = async <T>(
      work: Promise<T>,
      object: KubernetesObject,
      options: WriteOptions = {},
    ): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (isRefusal(error) && options.dryRun !== true) {
          await this.#note(client, object, error, options.fieldManager ?? '');
        }
        throw error;
      }
    };
    return {
      ...forwarding(client),
      create: (object, options) => noted(client.create(object, options), object, options),
      update: (object, options) => noted(client.update(object, options), object, options),
      apply: (object, options) => noted(client.apply(object, options), object, options),
      patch: (type, key, patch, options) => {
        const apiVersion =
          'apiVersion' in type ? type.apiVersion : [type.group, type.version].join('/');
        const body = patch.type === 'json' ? {} : patch.body;
        const object = { ...body, apiVersion, kind: type.kind, metadata: { ...key } };
        const written = object as unknown as KubernetesObject;
        return noted(client.patch(type, key, patch, options), written, options);
      },
    };
  }

  async #note(
    client: Client,
    object: KubernetesObject,
    error: ApiError,
    manager: string,
  ): Promise<void> {
    const live = await getIfExists<UnstructuredObject>(client, object, keyOf(object));
    const desired = { object } as unknown as DesiredObject;
    const changes = live === undefined ? [] : immutableChanges({ desired, live }, manager, error);
    const ref = referenceTo(live ?? object);
    const fields = changes.map(({ path }) => path);
    const why = fields.length === 0 ? '' : `: ${fields.join(', ')} can't change once set`;
    const message = `the server refuses the ${error.context.verb}${why} (${saidOf(error)})`;
    if (live !== undefined && changes.length > 0 && error.context.verb !== 'patch') {
      this.#immovable.set(uidOf(live), { live, desired: object, manager });
    }
    const remedy = remedyFor(object.kind, fields);
    const id = `${describeObject(ref)} ${fields.join()} ${fields.length === 0 ? message : ''}`;
    this.#found.set(id, finding('refused', ref, { message, changes, remedy }));
  }
}

function uidOf({ metadata }: KubernetesObject): string {
  return metadata.uid ?? '';
}

/** Whether the server rejects the write itself. Conflicts and existing objects are left to a retry. */
function isRefusal(error: unknown): error is ApiError {
  return isApiError(error) && [400, 403, 422].includes(error.status);
}

function saidOf(error: ApiError): string {
  const causes = error.causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
  return causes.length > 0 ? causes.join('; ') : (error.body.message ?? error.message);
}

function remedyFor(kind: string, fields: readonly string[]): string {
  if (fields.length === 0)
    return 'correct the fields that the server names, or take the change back';
  const undo = 'take the change back';
  if (fields.some((path) => path.startsWith('spec.volumeClaimTemplates'))) {
    return `${undo}, or set onImmutable to recreateOrphan, which keeps the pods; existing claims stay as they are`;
  }
  if (kind === 'Service')
    return `${undo}, or set onImmutable to recreate: its address changes then`;
  if (kind === 'ConfigMap' || kind === 'Secret') return `${undo}, or give the object another name`;
  if (kind === 'Job') return `${undo}, or give the new Job another name`;
  if (kind === 'StatefulSet' || kind === 'Deployment' || kind === 'DaemonSet') {
    const orphans = fields.some((path) => path.startsWith('spec.selector'))
      ? 'recreate, which replaces all pods at once'
      : 'recreateOrphan, which keeps the pods';
    return `${undo}, give the object another name, or set onImmutable to ${orphans}`;
  }
  return `${undo}, or set onImmutable to recreate`;
}

import {
  applyObject,
  applySettings,
  deleteOrphan,
  isDeletedAlone,
  isManagerName,
  isUnchanged,
  leaving,
  mayBePruned,
  pruneAnnotation,
  readObject,
  recordingContext,
  refId,
  reportFailure,
  failed,
  resultsOf,
  kindKey,
  servedType,
  servedTypes,
} from '../../apply/index.js';
import type { ApplyContext, DesiredObject, Outcome, Pair } from '../../apply/index.js';
import type {
  KubernetesObject,
  UnstructuredObject,
  TypeMeta,
  TypeReference,
  ResourceType,
  ObjectReference,
} from '../../object/index.js';
import {
  referenceTo,
  rolloutStatus,
  ownerUidLabel,
  labelValueOf,
  describeObject,
  apiVersionOf,
} from '../../object/index.js';
import { isOperatorError, OperatorError } from '../../system/index.js';
import { contextKey } from '../resource-context.js';
import type { CrudOperations, States } from '../crud-resource.js';
import { InvalidConfigError } from '../errors.js';
import { Patch } from '../crud-resource.js';
import type { ResourceContext } from '../resource-context.js';
import { isName } from '../resource-set.js';
import {
  contestedLabels,
  withoutOthersLabels,
  currentObjects,
  asDesired,
  desiredObjects,
} from './desired-objects.js';
import type { Keeper } from './desired-objects.js';
import type { KeptObjectsOptions } from './objects-resource.js';
import type { Client } from '../../client/index.js';

interface KeptOptions<
  T extends KubernetesObject,
  K extends KubernetesObject,
> extends KeptObjectsOptions<T, K> {
  readonly types: readonly TypeReference<KubernetesObject>[];
}

/**
 * The steps of a resource that keeps Kubernetes objects for its owner. They use `lib/apply`, with the same
 * rules for drift, for fields of other managers and for foreign objects.
 */
export class KeptObjects<
  T extends KubernetesObject,
  K extends KubernetesObject,
> implements CrudOperations<T, K[], K[]> {
  readonly name: string;
  readonly #options: KeptOptions<T, K>;
  readonly #keeper: Keeper;
  readonly #allowedLabels: readonly string[];

  /** @throws InvalidConfigError an option is missing or invalid, or there are no kinds. */
  constructor(options: KeptOptions<T, K>) {
    const { name, types, allowedLabels = [] } = options;
    checkOptions(options);
    this.name = name;
    this.#options = options;
    this.#keeper = { name, types: new KeptTypes(types) };
    this.#allowedLabels = allowedLabels;
  }

  async getCurrentState(context: ResourceContext, owner: T): Promise<K[]> {
    const found = await currentObjects(this.#run(context, owner), this.#keeper);
    return found as K[];
  }

  async getDesiredState(context: ResourceContext, owner: T): Promise<K[]> {
    if (owner.metadata.deletionTimestamp !== undefined) return [];
    const run = this.#run(context, owner);
    const wanted = await this.#options.getDesiredState(context, owner);
    try {
      const desired = await desiredObjects(run, this.#keeper, wanted);
      claimObjects(
        context,
        this.name,
        desired.map(({ ref }) => ref),
      );
      return desired.map(({ object }) => object as KubernetesObject as K);
    } catch (error) {
      if (isOperatorError(error)) reportFailure(run, referenceTo(owner), error);
      throw error;
    }
  }

  async newUpdatePatch(
    context: ResourceContext,
    owner: T,
    { current, desired }: States<K[]>,
  ): Promise<Patch<K[]>> {
    const run = this.#run(context, owner);
    const live = new Map(current.map((object) => [idOf(object), object]));
    const wanted = new Set(desired.map(idOf));
    const created = desired.filter((object) => !live.has(idOf(object)));
    const updated = await Promise.all(
      desired.map(async (object) => {
        const found = live.get(idOf(object));
        if (found === undefined) return [];
        if (await this.#differs(run, object, found)) return [object];
        this.#reportRollout(context, found);
        return [];
      }),
    );
    const deleted = current.filter((object) => !wanted.has(idOf(object)) && mayBePruned(object));
    const patch = new Patch<K[]>();
    if (created.length > 0) patch.setCreateChange(created);
    if (deleted.length > 0) patch.setDeleteChange(deleted);
    if (updated.flat().length > 0) patch.setUpdateChange(updated.flat());
    return patch;
  }

  newDeletePatch(
    context: ResourceContext,
    owner: T,
    { current }: States<K[]>,
  ): Patch<K[]> | undefined {
    if (isDeletedAlone(owner)) return undefined;
    // Include objects that are already being deleted, so that the chain waits for their end.
    const deleted = current.filter((object) => isLeaving(object) || goesWithOwner(object));
    if (deleted.length === 0) return undefined;
    context.set(removals, (context.get(removals) ?? new Set<string>()).add(this.name));
    return new Patch<K[]>().setDeleteChange(deleted);
  }

  applyCreateChange(context: ResourceContext, owner: T, objects: K[]): Promise<void> {
    return this.#apply(context, owner, objects);
  }

  applyUpdateChange(context: ResourceContext, owner: T, objects: K[]): Promise<void> {
    return this.#apply(context, owner, objects);
  }

  applyDeleteChange(context: ResourceContext, owner: T, objects: K[]): Promise<void> {
    const waits = context.get(removals)?.has(this.name) === true;
    const remove = async (run: ApplyContext, object: UnstructuredObject): Promise<Outcome> => {
      if (isLeaving(object)) return leaving(object);
      const type = await this.#keeper.types.typeOf(run.client, object);
      return deleteOrphan(run, { type, object }, { waits });
    };
    return this.#each(context, owner, objects, { work: remove, holdsChain: waits });
  }

  #apply(context: ResourceContext, owner: T, objects: readonly K[]): Promise<void> {
    const work = async (run: ApplyContext, object: UnstructuredObject): Promise<Outcome> =>
      applyObject(run, await this.#applicable(run, object));
    // Later resources may need an object that is pending.
    return this.#each(context, owner, objects, { work, holdsChain: true });
  }

  /** Runs `work` on the objects in sequence. A failure of one does not stop the others. */
  async #each(
    context: ResourceContext,
    owner: T,
    objects: readonly K[],
    { work, holdsChain }: ObjectWork,
  ): Promise<void> {
    const run = this.#run(context, owner);
    const outcomes: Outcome[] = [];
    for (const object of objects) {
      const unstructured = object as KubernetesObject as UnstructuredObject;
      const outcome = await outcomeOf(run, referenceTo(object), () => work(run, unstructured));
      outcomes.push(outcome);
      if (outcome.state === 'done' && outcome.live !== undefined) {
        this.#reportRollout(context, outcome.live);
      }
    }
    settleOutcomes(context, outcomes, holdsChain);
  }

  /** Returns the object to apply, without the labels that another manager has set on the live object. */
  async #applicable(run: ApplyContext, object: UnstructuredObject): Promise<DesiredObject> {
    const desired = await asDesired(run, this.#keeper, object);
    if (contestedLabels(object, this.#allowedLabels).length === 0) return desired;
    const live = await readObject(run, desired.type, desired.ref);
    return live === undefined ? desired : this.#withAllowedLabels(run, { desired, live });
  }

  async #differs(run: ApplyContext, object: K, found: K): Promise<boolean> {
    const live = found as KubernetesObject as UnstructuredObject;
    if (live.metadata.deletionTimestamp !== undefined) return true;
    const unstructured = object as KubernetesObject as UnstructuredObject;
    const desired = await asDesired(run, this.#keeper, unstructured);
    const applicable = this.#withAllowedLabels(run, { desired, live });
    return !isUnchanged({ desired: applicable, live }, run.settings.controllerName);
  }

  #reportRollout(context: ResourceContext, live: KubernetesObject): void {
    const rollout = rolloutStatus(live);
    if (rollout.complete || isLeaving(live)) return;
    context.notReady(rollout.message, { holdsChain: this.#options.waitUntilReady });
    context.requeueAfter(unwatchedMs);
  }

  #withAllowedLabels(run: ApplyContext, pair: Pair): DesiredObject {
    return withoutOthersLabels(pair, this.#allowedLabels, run.settings.controllerName);
  }

  #run(context: ResourceContext, owner: T): ApplyContext {
    const { client, recorder, logger, clock, signal } = context;
    const { name, fieldManager = context.fieldManager ?? name, adopt } = this.#options;
    const settings = applySettings({
      ...{ client, owner, recorder, logger, clock, signal },
      ...{ controllerName: fieldManager, adopt },
    });
    return recordingContext(settings);
  }
}

// A watch reports the progress of a rollout, except for kinds that the controller does not own.
const unwatchedMs = 30_000;

/** The resources that delete all their objects: the chain waits until the objects are gone. */
const removals = contextKey<Set<string>>(
  'the resources of this reconcile that delete all they keep',
);

function isLeaving({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Includes namespaces, CRDs and claims: garbage collection would delete them with the owner anyway. */
function goesWithOwner({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[pruneAnnotation] !== 'false';
}

function idOf(object: KubernetesObject): string {
  return refId(referenceTo(object));
}

function checkOptions(options: Partial<Record<keyof KeptOptions<never, never>, unknown>>): void {
  const { name, types, getDesiredState, allowedLabels = [], fieldManager = name } = options;
  if (!isName(name)) {
    throw new InvalidConfigError('a resource that keeps objects: name is missing');
  }
  const refuse = (why: string): never => {
    throw new InvalidConfigError(`resource ${name}: ${why}`);
  };
  if (!Array.isArray(types)) return refuse('types: want a list of kinds');
  if (types.length === 0) refuse('types is empty; give at least one kind');
  // A circular import passes undefined.
  const missing = types.findIndex((type: Partial<TypeMeta> | undefined) => !isName(type?.kind));
  if (missing >= 0) refuse(`types[${missing}]: want a ResourceType, or { apiVersion, kind }`);
  if (typeof getDesiredState !== 'function') refuse('getDesiredState: want a function');
  if (!Array.isArray(allowedLabels)) refuse('allowedLabels: want a list of label keys');
  if (typeof fieldManager === 'string' && isManagerName(fieldManager)) return;
  if (options.fieldManager === undefined) {
    const remedy = 'choose a name of 1 to 128 printable characters, or set fieldManager';
    refuse(`its name is its fieldManager by default: ${remedy}`);
  }
  const got = JSON.stringify(fieldManager);
  refuse(`want a fieldManager of 1 to 128 printable characters, got ${got}`);
}

// The label with the name of the resource that keeps the object.
const resourceLabel = 'operator-builder.io/resource';

/** Returns the labels by which the resource `name` finds the objects that it keeps for `owner`. */
export function keptMarks(owner: KubernetesObject, name: string): Readonly<Record<string, string>> {
  return { [ownerUidLabel]: owner.metadata.uid ?? '', [resourceLabel]: labelValueOf(name) };
}

/** The resource of this reconcile that desires each object, by the object's id. */
const claims = contextKey<Map<string, string>>('the objects that resources keep in this reconcile');

/**
 * Claims these objects for `resource`.
 * @throws OperatorError `DuplicateObject`: another resource of this reconcile desires one of them too; both
 * would overwrite it in every reconcile.
 */
function claimObjects(
  context: ResourceContext,
  resource: string,
  refs: readonly ObjectReference[],
): void {
  const claimed = context.get(claims) ?? new Map<string, string>();
  context.set(claims, claimed);
  for (const ref of refs) {
    const id = refId(ref);
    const other = claimed.get(id) ?? resource;
    if (other !== resource) {
      const message = `${describeObject(ref)} is desired by the resources ${other} and ${resource}: let one of them keep it`;
      throw new OperatorError('DuplicateObject', message);
    }
    claimed.set(id, resource);
  }
}

// Delay before the next check of a pending object, in milliseconds. A watch event may trigger the check earlier.
const pendingRetryMs = 5_000;

/** Returns the outcome of `work` on one object. A failure is recorded, and is an outcome too. */
async function outcomeOf(
  run: ApplyContext,
  ref: ObjectReference,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const outcome = failed(ref, error);
    if (outcome.state === 'failed') reportFailure(run, ref, outcome.error);
    return outcome;
  }
}

interface ObjectWork {
  readonly work: (run: ApplyContext, object: UnstructuredObject) => Promise<Outcome>;
  /** Whether a pending object cancels the chain. */
  readonly holdsChain: boolean;
}

/**
 * Ends a step that has run for every object. A pending object requeues the owner.
 * @throws ReconcileFailedError some objects failed; the others are done.
 */
function settleOutcomes(
  context: ResourceContext,
  outcomes: readonly Outcome[],
  holdsChain: boolean,
): void {
  const results = resultsOf(outcomes);
  const waiting = results.filter(({ operation }) => operation === 'pending');
  if (waiting.length === 0) return;
  const reasons = waiting.map(({ ref, reason = '' }) => `${describeObject(ref)} ${reason}`);
  const waits = waiting.map(({ requeueAfterMs = pendingRetryMs }) => requeueAfterMs);
  context.requeueAfter(Math.min(...waits));
  if (holdsChain) context.cancelReconciliation(reasons.join('; '));
}

/** The kinds of a resource that keeps objects, resolved against the server. */
export class KeptTypes {
  readonly #types: ReadonlyMap<string, TypeReference<KubernetesObject>>;

  constructor(types: readonly TypeReference<KubernetesObject>[]) {
    this.#types = new Map(types.map((type) => [kindKey(type), type]));
  }

  /** Returns every kind that the server serves; the other kinds cannot have objects. */
  served(client: Client): Promise<readonly ResourceType<KubernetesObject>[]> {
    return servedTypes(client, [...this.#types.values()]);
  }

  /**
   * Returns the served type of the kind of `object`.
   * @throws OperatorError `InvalidObject`: the kind is not one of the resource's kinds.
   * @throws OperatorError `UnknownKind`: the server does not serve the kind.
   */
  async typeOf(client: Client, object: KubernetesObject): Promise<ResourceType<KubernetesObject>> {
    const { apiVersion, kind } = object;
    const type = this.#types.get(kindKey({ apiVersion, kind }));
    if (type !== undefined && apiVersionOf(type) === apiVersion) return servedType(client, type);
    const kinds = [...this.#types.values()].map((each) => `${apiVersionOf(each)} ${each.kind}`);
    const message = `${describeObject(object)}: ${apiVersion} ${kind} is not a kind of this resource (${kinds.join(', ')}); add it to types, or correct it`;
    throw new OperatorError('InvalidObject', message);
  }
}

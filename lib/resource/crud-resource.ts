import type { KubernetesObject } from '../object/index.js';
import { isName, missingMethods } from './resource-set.js';
import { ExecutionFailedError, InvalidConfigError, resourceFailed } from './errors.js';
import { passContextOf } from './pass-context.js';
import type { PassContext } from './pass-context.js';
import type { Resource } from './resource-set.js';
import type { ResourceContext, StepName } from './resource-context.js';
import { refuseUnknownOptions } from '../system/index.js';

/** Options of a {@link CrudResource}. */
export interface CrudResourceOptions<T extends KubernetesObject, State, Change> {
  /** The steps; each is called as a method of this object. */
  readonly operations: CrudOperations<T, State, Change>;
  /**
   * The order in which changes are applied. Must name each part once. @defaultValue create, delete, update
   */
  readonly order?: readonly PatchPart[] | undefined;
  /** The resource that this one wraps. Set by wrappers. @defaultValue undefined */
  readonly wrapped?: Resource<T> | undefined;
}

/**
 * A resource made of steps: read the current state, compute the desired state and the patch, apply it.
 *
 * ## Flow
 * `ensureCreated` calls `getCurrentState`, `getDesiredState` and `newUpdatePatch`. Then it calls
 * `applyCreateChange`, `applyDeleteChange` and `applyUpdateChange` for the parts of the patch that were set.
 * `ensureDeleted` does the same with `newDeletePatch`. Without a patch, nothing is applied. Before each step,
 * the resource checks for cancellation of the chain or the resource, and for a time-out. If `getDesiredState`
 * throws during a deletion, the error is thrown when `newDeletePatch` reads `desired`. Only the last three
 * steps may have side effects; all others can run again.
 */
export class CrudResource<
  T extends KubernetesObject = KubernetesObject,
  State = unknown,
  Change = unknown,
> implements Resource<T> {
  readonly name: string;
  readonly operations: CrudOperations<T, State, Change>;
  /** The order in which the parts of a patch are applied. */
  readonly order: readonly PatchPart[];
  readonly wrapped: Resource<T> | undefined;

  /** @throws InvalidConfigError a name or a step is missing, or `order` does not name each part once. */
  constructor(options: CrudResourceOptions<T, State, Change>) {
    const { operations, order, wrapped } = options;
    checkOperations(operations);
    const names = { operations, order, wrapped };
    const subject = `CrudResource ${operations.name}`;
    refuseUnknownOptions<CrudResourceOptions<T, State, Change>>(subject, options, names);
    this.name = operations.name;
    this.operations = operations;
    this.order = resolvePatchOrder(order, this.name);
    this.wrapped = wrapped;
  }

  /** @throws ResourceFailedError a step threw; it names the step and the object. */
  ensureCreated(context: ResourceContext, object: T): Promise<void> {
    return this.#reconcile(context, object, 'newUpdatePatch');
  }

  /** @throws ResourceFailedError a step threw; it names the step and the object. */
  ensureDeleted(context: ResourceContext, object: T): Promise<void> {
    return this.#reconcile(context, object, 'newDeletePatch');
  }

  async #reconcile(
    context: ResourceContext,
    object: T,
    newPatch: 'newUpdatePatch' | 'newDeletePatch',
  ): Promise<void> {
    const { operations } = this;
    const own = this.#ownContext(context);
    const run: RunStep = (step, call) => runStep(own.inStep(step), object, call);
    const current = await run('getCurrentState', (at) => operations.getCurrentState(at, object));
    if (current === undefined) return;
    const getDesired: Attempt<State> = () =>
      run('getDesiredState', (at) => operations.getDesiredState(at, object));
    const desired = await (newPatch === 'newDeletePatch' ? late(getDesired, own) : getDesired());
    if (desired === undefined) return;
    const states: States<State> = {
      current: current.value,
      get desired() {
        return desired.value;
      },
    };
    const patch = await run(newPatch, async (at) =>
      checkedPatch<Change>(await operations[newPatch](at, object, states)),
    );
    if (patch?.value === undefined) return;
    for (const part of this.order) {
      const set = patch.value.changeOf(part);
      if (set === undefined) continue;
      const step = applySteps[part];
      await run(step, (at) => operations[step](at, object, set.change));
    }
  }

  // In a chain, the context already belongs to this resource. Elsewhere, in a test or in another resource,
  // canceling this resource must not cancel the caller.
  #ownContext(context: ResourceContext): PassContext {
    const known = passContextOf(context);
    return known.resource === this.name ? known : known.inResource(this.name, 'ensureCreated');
  }
}

const applySteps = {
  create: 'applyCreateChange',
  delete: 'applyDeleteChange',
  update: 'applyUpdateChange',
} as const satisfies Record<PatchPart, StepName>;

type RunStep = <R>(
  step: StepName,
  call: (context: ResourceContext) => Awaitable<R>,
) => Promise<Ran<R> | undefined>;

/** The result of a step that was run. The value may be undefined. */
interface Ran<R> {
  readonly value: R;
}

type Attempt<R> = () => Promise<Ran<R> | undefined>;

/**
 * Defers the error of a step until its value is read: a desired state that cannot be computed must not block
 * a deletion that does not need it.
 */
async function late<R>(
  attempt: Attempt<R>,
  { signal, logger }: PassContext,
): Promise<Ran<R> | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn('the desired state could not be computed during the deletion', { error });
    return {
      get value(): R {
        throw error;
      },
    };
  }
}

/** @returns undefined if the step was skipped, because the chain or the resource is canceled */
async function runStep<R>(
  context: PassContext,
  object: KubernetesObject,
  call: (context: ResourceContext) => Awaitable<R>,
): Promise<Ran<R> | undefined> {
  const { reconciliationCanceled, resourceCanceled } = context;
  if (reconciliationCanceled !== undefined || resourceCanceled !== undefined) return undefined;
  try {
    context.enter();
    return { value: await call(context) };
  } catch (error) {
    throw resourceFailed(context, object, error);
  }
}

/** The part of a patch that is read. Another copy of this package has its own `Patch` class. */
type ReadablePatch<Change> = Pick<Patch<Change>, 'changeOf'>;

/** @throws ExecutionFailedError the value is not a patch; only plain JavaScript can return that. */
function checkedPatch<Change>(patch: unknown): ReadablePatch<Change> | undefined {
  // Some callers return null instead of undefined.
  if (patch === undefined || patch === null) return undefined;
  const { changeOf } = patch as { readonly changeOf?: unknown };
  if (typeof changeOf === 'function') return patch as ReadablePatch<Change>;
  const got = Array.isArray(patch) ? 'an array' : `a value of type ${typeof patch}`;
  const remedy = 'return new Patch().setCreateChange(…), or undefined where nothing has to be done';
  throw new ExecutionFailedError(`want a Patch, got ${got}: ${remedy}`);
}

const operationNames = [
  ...(['getCurrentState', 'getDesiredState', 'newUpdatePatch', 'newDeletePatch'] as const),
  ...(['applyCreateChange', 'applyDeleteChange', 'applyUpdateChange'] as const),
];

function checkOperations(operations: unknown): void {
  if (typeof operations !== 'object' || operations === null) {
    throw new InvalidConfigError('CrudResource: operations: want an object with the steps');
  }
  const { name } = operations as { readonly name?: unknown };
  if (!isName(name)) throw new InvalidConfigError('CrudResource: operations.name is missing');
  const missing = missingMethods(operations, operationNames);
  if (missing.length === 0) return;
  throw new InvalidConfigError(`resource ${name}: operations: no method ${missing.join(', ')}`);
}

/** The result of a step, or a promise of it. */
export type Awaitable<R> = R | Promise<R>;

/**
 * The steps of a CRUD resource. `T` is the reconciled object. `State` is the state that the resource
 * compares, for example ConfigMaps or the response of a cloud API. `Change` is the content of one part of a
 * patch.
 *
 * ## Flow
 * Current state, desired state, patch, then the parts of the patch that were set. Cancellation of the chain
 * or of the resource is checked before each step.
 */
export interface CrudOperations<T extends KubernetesObject, State, Change> {
  /** Identifies the resource; not empty. */
  readonly name: string;
  /** Returns the current state. Called for live objects and for objects that are being deleted. */
  getCurrentState(context: ResourceContext, object: T): Awaitable<State>;
  /**
   * Returns the desired state, from the spec of `object`. Called for live objects and for objects that are
   * being deleted. During a deletion, an error counts only if `newDeletePatch` reads `desired`.
   */
  getDesiredState(context: ResourceContext, object: T): Awaitable<State>;
  /** Returns the changes to make for a live object; undefined if there are no changes. */
  newUpdatePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  /** Returns the changes to make for an object that is being deleted; undefined if there are no changes. */
  newDeletePatch(
    context: ResourceContext,
    object: T,
    states: States<State>,
  ): Awaitable<Patch<Change> | undefined>;
  applyCreateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyDeleteChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
  applyUpdateChange(context: ResourceContext, object: T, change: Change): Awaitable<void>;
}

/** The two states that a patch is computed from. */
export interface States<State> {
  readonly current: State;
  readonly desired: State;
}

/** A part of a {@link Patch}. */
export type PatchPart = 'create' | 'delete' | 'update';

/** A change that was set; it may be undefined. */
export interface SetChange<Change> {
  readonly change: Change;
}

/**
 * The changes that a CRUD resource will make, in up to three parts. A part that was set is applied, whatever
 * its value.
 */
export class Patch<Change> {
  readonly #changes = new Map<PatchPart, SetChange<Change>>();

  /** Sets the argument of `applyCreateChange`. @returns this */
  setCreateChange(change: Change): this {
    return this.#set('create', change);
  }

  /** Sets the argument of `applyDeleteChange`. @returns this */
  setDeleteChange(change: Change): this {
    return this.#set('delete', change);
  }

  /** Sets the argument of `applyUpdateChange`. @returns this */
  setUpdateChange(change: Change): this {
    return this.#set('update', change);
  }

  /** Returns the change of a part; undefined if it was not set. */
  changeOf(part: PatchPart): SetChange<Change> | undefined {
    return this.#changes.get(part);
  }

  #set(part: PatchPart, change: Change): this {
    this.#changes.set(part, { change });
    return this;
  }
}

const defaultOrder: readonly PatchPart[] = ['create', 'delete', 'update'];

/** @throws InvalidConfigError `order` does not name each part once. */
function resolvePatchOrder(
  order: readonly PatchPart[] = defaultOrder,
  resource: string,
): readonly PatchPart[] {
  const given: unknown = order;
  if (!Array.isArray(given)) throw notAnOrder(resource, typeof given);
  const isWhole =
    order.length === defaultOrder.length && defaultOrder.every((part) => order.includes(part));
  if (!isWhole) throw notAnOrder(resource, `[${order.join(', ')}]`);
  return Object.freeze([...order]);
}

function notAnOrder(resource: string, got: string): InvalidConfigError {
  const want = 'want create, delete and update, each once';
  return new InvalidConfigError(`resource ${resource}: order: ${want}, got ${got}`);
}

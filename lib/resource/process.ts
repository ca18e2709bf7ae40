import { describeObject } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { LruMap } from '../system/index.js';
import { faultInResources } from './resource-set.js';
import { ExecutionFailedError, resourceFailed } from './errors.js';
import { passContextOf } from './pass-context.js';
import type { PassContext, Place } from './pass-context.js';
import type { Resource, DeletionOrder, ResourceSet } from './resource-set.js';
import type { Cancellation, ResourceContext } from './resource-context.js';

/** The method of the resources that a reconcile calls. */
export type PassMethod = 'ensureCreated' | 'ensureDeleted';

/**
 * Brings the resources to their desired state. Call it when an informer reports that `object` was created or
 * changed.
 *
 * ## Flow
 * Calls `ensureCreated` of each resource in sequence, in the order of the list. The first error ends the
 * chain; `cancelReconciliation` ends it without an error.
 *
 * @throws ResourceFailedError a resource threw; the error names the resource, the step and the object.
 * @throws ExecutionFailedError the list is empty, two resources have the same name, or one is not a resource.
 */
export function processUpdate<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  resources: readonly Resource<T>[],
): Promise<void> {
  return runChain(context, object, { resources, method: 'ensureCreated', order: 'creation' });
}

/**
 * Calls `ensureDeleted` of each resource, the last one first; call it when `object` is being deleted.
 * Otherwise like {@link processUpdate}. Keep the finalizer if `context.finalizersKept` is not empty or
 * `context.reconciliationCanceled` is set.
 *
 * @throws ResourceFailedError a resource threw; the error names the resource, the step and the object.
 * @throws ExecutionFailedError the list is empty, two resources have the same name, or one is not a resource.
 */
export function processDelete<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  resources: readonly Resource<T>[],
): Promise<void> {
  return runChain(context, object, { resources, method: 'ensureDeleted', order: 'reverse' });
}

/** A resource set, and the method to call on its resources. */
export interface SetPass<T extends KubernetesObject> {
  readonly set: ResourceSet<T>;
  readonly method: PassMethod;
}

/**
 * Runs the set's `initContext`, then its resources.
 * @param context - a new context, whose `resourceSet` is the name of the set
 */
export async function runResourceSet<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  { set, method }: SetPass<T>,
): Promise<void> {
  const root = passContextOf(context);
  try {
    root.enter();
    await set.initContext(root, object);
  } catch (error) {
    throw resourceFailed(root, object, error);
  }
  const order = method === 'ensureDeleted' ? set.deletionOrder : 'creation';
  await runChain(root, object, { resources: set.resources, method, order });
}

/** Returns the resources that the reconcile of `context` did not start. */
export function notStartedOf(context: ResourceContext): readonly string[] {
  return passContextOf(context).pass.notStarted;
}

/** Returns the current or last place of the reconcile of `context`. Shows where it hangs. */
export function placeOf(context: ResourceContext): Place {
  return passContextOf(context).pass.place;
}

interface Chain<T extends KubernetesObject> {
  readonly resources: readonly Resource<T>[];
  readonly method: PassMethod;
  readonly order: DeletionOrder;
}

async function runChain<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  { resources, method, order }: Chain<T>,
): Promise<void> {
  const fault = faultInResources(resources);
  if (fault !== undefined) throw new ExecutionFailedError(`${describeObject(object)}: ${fault}`);
  const root = passContextOf(context);
  // If the list changes during a reconcile, the next reconcile uses the changed list.
  const left = order === 'reverse' ? resources.toReversed() : [...resources];
  // A deletion skips no resource: the finalizer is removed after the chain even if `notReady` was called.
  const isHeld = (): boolean => method === 'ensureCreated' && root.pass.isHeld;
  while (root.reconciliationCanceled === undefined && !isHeld()) {
    const resource = left.shift();
    if (resource === undefined) break;
    await runResource(root.inResource(resource.name, method), object, { resource, method });
  }
  root.pass.notStarted = left.map(({ name }) => name);
  const { reconciliationCanceled: canceled } = root;
  const texts = loggedTexts(resources);
  const id = object.metadata.uid ?? describeObject(object);
  if (canceled === undefined) texts.delete(id);
  else logCancellation(root, canceled, { left, texts, id });
}

interface Link<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly method: PassMethod;
}

async function runResource<T extends KubernetesObject>(
  context: PassContext,
  object: T,
  { resource, method }: Link<T>,
): Promise<void> {
  try {
    context.enter();
    await resource[method](context, object);
  } catch (error) {
    throw resourceFailed(context, object, error);
  }
  const { resourceCanceled: canceled } = context;
  if (canceled === undefined) return;
  const { step, reason } = canceled;
  context.logger.debug(`resource canceled${because(reason)}`, { canceledIn: step });
}

/** The texts of the latest cancellations of a chain, by object. A chain that waits is reconciled every few seconds. */
const loggedByChain = new WeakMap<object, LruMap<string, string>>();

const mostRemembered = 10_000;

function loggedTexts(resources: object): LruMap<string, string> {
  const texts = loggedByChain.get(resources) ?? new LruMap<string, string>(mostRemembered);
  loggedByChain.set(resources, texts);
  return texts;
}

interface Interruption {
  /** The resources that were not started. */
  readonly left: readonly { readonly name: string }[];
  readonly texts: LruMap<string, string>;
  /** The object's key in `texts`. */
  readonly id: string;
}

/** Logs a cancellation: at info if its text is new, else at debug. */
function logCancellation(
  { logger, resourceSet }: PassContext,
  { resource, step, reason }: Cancellation,
  { left, texts, id }: Interruption,
): void {
  const where = resource === '' ? step : `${resource}, ${step}`;
  const set = resourceSet === '' ? '' : `set ${resourceSet}, `;
  const skipped = left.map(({ name }) => name);
  const rest = skipped.length === 0 ? 'nothing was left to run' : `not run: ${skipped.join(', ')}`;
  const text = `reconciliation canceled in ${set}${where}${because(reason)}; ${rest}`;
  const level = texts.get(id) === text ? 'debug' : 'info';
  texts.set(id, text);
  logger[level](text, { resource, step, reason, skipped });
}

function because(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { faultInResources } from './check-resources.js';
import { ExecutionFailedError } from './execution-failed-error.js';
import { passContextOf } from './pass-context.js';
import type { PassContext } from './pass-context.js';
import type { Place } from './pass.js';
import type { Resource } from './resource.js';
import type { Cancellation, ResourceContext } from './resource-context.js';
import { resourceFailed } from './resource-failed-error.js';
import type { DeletionOrder, ResourceSet } from './resource-set.js';

/** Which method of the resources a pass calls. */
export type PassMethod = 'ensureCreated' | 'ensureDeleted';

/**
 * Has every resource bring its thing to the desired state: a drop-in for what is called when an
 * informer tells that `object` was created or changed.
 *
 * ## Flow
 * `ensureCreated` of each resource, one after another, in the order of the list. The first error
 * ends the chain; so does, without an error, `cancelReconciliation`.
 *
 * @throws ResourceFailedError a resource threw; it names the resource, the step and the object.
 * @throws ExecutionFailedError the list is empty, two resources have one name, or one is no resource.
 */
export function processUpdate<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  resources: readonly Resource<T>[],
): Promise<void> {
  return runChain(context, object, { resources, method: 'ensureCreated', order: 'creation' });
}

/**
 * Calls `ensureDeleted` of each resource, the last one first: a drop-in for what is called when
 * `object` is being deleted. Otherwise as {@link processUpdate}. The finalizer has to stay if
 * `context.finalizersKept` is not empty or `context.reconciliationCanceled` is set.
 *
 * @throws ResourceFailedError a resource threw; it names the resource, the step and the object.
 * @throws ExecutionFailedError the list is empty, two resources have one name, or one is no resource.
 */
export function processDelete<T extends KubernetesObject>(
  context: ResourceContext,
  object: T,
  resources: readonly Resource<T>[],
): Promise<void> {
  return runChain(context, object, { resources, method: 'ensureDeleted', order: 'reverse' });
}

/** What a set's pass runs, and on what. */
export interface SetPass<T extends KubernetesObject> {
  readonly set: ResourceSet<T>;
  readonly method: PassMethod;
}

/**
 * The set's `initContext`, then its resources.
 * @param context - a new one, whose `resourceSet` is the set's name
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

/** The resources that the reconcile of `context` did not come to. */
export function notStartedOf(context: ResourceContext): readonly string[] {
  return passContextOf(context).pass.notStarted;
}

/** Where the pass of `context` is now, or was when it ended: what hangs is there. */
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
  // Whoever changes the list meanwhile means the next pass.
  const left = order === 'reverse' ? resources.toReversed() : [...resources];
  // A deletion leaves no resource out: the finalizer would go all the same.
  const isHeld = (): boolean => method === 'ensureCreated' && root.pass.isHeld;
  while (root.reconciliationCanceled === undefined && !isHeld()) {
    const resource = left.shift();
    if (resource === undefined) return;
    await runResource(root.inResource(resource.name, method), object, { resource, method });
  }
  root.pass.notStarted = left.map(({ name }) => name);
  const { reconciliationCanceled: canceled } = root;
  if (canceled !== undefined) tellCanceled(root, canceled, left);
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

function tellCanceled(
  { logger, resourceSet }: PassContext,
  { resource, step, reason }: Cancellation,
  left: readonly { readonly name: string }[],
): void {
  const where = resource === '' ? step : `${resource}, ${step}`;
  const set = resourceSet === '' ? '' : `set ${resourceSet}, `;
  const skipped = left.map(({ name }) => name);
  const rest = skipped.length === 0 ? 'nothing was left to run' : `not run: ${skipped.join(', ')}`;
  const text = `reconciliation canceled in ${set}${where}${because(reason)}; ${rest}`;
  logger.info(text, { resource, step, reason, skipped });
}

function because(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

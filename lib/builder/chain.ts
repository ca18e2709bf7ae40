import { refId, servedType, stageOf } from '../apply/index.js';
import type { Stage } from '../apply/index.js';
import { describeObject } from '../object/index.js';
import type { KubernetesObject, ObjectReference, ResourceType } from '../object/index.js';
import { InternalStore } from '../store/index.js';
import { nearestName, isOperatorError, OperatorError } from '../system/index.js';
import { definedKinds, kindName } from './apply-order.js';
import type { BuilderSettings } from './builder-options.js';
import { scaleTargetOf } from './dependencies.js';
import { withGenerated } from './generated.js';
import type { Link } from './link.js';
import { withSelections } from './workload-selection.js';

/** A chained object whose type and namespace are resolved. */
export interface ChainedObject {
  readonly link: Link;
  readonly type: ResourceType<KubernetesObject>;
  readonly ref: ObjectReference;
  readonly stage: Stage;
}

/** A chained object that can't be reconciled: its kind is not served, or a look-up or a generated value failed. */
export interface LostObject {
  readonly ref: ObjectReference;
  readonly stage: Stage;
  readonly error: OperatorError;
}

export interface Chain {
  readonly objects: readonly ChainedObject[];
  readonly lost: readonly LostObject[];
  /** The objects by id, see `refId`. */
  readonly byId: ReadonlyMap<string, ChainedObject>;
  /** The ids of the workloads that HorizontalPodAutoscalers scale. */
  readonly scaled: ReadonlySet<string>;
  /** Every chained object, including those in `lost`: pruning keeps them all. */
  readonly store: InternalStore;
}

/**
 * Looks up the kinds and validates the chain as a whole.
 * @throws OperatorError `DuplicateObject`, `UnknownReference`, `InvalidOwner`, `InvalidOption`: the chain is
 * inconsistent, and nothing may be written for it.
 */
export async function resolveChain(
  settings: BuilderSettings,
  chained: readonly Link[],
): Promise<Chain> {
  const links = withSelections(chained, settings);
  const defined = definedKinds(links.map(({ object }) => object));
  const found = await Promise.all(links.map((link) => resolveLink(settings, link, defined)));
  const store = new InternalStore();
  for (const { ref } of found) {
    if (store.put(ref)) continue;
    const message = `${describeObject(ref)} is in the chain twice: chain it once, or give one another name`;
    throw new OperatorError('DuplicateObject', message);
  }
  checkReferences(links, settings);
  checkRolloutOrder(links, settings.rolloutOrder);
  const complete = links.some(({ generated }) => generated !== undefined)
    ? await Promise.all(found.map((one) => generatedIn(settings, one)))
    : found;
  const objects = complete.filter((one): one is ChainedObject => 'link' in one);
  const byId = new Map(objects.map((one) => [refId(one.ref), one] as const));
  const scaled = new Set(objects.flatMap(scaleTargetOf));
  const lost = complete.filter((one): one is LostObject => 'error' in one);
  return { objects, byId, scaled, lost, store };
}

async function generatedIn(
  settings: BuilderSettings,
  one: ChainedObject | LostObject,
): Promise<ChainedObject | LostObject> {
  if (!('link' in one)) return one;
  try {
    return await withGenerated(settings, one);
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return { ref: one.ref, stage: one.stage, error };
  }
}

async function resolveLink(
  settings: BuilderSettings,
  link: Link,
  defined: ReturnType<typeof definedKinds>,
): Promise<ChainedObject | LostObject> {
  const { apiVersion, kind } = link.object;
  const stage = stageOf({ apiVersion, kind });
  try {
    const known = defined.get(kindName(link.object));
    const type = known ?? (await servedType(settings.client, link.type));
    return { link, type, ref: referenceOf(settings, link, type.namespaced), stage };
  } catch (error) {
    if (!isOperatorError(error) || error.code === 'InvalidOwner') throw error;
    if (error.code === 'InvalidOption') throw error;
    const ref = {
      apiVersion,
      kind,
      namespace: link.object.metadata.namespace ?? settings.namespace,
    };
    const name = link.object.metadata.name ?? '';
    return { ref: { ...ref, name }, stage, error: unknownKind({ ...ref, name }, error) };
  }
}

function unknownKind(ref: ObjectReference, cause: OperatorError): OperatorError {
  if (cause.code !== 'UnknownKind') return cause;
  const message = `${describeObject(ref)} can't be applied: the server serves no ${ref.kind} of ${ref.apiVersion}; install its CustomResourceDefinition`;
  return new OperatorError('UnknownKind', message, { cause });
}

function referenceOf(
  { owner, namespace }: BuilderSettings,
  { object }: Link,
  namespaced: boolean,
): ObjectReference {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace: given } = metadata;
  const refuse = (code: 'InvalidOwner' | 'InvalidOption', why: string): never => {
    const subject = describeObject({ kind, namespace: given, name });
    throw new OperatorError(code, `${describeObject(owner)} can't own ${subject}: ${why}`);
  };
  const ownerNamespace = owner.metadata.namespace ?? '';
  if (!namespaced) {
    if (ownerNamespace !== '')
      refuse('InvalidOwner', 'the owner is namespaced, the object is not; leave the object out');
    return { apiVersion, kind, name };
  }
  if (ownerNamespace !== '' && (given ?? ownerNamespace) !== ownerNamespace) {
    refuse(
      'InvalidOwner',
      'owner references never cross namespaces; leave the namespace of the object out',
    );
  }
  const place =
    given ??
    namespace ??
    refuse(
      'InvalidOption',
      'the object has no namespace; give it one, or set the option namespace',
    );
  return { apiVersion, kind, namespace: place, name };
}

function checkReferences(links: readonly Link[], { namespace }: BuilderSettings): void {
  const idOf = (kind: string, name: string, { metadata }: KubernetesObject): string =>
    `${kind}/${metadata.namespace ?? namespace ?? ''}/${name}`;
  const chained = new Set(
    links.map(({ object }) => idOf(object.kind, object.metadata.name ?? '', object)),
  );
  for (const link of links) {
    for (const { name, by, kinds } of link.requires) {
      if (kinds.some((kind) => chained.has(idOf(kind, name, link.object)))) continue;
      const others = links.filter(({ object }) => kinds.some((kind) => kind === object.kind));
      const nearest = nearestName(
        name,
        others.flatMap(({ object }) => object.metadata.name ?? []),
      );
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      const message = `${describeObject(link.object)}: ${by} names ${kinds.join(' or ')} ${name}, which is not in the chain; chain it, or correct the name${hint}`;
      throw new OperatorError('UnknownReference', message);
    }
  }
}

// The order may contain node types that no workload has, but it must contain the node type of each workload.
function checkRolloutOrder(links: readonly Link[], order: readonly string[] | undefined): void {
  if (order === undefined) return;
  const stray = links.find(
    ({ workload }) => workload?.nodeType !== undefined && !order.includes(workload.nodeType),
  );
  if (stray === undefined) return;
  const message = `${describeObject(stray.object)}: its nodeType ${stray.workload?.nodeType ?? ''} is not in rolloutOrder (${order.join(', ')}); add it there, or correct it`;
  throw new OperatorError('UnknownReference', message);
}

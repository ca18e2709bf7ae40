import { fieldElement, parsePathElement, pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import { elementsOf } from '../object/field-tree.js';
import type { FieldNode } from '../object/field-tree.js';
import { isJsonObject, memberOf, setMember, withoutMember } from '../object/json.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields } from '../object/managed-fields.js';
import { isRollingOut, rolloutStatus } from '../object/rollout-status.js';
import { valueAtPath } from '../object/value-at-path.js';
import { changesBesideDrift, driftOf } from './applied-fields.js';
import { hasHopelessPod } from './blocking-pod.js';
import type { RunContext } from './context.js';
import { changedDesire } from './desired-object.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { droppedFields } from './dropped-fields.js';
import { podTemplatePath, rollsPods } from './kind-traits.js';
import type { PodTemplate } from './kinds/pod-template.js';
import { withPodTemplate } from './pod-references.js';
import { rolloutStateOf } from './rollout-state.js';

/** What an object has to wait for: the workloads before it, or those that a Service moves to. */
export interface Gate {
  /** Why its pods must not be replaced yet; undefined: they may be. */
  readonly replacement?: string | undefined;
  /** Says why it must not be changed yet; undefined: it may be. */
  readonly update?: ((live: UnstructuredObject) => Promise<string | undefined>) | undefined;
  /** Why it must not be created yet; undefined: it may be. */
  readonly creation?: string | undefined;
}

/**
 * Why the pods of a workload must not be replaced yet; undefined: they may be. A workload that is
 * itself broken (none of its pods is available, one can't start, or its rollout is stuck) never waits:
 * the change may be its repair.
 */
export async function reasonToHold(
  context: RunContext,
  { desired, live }: Pair,
  { replacement }: Gate,
): Promise<string | undefined> {
  if (replacement === undefined || !rollsPods(live)) return undefined;
  const { clock, controllerName } = context.settings;
  const { progressDeadlineSeconds = 600 } = desired.link.workload ?? {};
  const judgement = { clock, controllerName, progressDeadlineSeconds };
  const isBroken =
    rolloutStateOf(live, judgement)?.state === 'stuck' ||
    (!isRollingOut(live) && hasNoPods(live)) ||
    (!rolloutStatus(live).complete && (await hasHopelessPod(context, live)));
  return isBroken ? undefined : replacement;
}

/** Whether pods are wanted, and none is available. */
function hasNoPods(live: UnstructuredObject): boolean {
  const { availableReplicas, numberAvailable } = (live['status'] ?? {}) as {
    readonly availableReplicas?: number;
    readonly numberAvailable?: number;
  };
  return !rolloutStatus(live).complete && (availableReplicas ?? numberAvailable ?? 0) === 0;
}

/**
 * Whether applying `desired` would change the pod template, apart from the repair of drift: fields
 * that another manager changed by hand.
 */
export function changesTemplate(pair: Pair, manager: string): boolean {
  const template = podTemplatePath(pair.live) ?? [];
  const prefix = pathToString(template.map(fieldElement));
  const drift = driftOf(pair, manager);
  const changes = [...changesBesideDrift(pair, drift), ...droppedFields(pair, manager)];
  return changes.some(({ path }) => path === prefix || path.startsWith(`${prefix}.`));
}

/**
 * `desired` with the pod template that `manager` has applied before and still owns, so that applying it
 * leaves the pods alone. Its hash is another one: the next reconcile still finds the change.
 */
export function withLiveTemplate({ desired, live }: Pair, manager: string): DesiredObject {
  const template = appliedTemplate(live, manager);
  const kept = changedDesire(desired, (object) =>
    template === undefined ? withoutTemplate(object) : withPodTemplate(object, template),
  );
  return { ...kept, variables: [] };
}

function withoutTemplate(object: UnstructuredObject): UnstructuredObject {
  const spec = object['spec'];
  return isJsonObject(spec) ? { ...object, spec: withoutMember(spec, 'template') } : object;
}

function appliedTemplate(live: UnstructuredObject, manager: string): PodTemplate | undefined {
  const path: FieldPath = (podTemplatePath(live) ?? []).map(fieldElement);
  let node: FieldNode | undefined = appliedFields(live, manager)?.root;
  for (const element of path) node = node?.[element];
  if (node === undefined) return undefined;
  return ownPart(valueAtPath(live, path), node) as PodTemplate;
}

/** The fields of `value` that are in the set of `node`; lists keep their order, by which pods roll. */
function ownPart(value: unknown, node: FieldNode): unknown {
  const elements = elementsOf(node);
  // Without anything below it, the field is owned as a whole; with itself only, as an empty one.
  if (elements.length === 0 && Object.keys(node).length === 0) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const owned = elements.map((element) => ({ element, item: valueAtPath(items, [element]) }));
    return items.flatMap((item) => {
      const found = owned.find((one) => one.item === item);
      return found === undefined ? [] : [ownPart(item, node[found.element] ?? {})];
    });
  }
  if (!isJsonObject(value)) return value;
  const part: Record<string, unknown> = {};
  for (const element of elements) {
    const parsed = parsePathElement(element);
    if (parsed.type !== 'field') continue;
    const member = memberOf(value, parsed.name);
    if (member !== undefined) setMember(part, parsed.name, ownPart(member, node[element] ?? {}));
  }
  return part;
}

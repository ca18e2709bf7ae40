import maxBy from 'lodash/maxBy.js';
import { isKind, readObject } from '../apply/index.js';
import type { KeptPart } from '../apply/index.js';
import {
  deepEqual,
  describeObject,
  isControlledBy,
  isJsonObject,
  NetworkPolicy,
  PodDisruptionBudget,
} from '../object/index.js';
import type { LabelSelector, UnstructuredObject } from '../object/index.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { isTaken, selectedBy, selects } from './pod-selectors.js';
import type { SelectingObject } from './pod-selectors.js';

/** A selector that a NetworkPolicy or a PodDisruptionBudget has to keep. */
interface KeptSelector extends KeptPart {
  /** The chained workloads whose present pods the new selector would not select. */
  readonly workloads: readonly ChainedObject[];
}

interface Workload {
  readonly chained: ChainedObject;
  readonly live: UnstructuredObject;
}

/**
 * Returns the selector that a NetworkPolicy or a PodDisruptionBudget has to keep; undefined if it may get the new
 * selector. The new selector selects the pods that the chain desires. The pods of a live workload may still have other
 * labels, because its selector is immutable: they would lose their policy. The object therefore gets the selector that
 * selects the pods of most of these workloads: its present selector, that of a live workload, or the new one. A present
 * selector that another manager has set does not count.
 */
export async function keptSelector(
  context: RunContext,
  chain: Chain,
  { chained, live }: SelectingObject,
): Promise<KeptSelector | undefined> {
  const field = selectorField(live);
  if (field === undefined) return undefined;
  const wanted = selectorIn(chained.link.object, field);
  if (wanted === undefined) return undefined;
  const present = isTaken(context, live, field) ? undefined : selectorIn(live, field);
  if (deepEqual(wanted, present)) return undefined;
  const workloads = await workloadsOf(context, selectedBy(chain, chained, wanted));
  const missed = workloads.filter((one) => !selects(wanted, one.live));
  const [first] = missed;
  const { owner } = context.settings;
  const own = workloads.filter((one) => isControlledBy(one.live, owner));
  const candidates = [present, ...own.map((one) => selectorIn(one.live, 'selector')), wanted];
  const kept = maxBy(
    candidates.flatMap((each) => each ?? []),
    (each) => workloads.filter((one) => selects(each, one.live)).length,
  );
  if (first === undefined || deepEqual(kept, wanted)) return undefined;
  return {
    reason: `keeps its selector, because the new one would not select the pods of ${describeObject(first.live)}`,
    change: (object) => ({ ...object, spec: { ...specOf(object), [field]: kept } }),
    workloads: missed.map((one) => one.chained),
  };
}

function selectorField(object: UnstructuredObject): string | undefined {
  if (isKind(object, NetworkPolicy)) return 'podSelector';
  return isKind(object, PodDisruptionBudget) ? 'selector' : undefined;
}

function specOf({ spec }: UnstructuredObject): Readonly<Record<string, unknown>> {
  return isJsonObject(spec) ? spec : {};
}

function selectorIn(object: UnstructuredObject, field: string): LabelSelector | undefined {
  return specOf(object)[field] as LabelSelector | undefined;
}

/** Returns those of `chained` that exist, each with its live object. */
async function workloadsOf(
  context: RunContext,
  chained: readonly ChainedObject[],
): Promise<readonly Workload[]> {
  const found: Workload[] = [];
  for (const one of chained) {
    const live = await readObject(context, one.type, one.ref);
    if (live !== undefined) found.push({ chained: one, live });
  }
  return found;
}

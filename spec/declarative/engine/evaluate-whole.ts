import { isJsonObject, memberOf, withMember } from '../../../lib/object/json.js';
import type { Document } from '../../../lib/declarative/document.js';
import {
  compareSortKeys,
  compareTexts,
  sortKeyOf,
} from '../../../lib/declarative/engine/gather-node.js';
import { canonicalText, documentKey } from '../../../lib/declarative/engine/z-set.js';
import type { GatherStep } from '../../../lib/declarative/engine/gather-node.js';
import type { JoinPlan } from '../../../lib/declarative/engine/compile-join.js';
import type { PipelinePlan } from '../../../lib/declarative/engine/compile-pipeline.js';

/**
 * Evaluates a pipeline on all documents of its sources from scratch, and tries every combination. Serves as
 * the reference for results and performance of `Pipeline`; shares no node with it.
 * @param documents - by source name; a missing source has no documents
 */
export function evaluateWhole(
  plan: PipelinePlan,
  documents: Readonly<Record<string, readonly Document[]>>,
): readonly Document[] {
  const given = plan.sources.map((name) => (memberOf(documents, name) ?? []) as Document[]);
  let result = plan.join === undefined ? given.flat() : joined(plan.join, given);
  for (const stage of plan.stages) {
    result =
      stage.type === 'each'
        ? result.flatMap((document) => tried(() => stage.step.apply(document)) ?? [])
        : gathered(stage.step, result);
  }
  return result;
}

function joined({ sources, condition }: JoinPlan, given: readonly Document[][]): Document[] {
  const found: Document[] = [];
  const combine = (number: number, start: Document): void => {
    const source = sources[number];
    if (source === undefined) {
      if (tried(() => condition(start)) === true) found.push(start);
      return;
    }
    for (const object of given[number] ?? []) {
      combine(number + 1, withMember(start, source.name, object));
    }
  };
  combine(0, {});
  return found;
}

function gathered({ key, at }: GatherStep, documents: readonly Document[]): Document[] {
  const groups = new Map<string, Document[]>();
  for (const document of documents) {
    if ((at.get(document) ?? null) === null) continue;
    const name = tried(() => {
      at.set(document, []);
      const groupKey = key(document) ?? undefined;
      return groupKey === undefined ? undefined : canonicalText(groupKey);
    });
    if (name === undefined) continue;
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [document]);
    else members.push(document);
  }
  return [...groups.values()].map((members) => {
    const values = members.map((member) => at.get(member));
    values.sort((one, other) => compareSortKeys(sortKeyOf(one), sortKeyOf(other)));
    const [lowest = {}] = members.toSorted(compareNames);
    return at.set(lowest, values);
  });
}

function compareNames(one: Document, other: Document): number {
  for (const member of ['name', 'namespace']) {
    const order = compareTexts(metadataText(one, member), metadataText(other, member));
    if (order !== 0) return order;
  }
  return compareTexts(documentKey(one), documentKey(other));
}

function metadataText(document: Document, member: string): string {
  const metadata = memberOf(document, 'metadata');
  const value = isJsonObject(metadata) ? memberOf(metadata, member) : undefined;
  return typeof value === 'string' ? value : '';
}

/** Returns undefined when the call fails. */
function tried<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

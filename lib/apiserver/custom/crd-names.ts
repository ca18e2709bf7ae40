import { deepEqual } from '../../object/index.js';
import { aggregated } from '../status-error.js';
import type { Crd, CrdCondition, CrdNames } from './crd.js';

/** The names that the CRDs of a group have. */
export interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** The names that a CRD may use, and whether these are all that it requests. */
export interface AcceptedNames {
  readonly names: CrdNames;
  readonly condition: Omit<CrdCondition, 'lastTransitionTime'>;
}

/** Collects the accepted names of CRDs of one group. */
export function usedNames(crds: Iterable<Crd>): UsedNames {
  const kinds = new Set<string>();
  const resources = new Set<string>();
  for (const { status } of crds) {
    const { plural, singular, shortNames = [], kind, listKind } = status?.acceptedNames ?? {};
    for (const used of [kind, listKind]) kinds.add(used ?? '');
    for (const used of [plural, singular, ...shortNames]) resources.add(used ?? '');
  }
  kinds.delete('');
  resources.delete('');
  return { kinds, resources };
}

/** Accepts each name that this CRD has already, or that no other CRD of the group has. Reports the last conflict. */
export function acceptNames({ spec, status }: Crd, { resources, kinds }: UsedNames): AcceptedNames {
  const { categories, ...wanted } = spec.names;
  const names: { -readonly [K in keyof CrdNames]: CrdNames[K] } = {
    ...(status?.acceptedNames ?? { plural: '', kind: '' }),
  };
  let condition = noConflicts;
  const accept = (
    member: 'plural' | 'singular' | 'kind' | 'listKind',
    used: ReadonlySet<string>,
  ): void => {
    const { [member]: name = '' } = wanted;
    if (name === names[member] || !used.has(name)) names[member] = name;
    else condition = conflict(`${member.charAt(0).toUpperCase()}${member.slice(1)}`, inUse(name));
  };
  accept('plural', resources);
  accept('singular', resources);
  const { shortNames = [] } = wanted;
  const own = names.shortNames ?? [];
  const taken = shortNames.filter((name) => !own.includes(name) && resources.has(name));
  if (taken.length > 0) condition = conflict('ShortNames', aggregated(taken.map(inUse)));
  else if (shortNames.length > 0) names.shortNames = shortNames;
  else delete names.shortNames;
  accept('kind', kinds);
  accept('listKind', kinds);
  if (categories === undefined) delete names.categories;
  else names.categories = categories;
  return { names, condition };
}

const noConflicts: AcceptedNames['condition'] = {
  ...{ type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
  message: 'no conflicts found',
};

function conflict(name: string, message: string): AcceptedNames['condition'] {
  return { type: 'NamesAccepted', status: 'False', reason: `${name}Conflict`, message };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Returns the conditions with `next` in place of the condition of its type. The time changes with the status only. */
export function setCondition(
  conditions: readonly CrdCondition[],
  next: Omit<CrdCondition, 'lastTransitionTime'>,
  now: string,
): readonly CrdCondition[] {
  const { type, status, reason, message } = next;
  const before = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const condition = {
    ...{ type, status },
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
    ...{ reason, message },
  } as CrdCondition;
  if (before === undefined) return [...conditions, condition];
  return conditions.map((other) => (other === before ? condition : other));
}

/** Returns whether a list has this condition, whatever its time. */
export function hasCondition(
  conditions: readonly CrdCondition[],
  wanted: Omit<CrdCondition, 'lastTransitionTime'>,
): boolean {
  return conditions.some(({ type, status, reason, message }) =>
    deepEqual({ type, status, reason, message }, wanted),
  );
}

const versionForm = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stability = { alpha: 0, beta: 1, stable: 2 } as const;

/** Orders versions as CRDs do: stable before beta before alpha, higher numbers first, others last. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [versionForm.exec(one), versionForm.exec(other)];
  if (first === null || second === null) {
    if (first === null && second === null) return one < other ? -1 : 1;
    return first === null ? 1 : -1;
  }
  const [left, right] = [rank(first), rank(second)];
  const difference = left.findIndex((value, index) => value !== right[index]);
  return difference < 0 ? 0 : (right[difference] ?? 0) - (left[difference] ?? 0);
}

function rank([, major, name, minor]: RegExpExecArray): readonly number[] {
  const level = name === 'alpha' || name === 'beta' ? name : 'stable';
  return [stability[level], Number(major), Number(minor ?? 0)];
}

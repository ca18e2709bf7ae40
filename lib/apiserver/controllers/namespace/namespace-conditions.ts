import type { Namespace } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';

/** One of `status.conditions` of a Namespace. */
export type NamespaceCondition = NonNullable<
  NonNullable<Namespace['status']>['conditions']
>[number];

/** The remaining content of a namespace that is being deleted. */
export interface RemainingContent {
  /** Number of objects by `plural.group`. For the core group, the key ends in a dot. */
  readonly resources: ReadonlyMap<string, number>;
  /** Number of objects that wait, by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Reasons why objects could not be deleted. */
  readonly failures: readonly string[];
}

interface Statement {
  readonly type: string;
  readonly fine: readonly [reason: string, message: string];
  /** The statement of a problem, if there is one. */
  readonly wrong?: readonly [reason: string, message: string] | undefined;
}

/** Returns the five conditions of a namespace that is being deleted. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  content: RemainingContent,
  nowMs: number,
): NamespaceCondition[] {
  const statements = [...discoveryStatements, ...contentStatements(content)];
  const types = statements.map(({ type }) => type);
  const others = before.filter(({ type }) => !types.includes(type));
  return [...others, ...statements.map((statement) => conditionFor(statement, before, nowMs))];
}

function conditionFor(
  { type, fine, wrong }: Statement,
  before: readonly NamespaceCondition[],
  nowMs: number,
): NamespaceCondition {
  const [reason, message] = wrong ?? fine;
  const status = wrong === undefined ? 'False' : 'True';
  const known = before.find((condition) => condition.type === type);
  const now = timestamp(nowMs);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  return { type, status, lastTransitionTime, reason, message };
}

// This server always knows its own kinds.
const discoveryStatements: readonly Statement[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    fine: ['ResourcesDiscovered', 'All resources successfully discovered'],
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    fine: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  },
];

function contentStatements({ resources, finalizers, failures }: RemainingContent): Statement[] {
  return [
    {
      type: 'NamespaceDeletionContentFailure',
      fine: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      wrong: failures.length === 0 ? undefined : contentFailure(failures),
    },
    {
      type: 'NamespaceContentRemaining',
      fine: ['ContentRemoved', 'All content successfully removed'],
      wrong: counts(resources, 'has', (list) => [
        'SomeResourcesRemain',
        `Some resources are remaining: ${list}`,
      ]),
    },
    {
      type: 'NamespaceFinalizersRemaining',
      fine: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      wrong: counts(finalizers, 'in', (list) => [
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${list}`,
      ]),
    },
  ];
}

function contentFailure(failures: readonly string[]): readonly [string, string] {
  const what = `Failed to delete all resource types, ${failures.length} remaining`;
  return ['ContentDeletionFailed', `${what}: ${failures.toSorted().join(', ')}`];
}

function counts(
  numbers: ReadonlyMap<string, number>,
  word: string,
  say: (list: string) => readonly [string, string],
): readonly [string, string] | undefined {
  if (numbers.size === 0) return undefined;
  const parts = [...numbers].map(([name, count]) => `${name} ${word} ${count} resource instances`);
  return say(parts.sort().join(', '));
}

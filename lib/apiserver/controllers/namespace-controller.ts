import {
  findCondition,
  isNotFound,
  Namespace,
  Pod,
  keyOf,
  apiVersionOf,
} from '../../object/index.js';
import type { ObjectKey, UnstructuredObject, ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { manager, sameType } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { failureMessage, transitionTime } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

const namespaceFinalizer = 'kubernetes';

/** Deletes the content of each namespace that is being deleted, Pods first, then removes its finalizer. */
export class NamespaceController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #terminating = new Set<string>();

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#queue = host.objectQueue(Namespace, 'namespaces', (key) => this.#reconcile(key));
    host.watchAll(({ type, object }) => {
      const { namespace: name = '' } = object.metadata;
      if (type === 'DELETED' && this.#terminating.has(name)) this.#queue.add({ name });
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const namespace = this.#host.get(Namespace, key);
    if (namespace?.metadata.deletionTimestamp === undefined) {
      this.#terminating.delete(key.name);
      return;
    }
    this.#terminating.add(key.name);
    const content = await this.#deleteContent(key.name);
    const live = this.#host.get(Namespace, key);
    if (live === undefined) return;
    const conditions = namespaceConditions(
      live.status?.conditions ?? [],
      reported(content),
      this.#host.now(),
    );
    const updated = await this.#writer.updateStatus(live, { ...live.status, conditions });
    if (content.failures.length > 0) {
      // No event announces when the deletes would succeed, so the queue retries them with back-off.
      throw new OperatorError('ReconcileFailed', content.failures.join('; '));
    }
    if (content.resources.size === 0) await this.#finalize(updated);
  }

  async #deleteContent(namespace: string): Promise<RemainingContent> {
    const content = { resources: new Map(), finalizers: new Map(), failures: [] };
    const namespaced = this.#host.loopback.resourceTypes().filter((type) => type.namespaced);
    const pods = namespaced.filter((type) => sameType(type, Pod));
    for (const type of pods) await this.#deleteAll(type, namespace, content);
    // Terminating pods may need other objects until they are gone.
    if (content.resources.size > 0) return content;
    for (const type of namespaced) {
      if (!sameType(type, Pod)) await this.#deleteAll(type, namespace, content);
    }
    return content;
  }

  async #deleteAll(type: ResourceType, namespace: string, content: MutableContent): Promise<void> {
    for (const object of this.#host.loopback.list(type, namespace)) {
      try {
        await this.#delete(type, object);
      } catch (error) {
        const what = `${type.plural}.${apiVersionOf(type)} ${object.metadata.name ?? ''}`;
        content.failures.push(`${what}: ${failureMessage(error)}`);
      }
    }
    const left = this.#host.loopback.list(type, namespace);
    if (left.length > 0) content.resources.set(`${type.plural}.${type.group}`, left.length);
    for (const finalizer of left.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
      content.finalizers.set(finalizer, (content.finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  async #delete(type: ResourceType, object: UnstructuredObject): Promise<void> {
    if (object.metadata.deletionTimestamp !== undefined) return;
    try {
      await this.#host.loopback.delete(type, keyOf(object), { propagationPolicy: 'Background' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #finalize(namespace: Namespace): Promise<void> {
    const before = namespace.spec?.finalizers ?? [];
    if (!before.includes(namespaceFinalizer)) return;
    const finalizers = before.filter((finalizer) => finalizer !== namespaceFinalizer);
    await this.#writer.update(
      { ...namespace, spec: { ...namespace.spec, finalizers } },
      'finalize',
    );
  }
}

interface MutableContent {
  readonly resources: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly failures: string[];
}

/** Omits the counts while pods remain, as the real controller does. */
function reported(content: RemainingContent): RemainingContent {
  const podsLeft = content.resources.has('pods.');
  return podsLeft ? { ...content, resources: new Map(), finalizers: new Map() } : content;
}

type NamespaceCondition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number];

/** The remaining content of a namespace that is being deleted. */
interface RemainingContent {
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
  /** The reason and the message if there is a problem. */
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
  const lastTransitionTime = transitionTime(findCondition(before, type), status, nowMs);
  return { type, status, lastTransitionTime, reason, message };
}

// The embedded server never fails to discover its own kinds, so this condition never reports a failure.
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

import type { PlannedObject } from '../apply/index.js';
import type { Plan } from '../builder/index.js';
import type { Client } from '../client/index.js';
import { groupOf, redacted, referenceTo } from '../object/index.js';
import type { FieldChange, ObjectReference } from '../object/index.js';
import type { ResourcePlan } from './plan-resource.js';

/** A resource in a namespace, or a cluster-scoped one. */
export interface ReadResource {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string | undefined;
}

/**
 * Returns a plan for a user who is not allowed to read all of its objects. Replaces the values of unreadable objects,
 * and leaves these objects out of `manifests`. Names, actions and the paths of changed fields stay.
 * @param isReadable - called once for each kind and namespace
 */
export async function hideUnreadable(
  plan: ResourcePlan,
  isReadable: (resource: ReadResource) => Promise<boolean>,
  client: Pick<Client, 'resourceType'>,
): Promise<ResourcePlan> {
  const readable = new Map<string, boolean>();
  for (const { ref } of plan.objects) {
    if (readable.has(placeOf(ref))) continue;
    const { group, plural: resource, namespaced } = await client.resourceType(ref);
    const namespace = namespaced ? ref.namespace : undefined;
    readable.set(placeOf(ref), await isReadable({ group, resource, namespace }));
  }
  const isHidden = (ref: ObjectReference): boolean => readable.get(placeOf(ref)) !== true;
  const shown = <T extends Pick<PlannedObject, 'ref' | 'changes'>>(part: T): T =>
    isHidden(part.ref) ? { ...part, changes: part.changes.map(hidden) } : part;
  const hiding = <T extends Plan>(part: T): T => ({
    ...part,
    objects: part.objects.map(shown),
    rollouts: part.rollouts.map(shown),
  });
  return {
    ...hiding(plan),
    ...(plan.waits !== undefined && isHidden(plan.owner) && { waits: redacted }),
    steps: plan.steps.map(hiding),
    manifests: plan.manifests.filter(({ before, after }) => {
      const object = after ?? before;
      return object !== undefined && !isHidden(referenceTo(object));
    }),
  };
}

function hidden({ path, from, to }: FieldChange): FieldChange {
  const instead = (value: unknown): unknown => (value === undefined ? undefined : redacted);
  return { path, from: instead(from), to: instead(to) };
}

function placeOf({ apiVersion, kind, namespace = '' }: ObjectReference): string {
  // The steps of a plan may show one object in different API versions.
  return [groupOf(apiVersion), kind, namespace].join(' ');
}

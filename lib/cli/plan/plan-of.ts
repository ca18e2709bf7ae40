import omit from 'lodash/omit.js';
import { desiredDifferences } from '../../builder/desired-differences.js';
import type { Plan, PlannedObject, PlannedRollout } from '../../builder/index.js';
import { rollsPods } from '../../builder/kind-traits.js';
import { appliedHashAnnotation } from '../../builder/marks.js';
import { updatesOnDelete } from '../../builder/rollout-state.js';
import { diffObjects, serverSetFields } from '../../object/diff-by-path.js';
import type { FieldChange } from '../../object/diff-by-path.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { referenceTo } from '../../object/object-reference.js';
import { redactChanges } from '../../object/redact.js';
import { hashSources } from './hash-of.js';
import { lastAppliedAnnotation } from './applied-resource.js';
import type { PlannedObjectState } from './planned-objects.js';

/** Bookkeeping that says nothing to who reads a plan. */
const notes: readonly string[] = [appliedHashAnnotation, lastAppliedAnnotation];
const ignore = [
  ...serverSetFields,
  ...notes.map((name) => `metadata.annotations[${JSON.stringify(name)}]`),
];

/** What was written in a plan, as the builder says it. @param owner - whom the plan is for */
export function planOf(written: readonly PlannedObjectState[], owner: KubernetesObject): Plan {
  const states = written.filter(({ before, after }) => before ?? after);
  const objects = states.map(plannedObject);
  const rollouts = states.flatMap((state, index) => {
    const [object] = objects.slice(index, index + 1);
    return object === undefined ? [] : rolloutOf(state, { object, objects });
  });
  const changed = objects.some(({ action }) => action !== 'unchanged');
  return { owner: { ...referenceTo(owner) }, objects, rollouts, changed };
}

function plannedObject(state: PlannedObjectState): PlannedObject {
  const { before, after, guessed, recreated = false } = state;
  const ref = referenceTo((before ?? after) as UnstructuredObject);
  const base = {
    ...{ ref, approximate: guessed !== undefined },
    ...(guessed !== undefined && { reason: guessed }),
  };
  if (after === undefined) return { ...base, action: 'prune', changes: [] };
  if (before === undefined) return { ...base, action: 'create', changes: creationOf(state, after) };
  // Whatever the cluster's controllers say of it is no change of the operator's.
  const ignored = state.simulated === true ? [...ignore, 'status'] : ignore;
  const [from, to] = [withNotes(before), withNotes(after)];
  const changes = redactChanges(ref.kind, diffObjects(from, to, { ignore: ignored }));
  if (recreated) {
    return { ...base, action: 'recreate', changes, reason: 'it is deleted and made again' };
  }
  return { ...base, action: changes.length > 0 ? 'configure' : 'unchanged', changes };
}

/** The first annotation is not to be shown as all of them, with those that are left out. */
function withNotes(object: UnstructuredObject): UnstructuredObject {
  const { annotations } = object.metadata;
  if (annotations !== undefined && Object.keys(omit(annotations, notes)).length > 0) return object;
  return { ...object, metadata: omit(object.metadata, 'annotations') };
}

/** Every field that was wanted: defaults of the server would hide them. */
function creationOf(
  { wanted }: PlannedObjectState,
  after: UnstructuredObject,
): readonly FieldChange[] {
  const { metadata, ...fields } = wanted ?? after;
  const { labels, annotations = {} } = metadata;
  const own = omit(annotations, notes);
  const shown = { labels, ...(Object.keys(own).length > 0 && { annotations: own }) };
  const whole = { metadata: shown, ...omit(fields, ['apiVersion', 'kind']) };
  return redactChanges(after.kind, desiredDifferences(whole, { metadata: {} }));
}

interface InPlan {
  readonly object: PlannedObject;
  readonly objects: readonly PlannedObject[];
}

/** The rollout that a change of a workload causes, and which fields or objects cause that. */
function rolloutOf(
  { before, after }: PlannedObjectState,
  { object, objects }: InPlan,
): readonly PlannedRollout[] {
  const { ref, action } = object;
  if (before === undefined || after === undefined) return [];
  if (!rollsPods(ref) || updatesOnDelete(after)) return [];
  const changes = object.changes.filter(({ path }) => path.startsWith('spec.template'));
  if (changes.length === 0 && action !== 'recreate') return [];
  const changed = objects.filter((other) => other.action !== 'unchanged');
  const refs = changed.map((other) => other.ref);
  const isExplained = changes.every((change) => hashSources(change, refs).length > 0);
  const causes = refs.filter((each) =>
    changes.some((one) => hashSources(one, refs).includes(each)),
  );
  return [{ ref, changes, causes: isExplained ? causes : [] }];
}

import omit from 'lodash/omit.js';
import {
  desiredDifferences,
  growsTemplates,
  keepsRevision,
  reasonOfRecreation,
  rollsPods,
} from '../apply/index.js';
import type { PlannedObject } from '../apply/index.js';
import type { Plan, PlannedRollout } from '../builder/index.js';
import { withoutBookkeeping } from '../feed/index.js';
import {
  diffObjects,
  redactChanges,
  redactObject,
  serverSetFields,
  referenceTo,
  groupOf,
  isBuiltInGroup,
} from '../object/index.js';
import type {
  FieldChange,
  KubernetesObject,
  UnstructuredObject,
  ObjectReference,
  Schema,
} from '../object/index.js';
import { replacedIn } from './planned-objects.js';
import type { PlannedObjectState } from './planned-objects.js';

/** Returns the schema of an object's kind; undefined if it is not known. */
export type SchemaSource = (object: UnstructuredObject) => Schema | undefined;

/** Returns the writes of a plan in the builder's form. @param owner - the object that the plan is for */
export function planOf(
  written: readonly PlannedObjectState[],
  owner: KubernetesObject,
  schemaOf: SchemaSource,
): Plan {
  const states = written.filter(({ before, after }) => before ?? after);
  const objects = states.map((state) => plannedObject(state, schemaOf));
  const rollouts = states.flatMap((state, index) => {
    const object = objects[index];
    return object === undefined ? [] : rolloutOf(state, { object, objects });
  });
  const changed = objects.some(({ action }) => action !== 'unchanged');
  return { owner: { ...referenceTo(owner) }, objects, rollouts, changed };
}

function plannedObject(state: PlannedObjectState, schemaOf: SchemaSource): PlannedObject {
  const { before, after, guessed, recreated = false } = state;
  const ref = referenceTo((before ?? after) as UnstructuredObject);
  const base = {
    ...{ ref, approximate: guessed !== undefined },
    ...(guessed !== undefined && { reason: guessed }),
  };
  if (after === undefined) return { ...base, action: 'prune', changes: [] };
  if (before === undefined) return { ...base, action: 'create', changes: creationOf(state, after) };
  const ignored = hasOwnStatus(state) ? serverSetFields : [...serverSetFields, 'status'];
  const [from, to] = [withoutBookkeeping(before), withoutBookkeeping(withUidOf(after, before))];
  const compared = { ignore: ignored, schema: schemaOf(after) };
  const changes = redactChanges(ref.kind, diffObjects(from, to, compared));
  if (recreated) return { ...base, action: 'recreate', changes, reason: reasonOf(state, changes) };
  return { ...base, action: changes.length > 0 ? 'configure' : 'unchanged', changes };
}

/**
 * Returns false if the plan changes the status without a write of the operator: the status is simulated, or it is lost
 * because the object is recreated.
 */
function hasOwnStatus({ simulated, recreated, writers }: PlannedObjectState): boolean {
  if (simulated === true) return false;
  return recreated !== true || [...writers].some((each) => each.endsWith('/status'));
}

function reasonOf(
  { orphaned, after }: PlannedObjectState,
  changes: readonly FieldChange[],
): string {
  if (after === undefined || orphaned !== true) return 'it is deleted and created again';
  const rolls = templateChanges(changes).length > 0 && !keepsRevision(after);
  return reasonOfRecreation({ grows: growsTemplates(after, changes), rolls });
}

function templateChanges(changes: readonly FieldChange[]): readonly FieldChange[] {
  return changes.filter(({ path }) => path.startsWith('spec.template'));
}

/** Returns a recreated object with the uid of its predecessor, because the server chooses the new uid at random. */
function withUidOf(
  object: UnstructuredObject,
  { metadata }: UnstructuredObject,
): UnstructuredObject {
  return replacedIn(object, { from: object.metadata.uid, to: metadata.uid });
}

/**
 * Returns the fields of a created object: all of them for a custom resource, only the desired ones for a
 * built-in kind.
 */
function creationOf(
  { wanted }: PlannedObjectState,
  after: UnstructuredObject,
): readonly FieldChange[] {
  // Built-in kinds have many defaults, which would hide the desired fields.
  const shown = isBuiltInGroup(groupOf(after.apiVersion)) ? (wanted ?? after) : after;
  const { metadata, ...fields } = withoutBookkeeping(shown);
  const { labels, annotations } = metadata;
  const whole = {
    metadata: { labels, annotations },
    ...omit(fields, ['apiVersion', 'kind', 'status']),
  };
  return redactChanges(after.kind, desiredDifferences(whole, { metadata: {} }));
}

/** A whole object of a plan, without fields that only the server and tools write; a Secret without values. */
export interface PlannedManifest {
  readonly action: PlannedObject['action'];
  /** State on the server; absent: does not exist. */
  readonly before?: UnstructuredObject;
  /** Planned state; absent: deleted. */
  readonly after?: UnstructuredObject;
}

/** Returns whole objects, now and at the end of a plan. */
export function manifestsOf(
  written: readonly PlannedObjectState[],
  schemaOf: SchemaSource,
): readonly PlannedManifest[] {
  return written
    .filter(({ before, after }) => before ?? after)
    .map((state) => {
      const { before, after } = state;
      const own = after && !hasOwnStatus(state) ? withStatusOf(after, before) : after;
      const end = own && before ? withUidOf(own, before) : own;
      return {
        action: plannedObject(state, schemaOf).action,
        ...(before !== undefined && { before: manifestOf(before) }),
        ...(end !== undefined && { after: manifestOf(end, before) }),
      };
    });
}

function withStatusOf(
  object: UnstructuredObject,
  { status }: Partial<UnstructuredObject> = {},
): UnstructuredObject {
  const rest = omit(object, 'status') as UnstructuredObject;
  return status === undefined ? rest : { ...rest, status };
}

function manifestOf(object: UnstructuredObject, before?: UnstructuredObject): UnstructuredObject {
  const shown = withoutBookkeeping(redactObject(object, before));
  return { ...shown, metadata: omit(shown.metadata, setByServer) };
}

const setByServer = serverSetFields.map((path) => path.slice('metadata.'.length));

interface InPlan {
  readonly object: PlannedObject;
  readonly objects: readonly PlannedObject[];
}

/** Returns the rollout that a change of a workload causes, with the fields or objects behind it. */
function rolloutOf(
  { before, after, orphaned }: PlannedObjectState,
  { object, objects }: InPlan,
): readonly PlannedRollout[] {
  const { ref, action } = object;
  if (before === undefined || after === undefined) return [];
  if (!rollsPods(ref)) return [];
  const changes = templateChanges(object.changes);
  const deletesPods = action === 'recreate' && orphaned !== true;
  if (!deletesPods && (changes.length === 0 || keepsRevision(after))) return [];
  const changed = objects.filter((other) => other.action !== 'unchanged');
  const refs = changed.map((other) => other.ref);
  const isExplained = changes.every((change) => hashSources(change, refs).length > 0);
  const causes = refs.filter((each) =>
    changes.some((one) => hashSources(one, refs).includes(each)),
  );
  return [{ ref, changes, causes: isExplained ? causes : [] }];
}

/**
 * Returns the ConfigMaps and Secrets behind a change of a pod template: the changed environment variables
 * contain their names. The builder rolls pods by such hash variables.
 */
export function hashSources<T extends Pick<ObjectReference, 'kind' | 'name'>>(
  change: FieldChange,
  objects: readonly T[],
): readonly T[] {
  const sources = objects.filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret');
  const found = variablesIn(change).flatMap((variable) => {
    const named = sources.filter(({ name }) => isNamedAfter(variable, name));
    // `HASH_SHOP_DB` belongs to shop-db, not to db.
    return named.toSorted((one, other) => other.name.length - one.name.length).slice(0, 1);
  });
  return sources.filter((source) => found.includes(source));
}

/** Returns the names of the environment variables in a change. */
function variablesIn({ path, from, to }: FieldChange): readonly string[] {
  if (!/\.env(?:\[|$)/.test(path)) return [];
  const [, named] = /\.env\[name=([^\]]+)\]/.exec(path) ?? [];
  if (named !== undefined) return [named];
  const text = JSON.stringify([from, to]);
  return [...text.matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name);
}

function isNamedAfter(variable: string, name: string): boolean {
  const own = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return new RegExp(`(?:^|_)${own}(?:_[0-9A-F]{8})?$`).test(variable);
}

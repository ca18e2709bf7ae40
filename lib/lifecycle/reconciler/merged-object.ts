import isEqual from 'lodash/isEqual.js';
import { describeObject } from '../../object/describe-object.js';
import type { FieldPath } from '../../object/field-path.js';
import type { FieldsV1, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { threeWayMerge } from '../../object/three-way-merge.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { versionLabelOf } from './completed-object.js';
import { kindSchema } from './kind-schema.js';
import { lastAppliedOf, readLastApplied } from './last-applied.js';
import type { Pass } from './pass.js';

/** What {@link mergedObject} brings together. */
export interface Merging {
  readonly desired: UnstructuredObject;
  /** As it was read. */
  readonly current: UnstructuredObject;
  /** The same, with what callbacks have changed. */
  readonly own: UnstructuredObject;
}

/** The object as it should be written; `current` itself where nothing would change. */
export function mergedObject<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired, current, own }: Merging,
): UnstructuredObject {
  const schema = kindSchema(desired);
  const lastApplied = appliedText(pass, desired);
  const marked = withMarks(pass, ourPart(pass, desired), { current, lastApplied });
  const applied = appliedFields(pass, current, schema);
  const before = pass.settings.isMutable(desired) ? metadataOfFields(applied) : applied;
  const merged = threeWayMerge({
    ...{ applied: before, desired: marked, current: own, schema },
    isWhole: (path) => isPodList(path) || isServicePorts(desired, path),
  });
  return isEqual(merged, current) ? current : merged;
}

/** What the annotation of an object says: the paths that are ours. */
export function appliedText<CR extends LifecycleObject>(
  pass: Pass<CR>,
  desired: UnstructuredObject,
): string {
  return lastAppliedOf(ourPart(pass, desired), kindSchema(desired));
}

// What is in such an object is others' to change: it has its labels and annotations of us, no more.
function ourPart<CR extends LifecycleObject>(
  { settings }: Pass<CR>,
  desired: UnstructuredObject,
): UnstructuredObject {
  if (!settings.isMutable(desired)) return desired;
  const { apiVersion, kind, metadata } = desired;
  return { apiVersion, kind, metadata };
}

function appliedFields<CR extends LifecycleObject>(
  { settings, logger }: Pass<CR>,
  current: UnstructuredObject,
  schema: Schema,
): FieldsV1 {
  const text = current.metadata.annotations?.[settings.lastAppliedAnnotation];
  if (text === undefined) return {};
  const fields = readLastApplied(text, schema);
  if (fields !== undefined) return fields;
  const what = `${describeObject(current)}: annotation ${settings.lastAppliedAnnotation}`;
  logger.warn(`${what} can't be read: fields that are no longer desired stay`);
  return {};
}

// A container or a volume that nobody has declared would run in the system's pods: what is in the
// lists of a Pod template that we set is ours as a whole.
function isPodList(path: FieldPath): boolean {
  const at = path.lastIndexOf('f:template');
  return at >= 0 && path[at + 1] === 'f:spec';
}

// A port whose number was changed by hand is another one, by its key: beside ours, of the same name, the
// server would refuse it for ever.
function isServicePorts({ apiVersion, kind }: UnstructuredObject, path: FieldPath): boolean {
  return apiVersion === 'v1' && kind === 'Service' && path.join() === 'f:spec,f:ports';
}

function metadataOfFields(fields: FieldsV1): FieldsV1 {
  const { 'f:metadata': metadata } = fields;
  return metadata === undefined ? {} : { 'f:metadata': metadata };
}

interface Marks {
  readonly current: UnstructuredObject;
  readonly lastApplied: string;
}

function withMarks<CR extends LifecycleObject>(
  { settings, operatorVersion }: Pass<CR>,
  object: UnstructuredObject,
  { current, lastApplied }: Marks,
): UnstructuredObject {
  const { createVersionLabel, lastAppliedAnnotation } = settings;
  const { metadata } = object;
  const made = current.metadata.labels?.[createVersionLabel] ?? versionLabelOf(operatorVersion);
  const labels = { ...metadata.labels, [createVersionLabel]: made };
  const annotations = { ...metadata.annotations, [lastAppliedAnnotation]: lastApplied };
  return { ...object, metadata: { ...metadata, labels, annotations } };
}

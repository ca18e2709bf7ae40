import isEqual from 'lodash/isEqual.js';
import { definition, rawDefinition } from '../../crd/openapi/definitions.js';
import { hashObject } from '../../hash/hash-object.js';
import { describeObject } from '../../object/describe-object.js';
import type { FieldPath } from '../../object/field-path.js';
import { isJsonObject } from '../../object/json.js';
import type {
  FieldsV1,
  KubernetesObject,
  UnstructuredObject,
} from '../../object/kubernetes-object.js';
import { groupOf, versionOf } from '../../object/resource-type.js';
import type { Schema } from '../../object/schema.js';
import { setFieldsOf } from '../../object/set-fields.js';
import { threeWayMerge } from '../../object/three-way-merge.js';
import type { Clock } from '../../system/clock.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { versionLabelOf } from './completed-object.js';
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

/**
 * What the annotation says of `desired`: the paths that it sets, without values. So no secret is in
 * it, and it stays small where the object is big (annotations share 256 KiB).
 */
export function lastAppliedOf(desired: KubernetesObject, schema: Schema): string {
  return JSON.stringify(setFieldsOf(desired, schema));
}

/**
 * The paths that `text`, an annotation, says were set; also reads what the Go SDK writes there, the
 * whole object. Undefined: it can't be read.
 */
export function readLastApplied(text: string, schema: Schema): FieldsV1 | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (isJsonObject(read) && 'kind' in read) return setFieldsOf(read, schema);
    return isFields(read) ? read : undefined;
  } catch {
    // Whoever reads it has the object to name in the log.
    return undefined;
  }
}

function isFields(value: unknown): value is FieldsV1 {
  return isJsonObject(value) && Object.values(value).every(isFields);
}

// Of every kind the metadata are known; of one that is not built in, nothing else.
const metadataOnly: Schema = {
  type: 'object',
  get properties() {
    return { metadata: definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') };
  },
};

/** The schema of a kind: the built-in one, or that of its metadata alone. */
export function kindSchema({ apiVersion, kind }: KubernetesObject): Schema {
  const group = groupOf(apiVersion);
  const name = `${packageOf(group)}.${versionOf(apiVersion)}.${kind}`;
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  if (!isBuiltIn || rawDefinition(name) === undefined) return metadataOnly;
  const schema = definition(name);
  return kind === 'CustomResourceDefinition' ? withWholeSchemas(schema) : schema;
}

function packageOf(group: string): string {
  if (group === 'apiextensions.k8s.io') {
    return 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions';
  }
  if (group === 'apiregistration.k8s.io') {
    return 'io.k8s.kube-aggregator.pkg.apis.apiregistration';
  }
  const [first = ''] = group.split('.');
  return `io.k8s.api.${first === '' ? 'core' : first}`;
}

// The schemas of a custom resource have thousands of paths: they are ours as a whole, or the annotation
// that names each of them would be larger than all annotations may be.
function withWholeSchemas(definitionSchema: Schema): Schema {
  return within(definitionSchema, ['spec', 'versions', '[]', 'schema', 'openAPIV3Schema']);
}

function within(schema: Schema, [next, ...rest]: readonly string[]): Schema {
  if (next === undefined) return { ...schema, 'x-kubernetes-map-type': 'atomic' };
  if (next === '[]') return { ...schema, items: within(schema.items ?? {}, rest) };
  const property = within(schema.properties?.[next] ?? {}, rest);
  return { ...schema, properties: { ...schema.properties, [next]: property } };
}

/** After this it is tried again: a webhook may be gone. In milliseconds. */
const rememberedMs = 3_600_000;

/** More are not remembered; the oldest are forgotten first. */
const maxRemembered = 10_000;

interface PutBack {
  readonly resourceVersion: string | undefined;
  readonly hash: string;
  readonly until: number;
}

/**
 * Updates that the server has put back at once: a `readOnly: false` that it does not store, or what a
 * webhook does not let through. Written again in each pass, they would be put back again.
 */
export class PutBacks {
  readonly #clock: Clock;
  readonly #byUid = new Map<string, PutBack>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that `current` has stayed as it is, where `merged` was to be written. */
  add(current: UnstructuredObject, merged: UnstructuredObject): void {
    const { uid, resourceVersion } = current.metadata;
    if (uid === undefined) return;
    const until = this.#clock.monotonicMs() + rememberedMs;
    this.#byUid.delete(uid);
    this.#byUid.set(uid, { resourceVersion, hash: hashObject(merged), until });
    const [oldest] = this.#byUid.keys();
    if (this.#byUid.size > maxRemembered && oldest !== undefined) this.#byUid.delete(oldest);
  }

  /** Whether to write `merged` would change nothing: it was tried, and `current` is the same since. */
  has(current: UnstructuredObject, merged: UnstructuredObject): boolean {
    const { uid = '', resourceVersion } = current.metadata;
    const known = this.#byUid.get(uid);
    if (known?.resourceVersion !== resourceVersion || known === undefined) return false;
    return this.#clock.monotonicMs() < known.until && known.hash === hashObject(merged);
  }
}

import {
  deepEqual,
  describeObject,
  isJsonObject,
  groupOf,
  versionOf,
  setFieldsOf,
  threeWayMerge,
} from '../../object/index.js';
import { definition, rawDefinition } from '../../crd/internal.js';
import { hashObject } from '../../hash/index.js';
import type {
  FieldPath,
  FieldsV1,
  KubernetesObject,
  UnstructuredObject,
  Schema,
} from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { versionLabelOf } from './survey.js';
import type { Pass } from './pass.js';

/** Inputs of {@link mergedObject}. */
export interface Merging {
  readonly desired: UnstructuredObject;
  /** The object as it was read. */
  readonly current: UnstructuredObject;
  /** The same object, with the changes that callbacks made. */
  readonly own: UnstructuredObject;
}

/** Returns the object to write; `current` itself if nothing would change. */
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
  return deepEqual(merged, current) ? current : merged;
}

/** Returns the value of the last-applied annotation: the paths that the operator owns. */
export function appliedText<CR extends LifecycleObject>(
  pass: Pass<CR>,
  desired: UnstructuredObject,
): string {
  return lastAppliedOf(ourPart(pass, desired), kindSchema(desired));
}

// If users or other controllers may change the content of the object (`isMutable`), the operator owns only
// its labels and annotations.
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

// The operator owns each list in a Pod template as a whole. Otherwise a container or volume that another
// manager added would stay in the system's pods.
function isPodList(path: FieldPath): boolean {
  const at = path.lastIndexOf('f:template');
  return at >= 0 && path[at + 1] === 'f:spec';
}

// The port number is part of the key of a port. If a user changed the number of one of our ports, that port
// is another entry. Keeping it beside ours, with the same name, would make the server reject every update.
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
 * Returns the last-applied annotation of `desired`: the paths that it sets, without values. So the annotation
 * has no secrets, and stays small for large objects (annotations share 256 KiB).
 */
export function lastAppliedOf(desired: KubernetesObject, schema: Schema): string {
  return JSON.stringify(setFieldsOf(desired, schema));
}

/**
 * Parses the paths in the annotation `text`. Also reads the Go SDK's format, the whole object. Returns
 * undefined if `text` is invalid.
 */
export function readLastApplied(text: string, schema: Schema): FieldsV1 | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (isJsonObject(read) && 'kind' in read) return setFieldsOf(read, schema);
    return isFields(read) ? read : undefined;
  } catch {
    // The caller logs the problem, with the name of the object.
    return undefined;
  }
}

function isFields(value: unknown): value is FieldsV1 {
  return isJsonObject(value) && Object.values(value).every(isFields);
}

// The metadata of every kind is known; for kinds that are not built in, nothing else is.
const metadataOnly: Schema = {
  type: 'object',
  get properties() {
    return { metadata: definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') };
  },
};

/** Returns the schema of a kind: the built-in one, or that of its metadata alone. */
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

// The schemas of a CRD have thousands of paths. We own each as a whole; otherwise the annotation with all
// their paths would exceed the size limit.
function withWholeSchemas(definitionSchema: Schema): Schema {
  return within(definitionSchema, ['spec', 'versions', '[]', 'schema', 'openAPIV3Schema']);
}

function within(schema: Schema, [next, ...rest]: readonly string[]): Schema {
  if (next === undefined) return { ...schema, 'x-kubernetes-map-type': 'atomic' };
  if (next === '[]') return { ...schema, items: within(schema.items ?? {}, rest) };
  const property = within(schema.properties?.[next] ?? {}, rest);
  return { ...schema, properties: { ...schema.properties, [next]: property } };
}

/** The update is retried after this time, in milliseconds: the webhook may be gone. */
const rememberedMs = 3_600_000;

/** Beyond this number, the oldest entries are removed. */
const maxRemembered = 10_000;

interface PutBack {
  readonly resourceVersion: string | undefined;
  readonly hash: string;
  readonly until: number;
}

/**
 * Updates that the server reverted at once: a `readOnly: false` that it does not store, or a change that a
 * webhook reverts. Without this record, each reconcile would repeat the write.
 */
export class PutBacks {
  readonly #clock: Clock;
  readonly #byUid = new Map<string, PutBack>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that writing `merged` left `current` unchanged. */
  add(current: UnstructuredObject, merged: UnstructuredObject): void {
    const { uid, resourceVersion } = current.metadata;
    if (uid === undefined) return;
    const until = this.#clock.monotonicMs() + rememberedMs;
    this.#byUid.delete(uid);
    this.#byUid.set(uid, { resourceVersion, hash: hashObject(merged), until });
    const [oldest] = this.#byUid.keys();
    if (this.#byUid.size > maxRemembered && oldest !== undefined) this.#byUid.delete(oldest);
  }

  /** Whether writing `merged` is known to change nothing: it was tried, and `current` is still the same. */
  has(current: UnstructuredObject, merged: UnstructuredObject): boolean {
    const { uid = '', resourceVersion } = current.metadata;
    const known = this.#byUid.get(uid);
    if (known?.resourceVersion !== resourceVersion || known === undefined) return false;
    return this.#clock.monotonicMs() < known.until && known.hash === hashObject(merged);
  }
}

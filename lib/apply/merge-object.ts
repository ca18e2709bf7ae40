import type { Client } from '../client/index.js';
import { definition, rawDefinition } from '../crd/internal.js';
import {
  createMergePatch,
  deepEqual,
  describeObject,
  groupOf,
  isJsonObject,
  setFieldsOf,
  threeWayMerge,
  versionOf,
} from '../object/index.js';
import type {
  FieldPath,
  FieldsV1,
  KubernetesObject,
  Schema,
  UnstructuredObject,
} from '../object/index.js';
import type { Clock, Logger } from '../system/index.js';
import { asRead, withMarks } from './context.js';
import type { Marks } from './context.js';
import type { MergeDecision, Updating } from './decision.js';
import { RevertedWrites } from './reverted-writes.js';

/** Delay before a reverted update is sent again, in milliseconds: the webhook that reverted it may be gone then. */
const retryMs = 3_600_000;

/** Options of {@link ObjectMerger}. */
export interface ObjectMergerOptions {
  /** Name of the annotation that records the paths that the operator applied last. */
  readonly lastAppliedAnnotation: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An object to create or to merge. */
export interface Merging {
  readonly desired: UnstructuredObject;
  /** The object with changes of the operator's code. @defaultValue `live`, or `desired` for a creation */
  readonly edited?: UnstructuredObject | undefined;
  /** Labels that are set besides the desired ones, and not recorded as applied. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether the operator owns only labels and annotations, because others may change the content. */
  readonly metadataOnly: boolean;
}

/**
 * Updates objects by a three-way merge and PUT, for operators whose code edits an object between the decision
 * and the write. An annotation records which paths were applied last, so that paths that are no longer desired
 * are removed. All other fields of the live object stay.
 */
export class ObjectMerger {
  readonly #options: ObjectMergerOptions;
  /**
   * Updates that the server reverted at once: a `readOnly: false` that it does not store, or a change that a
   * webhook reverts. Without this record, each reconcile would repeat the write.
   */
  readonly #reverted: RevertedWrites;

  constructor(options: ObjectMergerOptions) {
    this.#options = options;
    const nowMs = (): number => options.clock.monotonicMs();
    this.#reverted = new RevertedWrites({ nowMs, rememberedMs: retryMs, capacity: 10_000 });
  }

  creation(merging: Merging): UnstructuredObject {
    return withMarks(merging.edited ?? merging.desired, this.#marks(merging));
  }

  /** Decides what to write instead of `live`. */
  decide(live: UnstructuredObject, merging: Merging): MergeDecision {
    const { desired, edited = live, metadataOnly } = merging;
    const schema = kindSchema(desired);
    const applied = this.#appliedFields(live, schema);
    const object = threeWayMerge({
      ...{ desired: withMarks(ownedPart(merging), this.#marks(merging)), current: edited, schema },
      applied: metadataOnly ? metadataOfFields(applied) : applied,
      isWhole: (path) => isPodList(path) || isServicePorts(desired, path),
    });
    const isReverted = (): boolean =>
      this.#reverted.has(live.metadata.uid ?? '', [asRead(live), object]);
    if (deepEqual(object, live) || isReverted()) return { action: 'nothing', live };
    return { action: 'apply', live, desired: object };
  }

  /**
   * Carries out a decision of {@link ObjectMerger.decide}.
   * @param object - the desired object of the decision, as the operator's code may have edited it.
   * @returns the written object; the live object itself if the server reverted the whole write, as a webhook
   * can. {@link ObjectMerger.decide} then decides `nothing` for an hour, or until the object changes.
   * @throws ApiError `isStaleWrite`: the object was changed or deleted since it was read.
   */
  async replace(
    { live, desired: merged }: Updating<UnstructuredObject>,
    object: UnstructuredObject,
    { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
  ): Promise<UnstructuredObject> {
    const written = await client.update(object, { signal });
    const isWritten = written.metadata.resourceVersion !== live.metadata.resourceVersion;
    // In a plan, the answer to a write has the changes but not a new resource version.
    if (isWritten || !agree(createMergePatch(live, object), live, written)) return written;
    this.#reverted.record(live.metadata.uid ?? '', [asRead(live), merged]);
    return live;
  }

  #marks(merging: Merging): Marks {
    const { lastAppliedAnnotation } = this.#options;
    const owned = ownedPart(merging);
    const annotations = { [lastAppliedAnnotation]: lastAppliedOf(owned, kindSchema(owned)) };
    return { annotations, ...(merging.labels && { labels: merging.labels }) };
  }

  #appliedFields(live: UnstructuredObject, schema: Schema): FieldsV1 {
    const { lastAppliedAnnotation, logger } = this.#options;
    const text = live.metadata.annotations?.[lastAppliedAnnotation];
    if (text === undefined) return {};
    const fields = readLastApplied(text, schema);
    if (fields !== undefined) return fields;
    const what = `${describeObject(live)}: annotation ${lastAppliedAnnotation}`;
    logger.warn(`${what} can't be read: fields that are no longer desired stay`);
    return {};
  }
}

/**
 * Whether two objects have the same values for all members of a merge patch. Other members may differ: an object
 * from a cache lacks those that the cache drops.
 */
function agree(patch: unknown, one: unknown, other: unknown): boolean {
  if (!isJsonObject(patch) || !isJsonObject(one) || !isJsonObject(other)) {
    return deepEqual(one, other);
  }
  return Object.entries(patch).every(([name, part]) => agree(part, one[name], other[name]));
}

// If users or other controllers may change the content of the object, the operator owns only its labels and
// annotations.
function ownedPart({ desired, metadataOnly }: Merging): UnstructuredObject {
  if (!metadataOnly) return desired;
  const { apiVersion, kind, metadata } = desired;
  return { apiVersion, kind, metadata };
}

// The operator owns each list in a Pod template as a whole. Otherwise a container or volume that another manager added
// to the template would stay in it.
function isPodList(path: FieldPath): boolean {
  const at = path.lastIndexOf('f:template');
  return at >= 0 && path[at + 1] === 'f:spec';
}

// The port number is part of the key of a port. If a user changed the number of a port that the operator has set, that
// port is another entry. Keeping both entries, with the same name, would make the server reject every update.
function isServicePorts({ apiVersion, kind }: UnstructuredObject, path: FieldPath): boolean {
  return apiVersion === 'v1' && kind === 'Service' && path.join() === 'f:spec,f:ports';
}

function metadataOfFields(fields: FieldsV1): FieldsV1 {
  const { 'f:metadata': metadata } = fields;
  return metadata === undefined ? {} : { 'f:metadata': metadata };
}

/**
 * Returns the last-applied annotation of `desired`: the paths that it sets, without values. So the annotation
 * has no secrets, and stays small for large objects (annotations share 256 KiB).
 */
function lastAppliedOf(desired: KubernetesObject, schema: Schema): string {
  return JSON.stringify(setFieldsOf(desired, schema));
}

/**
 * Parses the paths in the annotation `text`. Also reads the Go SDK's format, the whole object. Returns
 * undefined if `text` is invalid.
 */
function readLastApplied(text: string, schema: Schema): FieldsV1 | undefined {
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

// The schema for kinds that are not built in: this package has only the schema of their metadata.
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

// The schemas of a CRD have thousands of paths. The operator owns each schema as a whole; otherwise the annotation with
// all their paths would exceed the size limit.
function withWholeSchemas(definitionSchema: Schema): Schema {
  return within(definitionSchema, ['spec', 'versions', '[]', 'schema', 'openAPIV3Schema']);
}

function within(schema: Schema, [next, ...rest]: readonly string[]): Schema {
  if (next === undefined) return { ...schema, 'x-kubernetes-map-type': 'atomic' };
  if (next === '[]') return { ...schema, items: within(schema.items ?? {}, rest) };
  const property = within(schema.properties?.[next] ?? {}, rest);
  return { ...schema, properties: { ...schema.properties, [next]: property } };
}

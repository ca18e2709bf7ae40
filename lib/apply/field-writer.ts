import type { Client } from '../client/index.js';
import { getIfExists } from '../client/index.js';
import {
  apiVersionOf,
  appliedFields,
  fieldElement,
  isApiError,
  isFoundInvalid,
  isNotFound,
  keyOf,
  keyStringOf,
  referenceTo,
} from '../object/index.js';
import type {
  FieldSet,
  KubernetesObject,
  ObjectKey,
  ResourceType,
  UnstructuredObject,
} from '../object/index.js';
import { appliedDifferences } from './applied-differences.js';
import type { ManagedPart } from './applied-differences.js';
import { deleteAsRead } from './context.js';
import { decideByExistence } from './decision.js';
import type { FieldDecision, Pruning, Unchanged } from './decision.js';
import { checkTakeover, reasonToWait } from './ownership.js';
import {
  applyAsRead,
  callOf,
  existingMembers,
  removeMembers,
  withoutForeignFields,
  withSettledFields,
} from './removed-fields.js';
import type { ForeignFieldsOptions, LiveAndDesired } from './removed-fields.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';
import { RevertedWrites } from './reverted-writes.js';

/** Options of {@link FieldWriter}. */
export interface FieldWriterOptions {
  readonly type: ResourceType;
  readonly fieldManager: string;
  /**
   * `objects`: the writer creates, replaces and deletes whole objects, apart from foreign metadata and fields
   * that other managers apply. `fields`: it writes and removes its fields of objects that exist.
   */
  readonly owns: 'objects' | 'fields';
}

/** The fields of one object that the writer's manager is to own. */
export interface DesiredFields {
  /** The object with everything but its status. */
  readonly object: UnstructuredObject;
  /** Undefined if no status is desired. */
  readonly status?: unknown;
  /** Fields to remove whichever manager owns them, as a merge patch; only with `owns: 'fields'`. */
  readonly nulls?: Readonly<Record<string, unknown>> | undefined;
}

/** Context of a write. */
export interface FieldWriting {
  /** Reads from the server, not from a cache. */
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Called after each write with the object before and after it, or undefined if there was no object. */
  readonly note?:
    ((live: KubernetesObject | undefined, now: KubernetesObject | undefined) => void) | undefined;
}

interface Wanted {
  readonly live: UnstructuredObject | undefined;
  readonly wanted: DesiredFields;
}

type LiveAndWanted = Wanted & { readonly live: UnstructuredObject };

/** Whether the status of a kind is a subresource or an ordinary field of the object. */
type StatusPlace = 'subresource' | 'object';

/**
 * Writes exactly the desired fields of objects under one field manager. It adds no owner reference, labels or hash,
 * because it owns only the given fields. Whether an object is up to date is decided by `managedFields` and a comparison
 * of values (`applyObject` compares the hash in an annotation).
 *
 * ## Flow
 * The fields are applied with `force`. The same apply removes fields that are no longer desired. A desired status is
 * applied too: `managedFields` or the first write show whether it is a subresource. With `owns: 'objects'`, an update
 * then removes fields that others set by hand, except in metadata. If the server rejects the apply because of an
 * earlier default (`strategy.rollingUpdate` together with `Recreate`), an update replaces the content.
 *
 * ## Guarantees
 * Every write is decided on the object that was read, and is a conflict if the object has changed since. An
 * object that is up to date is not written.
 */
export class FieldWriter {
  readonly #options: FieldWriterOptions;
  readonly #main: ManagedPart;
  readonly #status: ManagedPart;
  /** Differences that remain after an apply, and defaults that return after an update, by part of an object. */
  readonly #reverted = new RevertedWrites();
  #place: StatusPlace | undefined;

  constructor(options: FieldWriterOptions) {
    const { fieldManager: manager } = options;
    this.#options = options;
    this.#main = { manager, subresource: '' };
    this.#status = { manager, subresource: 'status' };
  }

  /**
   * Brings an object to the desired state.
   * @param desired - undefined: removes the manager's fields, and with `owns: 'objects'` an object that it has written
   * @returns pending if the object is being deleted, or if there is no object to write fields of
   * @throws ApiError the server's answer; `isStaleWrite` if the object was changed or recreated meanwhile
   * @throws OperatorError `AlreadyOwned`: with `owns: 'objects'`, another controller owns the object.
   */
  async write(
    key: ObjectKey,
    desired: DesiredFields | undefined,
    context: FieldWriting,
  ): Promise<Outcome> {
    const { type } = this.#options;
    const live = await getIfExists(context.client, type, key, { signal: context.signal });
    if (desired === undefined) this.#forget(key);
    const decision = this.#decide(key, desired, live);
    if (decision.action === 'apply' && this.#isOwner && !this.#isIn(decision.live)) {
      checkTakeover(decision.live, decision.desired.object);
    }
    return this.#carryOut(key, decision, context);
  }

  /** Whether {@link FieldWriter.write} would write nothing, as far as is known. */
  isCurrent(live: UnstructuredObject, desired: DesiredFields): boolean {
    return this.#decide(keyOf(live), desired, live).action === 'nothing';
  }

  /** Removes the written fields from an object, but does not delete the object. */
  async release(key: ObjectKey, context: FieldWriting): Promise<void> {
    const { type } = this.#options;
    const live = await getIfExists(context.client, type, key, { signal: context.signal });
    if (live === undefined || !this.#isIn(live)) return;
    await this.#apply({ live, wanted: this.#nothing(key) }, context);
  }

  get #isOwner(): boolean {
    return this.#options.owns === 'objects';
  }

  #wanted(desired: DesiredFields): DesiredFields {
    return this.#isOwner ? marked(desired) : desired;
  }

  #decide(
    key: ObjectKey,
    desired: DesiredFields | undefined,
    live: UnstructuredObject | undefined,
  ): FieldDecision<DesiredFields> {
    if (desired === undefined && this.#isOwner) return this.#decideRemoval(live);
    if (desired === undefined && live === undefined) return { action: 'nothing' };
    const wanted = this.#wanted(desired ?? this.#nothing(key));
    const first = this.#decideByExistence(wanted, live);
    if (first.action !== 'compare') return first;
    if (this.#isCurrent(first.live, wanted)) return { action: 'nothing', live };
    return { action: 'apply', desired: wanted, live: first.live };
  }

  /** Decides about an object that is no longer desired. If another writer has created it again, it stays. */
  #decideRemoval(live: UnstructuredObject | undefined): Unchanged | Pruning {
    const isOurs = live !== undefined && reasonToWait(live) === undefined && this.#isIn(live);
    return isOurs ? { action: 'prune', live } : { action: 'nothing' };
  }

  #decideByExistence(
    wanted: DesiredFields,
    live: UnstructuredObject | undefined,
  ): ReturnType<typeof decideByExistence<DesiredFields>> {
    if (this.#isOwner) return decideByExistence(wanted, live);
    // Fields are also written to an object that is being deleted.
    if (live !== undefined) return { action: 'compare', live };
    return { action: 'wait', reason: 'does not exist', blocks: true };
  }

  #isCurrent(live: UnstructuredObject, wanted: DesiredFields): boolean {
    if (!this.#isApplied(live, wanted)) return false;
    if (!this.#isOwner) return existingMembers(wanted.nulls ?? {}, live) === undefined;
    return this.#foreignParts(live, wanted).every((part) => this.#isReplaced(live, part));
  }

  async #carryOut(
    key: ObjectKey,
    decision: FieldDecision<DesiredFields>,
    context: FieldWriting,
  ): Promise<Outcome> {
    const ref = referenceTo(this.#nothing(key).object);
    switch (decision.action) {
      case 'nothing':
        return done('unchanged', ref, { ...(decision.live && { live: decision.live }) });
      case 'wait':
        return pending(ref, decision.reason, { live: decision.live });
      case 'prune':
        await this.#delete(decision.live, context);
        return done('deleted', ref);
      case 'create': {
        const live = await this.#writeAll({ live: undefined, wanted: decision.desired }, context);
        return done('created', ref, { live });
      }
      case 'apply': {
        const { live: before, desired: wanted } = decision;
        const live = await this.#writeAll({ live: before, wanted }, context);
        const isSame = live.metadata.resourceVersion === before.metadata.resourceVersion;
        return done(isSame ? 'unchanged' : 'configured', ref, { live });
      }
    }
  }

  async #writeAll({ live, wanted }: Wanted, context: FieldWriting): Promise<UnstructuredObject> {
    const applied = await this.#apply({ live, wanted }, context).catch((error: unknown) => {
      // If only the status is invalid, new content would not help, and would drop the fields of other managers.
      const isRefused = isFoundInvalid(error) && !isAboutStatus(error);
      if (!this.#isOwner || !isRefused || live === undefined) throw error;
      return this.#replaceContent({ live, wanted, refusal: error }, context);
    });
    if (!this.#isOwner) return this.#removeNulls({ live: applied, wanted }, context);
    return this.#removeForeign({ live: applied, wanted }, context);
  }

  /** Returns a desired state without fields, for an object that is no longer desired. */
  #nothing(key: ObjectKey): DesiredFields {
    const { type } = this.#options;
    const identity = { apiVersion: apiVersionOf(type), kind: type.kind };
    const { name, namespace = '' } = key;
    return { object: { ...identity, metadata: namespace === '' ? { name } : { name, namespace } } };
  }

  /** Whether the manager has applied any field of `live`. */
  #isIn({ metadata: { managedFields = [] } }: KubernetesObject): boolean {
    const { fieldManager } = this.#options;
    return managedFields.some(
      ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
    );
  }

  /** Whether the manager has applied the status as an ordinary field of the object. */
  #hasStatusInside(live: UnstructuredObject): boolean {
    return appliedTo(live, this.#main)?.root[fieldElement('status')] !== undefined;
  }

  #placeIn(live: UnstructuredObject | undefined): StatusPlace | undefined {
    const entries = live?.metadata.managedFields ?? [];
    if (entries.some(({ subresource }) => subresource === 'status')) return 'subresource';
    return live !== undefined && this.#hasStatusInside(live) ? 'object' : this.#place;
  }

  #isApplied(live: UnstructuredObject, { object, status }: DesiredFields): boolean {
    const place = this.#placeIn(live);
    const main = place === 'object' ? withStatus(object, status) : object;
    if (!this.#isPartApplied({ live, desired: main }, this.#main)) return false;
    if (status === undefined && appliedTo(live, this.#status) === undefined) return true;
    if (place === 'object') return this.#hasStatusInside(live);
    const desired = withStatus(bare(object), status);
    return this.#isPartApplied({ live, desired }, this.#status);
  }

  /** @returns the resulting object: `live` itself if it is up to date */
  async #apply({ live, wanted }: Wanted, context: FieldWriting): Promise<UnstructuredObject> {
    const { object, status } = wanted;
    const place = this.#placeIn(live);
    const whole = withStatus(object, status);
    const main = { live, desired: place === 'object' ? whole : object };
    const written = await this.#applyPart(main, this.#main, context);
    if (status === undefined && appliedTo(written, this.#status) === undefined) return written;
    // If the kind has gained the subresource meanwhile, the server has ignored the status.
    if (place === 'object' && this.#hasStatusInside(written)) return written;
    const desired = withStatus(bare(object), status);
    try {
      const answer = await this.#applyPart({ live: written, desired }, this.#status, context);
      this.#place = 'subresource';
      return answer;
    } catch (error) {
      // The object is gone, or its kind has no status subresource.
      if (!isNotFound(error) || place === 'subresource') throw error;
      this.#place = 'object';
      return this.#applyPart({ live: written, desired: whole }, this.#main, context);
    }
  }

  #isPartApplied({ live, desired }: LiveAndDesired, part: ManagedPart): boolean {
    if (live === undefined) return false;
    const left = appliedDifferences(live, desired, part);
    if (left.length === 0) return true;
    return this.#reverted.has(placeOf(live, part), [live.metadata.uid, desired, left]);
  }

  async #applyPart(
    { live, desired }: LiveAndDesired,
    part: ManagedPart,
    { client, signal, note }: FieldWriting,
  ): Promise<UnstructuredObject> {
    if (live !== undefined && this.#isPartApplied({ live, desired }, part)) return live;
    const options = { ...callOf(part), signal, force: true };
    const after = await applyAsRead(client, { live, desired }, options);
    note?.(live, after);
    const left = appliedDifferences(after, desired, part);
    const isLeft = left.length > 0;
    const facts = isLeft ? [after.metadata.uid, desired, left] : undefined;
    this.#reverted.record(placeOf(after, part), facts);
    return after;
  }

  /** Replaces the content of an object whose apply the server has rejected, and applies it again. */
  async #replaceContent(
    { live, wanted, refusal }: LiveAndWanted & { readonly refusal: unknown },
    context: FieldWriting,
  ): Promise<UnstructuredObject> {
    const { apiVersion, kind, metadata, status } = live;
    const kept = { apiVersion, kind, ...(status !== undefined && { status }) };
    const content = { ...kept, ...wanted.object, metadata };
    const whole = withSettledFields(content, live);
    const replaced = await update(live, whole, { ...this.#main, ...context }).catch(
      (error: unknown) => {
        // The error of the apply says more, because the apply sends only the desired fields.
        throw isFoundInvalid(error) ? refusal : error;
      },
    );
    return this.#apply({ live: replaced, wanted }, context);
  }

  /** Removes fields that users or other managers have set besides the desired ones. */
  async #removeForeign(
    { live, wanted }: LiveAndWanted,
    context: FieldWriting,
  ): Promise<UnstructuredObject> {
    let after = live;
    for (const part of this.#foreignParts(live, wanted)) {
      if (this.#isReplaced(after, part)) continue;
      const left = withoutForeignFields(after, part);
      after = await update(after, left, { ...part, ...context });
      this.#reverted.record(placeOf(after, part, 'foreign'), foreignIn(after, part));
    }
    return after;
  }

  #foreignParts(live: UnstructuredObject, { status }: DesiredFields): readonly ForeignPart[] {
    const isInside = this.#hasStatusInside(live);
    const main = { ...this.#main, status: isInside };
    return status === undefined || isInside ? [main] : [main, this.#status];
  }

  /** Returns true if the only foreign fields of a part are defaults that the server sets again. */
  #isReplaced(live: UnstructuredObject, part: ForeignPart): boolean {
    const foreign = foreignIn(live, part);
    const place = placeOf(live, part, 'foreign');
    if (foreign !== undefined) return this.#reverted.has(place, foreign);
    this.#reverted.record(place, undefined);
    return true;
  }

  /** Removes the fields of `nulls`, whichever manager owns them. */
  async #removeNulls(
    { live, wanted }: LiveAndWanted,
    context: FieldWriting,
  ): Promise<UnstructuredObject> {
    const { status, ...rest } = existingMembers(wanted.nulls ?? {}, live) ?? {};
    const after = await removeMembers(live, rest, { ...this.#main, ...context });
    if (status === undefined) return after;
    const part = this.#placeIn(after) === 'subresource' ? this.#status : this.#main;
    return removeMembers(after, { status }, { ...part, ...context });
  }

  #forget(key: ObjectKey): void {
    const { object } = this.#nothing(key);
    for (const part of [this.#main, this.#status]) {
      this.#reverted.record(placeOf(object, part), undefined);
      this.#reverted.record(placeOf(object, part, 'foreign'), undefined);
    }
  }

  async #delete(live: UnstructuredObject, { client, signal, note }: FieldWriting): Promise<void> {
    const options = { propagationPolicy: 'Background', signal } as const;
    await deleteAsRead(client, this.#options.type, live, options);
    note?.(live, undefined);
  }

  /**
   * Returns the keys of all live objects of which the manager has applied fields, in this or an earlier
   * process, according to `managedFields`. Reads only metadata, page by page.
   * @param namespaces - the namespaces to search; undefined: all
   */
  async written(
    { client, signal }: FieldWriting,
    namespaces: readonly (string | undefined)[] = [undefined],
  ): Promise<readonly ObjectKey[]> {
    const keys: ObjectKey[] = [];
    for (const namespace of namespaces) {
      const options = { metadataOnly: true, signal, namespace } as const;
      for await (const { items } of client.pages(this.#options.type, options)) {
        keys.push(...items.filter((object) => this.#isIn(object)).map(keyOf));
      }
    }
    return keys;
  }
}

type ForeignPart = ManagedPart & ForeignFieldsOptions;

function appliedTo(live: KubernetesObject, part: ManagedPart): FieldSet | undefined {
  const { manager, subresource } = part;
  return appliedFields(live, manager, { subresource });
}

function placeOf(object: KubernetesObject, part: ManagedPart, what = 'applied'): string {
  return `${keyStringOf(object)}#${part.subresource}#${what}`;
}

/** Returns the object with and without the fields that others have set; undefined if there are no such fields. */
function foreignIn(live: UnstructuredObject, part: ForeignPart): unknown {
  const left = withoutForeignFields(live, part);
  const contentOf = ({ metadata: { uid }, ...rest }: UnstructuredObject) => ({ ...rest, uid });
  return left === live ? undefined : [contentOf(live), contentOf(left)];
}

async function update(
  live: UnstructuredObject,
  object: UnstructuredObject,
  { client, signal, note, ...part }: ManagedPart & FieldWriting,
): Promise<UnstructuredObject> {
  const after = await client.update(object, { ...callOf(part), signal });
  note?.(live, after);
  return after;
}

/** Returns an object with only the identity of `object`. */
function bare({ apiVersion, kind, metadata }: UnstructuredObject): UnstructuredObject {
  return { apiVersion, kind, metadata: keyOf({ apiVersion, kind, metadata }) };
}

function withStatus(object: UnstructuredObject, status: unknown): UnstructuredObject {
  return status === undefined ? object : { ...object, status };
}

/**
 * Adds empty annotations to an object that has only a name. An apply without fields leaves no entry in `managedFields`,
 * by which {@link FieldWriter.written} finds the object. An object with more fields has an entry without them.
 */
function marked(desired: DesiredFields): DesiredFields {
  const { object } = desired;
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = object.metadata;
  const hasMetadata = [labels, annotations, finalizers, ownerReferences].some(
    (member) => Object.keys(member).length > 0,
  );
  if (hasMetadata || Object.keys(object).length > identity.length) return desired;
  return { ...desired, object: { ...object, metadata: { ...object.metadata, annotations: {} } } };
}

const identity = ['apiVersion', 'kind', 'metadata'];

/** Whether the server refuses only the status. */
function isAboutStatus(error: unknown): boolean {
  const causes = isApiError(error) ? error.causes : [];
  return causes.length > 0 && causes.every(({ field = '' }) => /^status\b/.test(field));
}

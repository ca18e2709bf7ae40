import { asRead } from '../../apply/index.js';
import { getIfExists } from '../../client/index.js';
import { describeObject, isJsonObject, memberOf, setMember, keyOf } from '../../object/index.js';
import type { ObjectKey, UnstructuredObject, ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Document } from '../document.js';
import {
  TargetFields,
  bareObject,
  scopeProblem,
  targetObject,
  writtenKeys,
} from './target-writer.js';
import type {
  TargetKey,
  TargetOutcome,
  TargetWriter,
  WriteContext,
  WriterOptions,
} from './target-writer.js';

/**
 * Owns single fields of existing objects: exactly those that a document has.
 *
 * ## Flow
 * The Patcher applies the fields (server-side, with `force`): items of keyed lists one by one, all other
 * lists as a whole. Fields that the document no longer has are removed, and in the end all of them, except
 * those that others have applied too. Earlier values are not restored. A null removes a field, regardless of
 * its owner.
 *
 * ## Guarantees
 * The Patcher never creates an object. Two Patchers with different fields do not affect each other.
 */
export class Patcher implements TargetWriter {
  readonly #type: ResourceType;
  readonly #manager: string;
  readonly #fields: TargetFields;

  constructor({ type, fieldManager }: WriterOptions) {
    this.#type = type;
    this.#manager = fieldManager;
    this.#fields = new TargetFields(fieldManager);
  }

  async write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome> {
    const target = { type: this.#type, key };
    const wanted = desired && targetObject(target, desired);
    if (wanted === undefined && scopeProblem(target) !== undefined) return 'unchanged';
    const live = await getIfExists(context.client, this.#type, key, { signal: context.signal });
    if (wanted === undefined) this.#fields.forget(target);
    if (live === undefined) {
      if (wanted === undefined) return 'unchanged';
      throw isMissing(target);
    }
    const nothing = { object: bareObject(target) };
    const applied = await this.#fields.apply({ live, target, wanted: wanted ?? nothing }, context);
    const after = await this.#remove({ live: applied, target, nulls: wanted?.nulls }, context);
    const isSame = after.metadata.resourceVersion === live.metadata.resourceVersion;
    return isSame ? 'unchanged' : 'updated';
  }

  isCurrent(live: UnstructuredObject, desired: Document): boolean {
    const target = { type: this.#type, key: keyOf(live) };
    const wanted = targetObject(target, desired);
    if (!this.#fields.isCurrent(live, { target, wanted })) return false;
    return existing(wanted.nulls ?? {}, live) === undefined;
  }

  written(context: WriteContext): Promise<readonly ObjectKey[]> {
    return writtenKeys({ type: this.#type, fieldManager: this.#manager }, context);
  }

  /** Removes the fields that are null in the document. */
  async #remove(removal: Removal, context: WriteContext): Promise<UnstructuredObject> {
    const { live, nulls = {} } = removal;
    const { status, ...rest } = existing(nulls, live) ?? {};
    const after = await this.#patch({ ...removal, nulls: rest }, {}, context);
    if (status === undefined) return after;
    const isSubresource = (after.metadata.managedFields ?? []).some(
      ({ subresource }) => subresource === 'status',
    );
    const options = isSubresource ? { subresource: 'status' } : {};
    return this.#patch({ ...removal, live: after, nulls: { status } }, options, context);
  }

  async #patch(
    { live, target, nulls = {} }: Removal,
    options: { readonly subresource?: string },
    { client, signal }: WriteContext,
  ): Promise<UnstructuredObject> {
    if (Object.keys(nulls).length === 0) return live;
    const metadata = memberOf(nulls, 'metadata');
    const read = { ...(isJsonObject(metadata) && metadata), ...asRead(live) };
    const body = { ...nulls, metadata: read };
    const settings = { ...options, fieldManager: this.#manager, signal };
    const patch = { type: 'merge', body } as const;
    return client.patch(target.type, target.key, patch, settings);
  }
}

interface Removal {
  readonly live: UnstructuredObject;
  readonly target: TargetKey;
  readonly nulls?: Document | undefined;
}

/** Returns those of `nulls` that exist in `live`; undefined if there are no such fields. */
function existing(nulls: Document, live: unknown): Document | undefined {
  if (!isJsonObject(live)) return undefined;
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(nulls)) {
    const there = memberOf(live, name);
    if (there === undefined || there === null) continue;
    const below = isJsonObject(value) ? existing(value, there) : null;
    if (below !== undefined) setMember(found, name, below);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function isMissing({ type, key }: TargetKey): OperatorError {
  const message = `${describeObject(type, key)} does not exist, and a Patcher creates no objects`;
  const remedy = 'the write is retried; use an Updater to create it';
  return new OperatorError('TargetMissing', `${message}: ${remedy}`);
}

import get from 'lodash/get.js';
import omit from 'lodash/omit.js';
import set from 'lodash/set.js';
import { refusedFields } from '../apply/index.js';
import type {
  ApplyOptions,
  Applied,
  Client,
  DeleteOptions,
  WriteOptions,
} from '../client/index.js';
import { getIfExists } from '../client/index.js';
import { definition } from '../crd/internal.js';
import {
  ApiError,
  isNotFound,
  applyJsonPatch,
  applyMergePatch,
  createMergePatch,
  keyOf,
  applyStrategicMergePatch,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  Patch,
  ResourceType,
  Schema,
  TypeReference,
} from '../object/index.js';
import type { Random } from '../system/index.js';
import { replacedIn } from './planned-objects.js';
import type { PlannedObjects, PlannedObjectState } from './planned-objects.js';

/** Parts of {@link PlannedWrites}. */
export interface PlannedWritesParts {
  /** Client for writes, all dry runs. */
  readonly dry: Client;
  readonly reads: Client;
  readonly planned: PlannedObjects;
  readonly random: Random;
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

interface Creation {
  readonly verb: 'create' | 'apply';
  readonly options: ApplyOptions;
}

/** Resource version of an object that the server does not have. */
const plannedVersion = '1';

const setByServer = [
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'],
] as const;

/** Longest name to which characters are appended. A longer one is cut, because kinds limit the length. */
const shortName = 40;

const dependents = ['foregroundDeletion', 'orphan'];

/** Performs the writes of a plan: dry runs whose results are combined with earlier ones. */
export class PlannedWrites {
  readonly #parts: PlannedWritesParts;

  constructor(parts: PlannedWritesParts) {
    this.#parts = parts;
  }

  async create(object: KubernetesObject, options: WriteOptions): Promise<UnstructuredObject> {
    const { name } = object.metadata;
    const state = name === undefined ? undefined : this.#parts.planned.get(object, keyOf(object));
    if (state?.after !== undefined) throw alreadyExists(object);
    return this.#created(object, state, { verb: 'create', options });
  }

  async apply(
    object: KubernetesObject,
    options: ApplyOptions,
  ): Promise<Applied<UnstructuredObject>> {
    const state = await this.#stateOf({ type: object, key: keyOf(object) }, options);
    if (state.after === undefined) {
      if (options.subresource !== undefined) throw missing('apply', state);
      const answer = await this.#created(object, state, { verb: 'apply', options });
      return { object: answer, created: true };
    }
    if (isNew(state) && options.subresource !== undefined) {
      return {
        object: this.#note(state, withStatusOf(state.after, object), options),
        created: false,
      };
    }
    const writer = writerOf(options);
    const answer = await this.#answerToApply(withOthers(object, state, options), state, options);
    const isAlone = [...state.writers].every((each) => each === writer);
    const base = state.before ?? {};
    const change = isNew(state) ? answer : createMergePatch(base, answer);
    // In `answer`, fields that an earlier apply of the writer has changed may have the server's values again.
    const undone = createMergePatch(state.applied?.get(writer) ?? answer, answer);
    const together = isAlone
      ? answer
      : (applyMergePatch(applyMergePatch(state.after, undone), change) as UnstructuredObject);
    const applied = new Map([...(state.applied ?? []), [writer, answer] as const]);
    const configurations = new Map([...(state.configurations ?? []), [writer, object] as const]);
    const noted = { ...state, applied, configurations };
    return { object: this.#note(noted, together, options), created: false };
  }

  /** Performs an apply that the operator itself sent as a dry run. The plan does not record it. */
  async tryApply<T extends KubernetesObject>(
    object: T,
    options: ApplyOptions,
  ): Promise<Applied<T>> {
    const state = this.#parts.planned.get(object, keyOf(object));
    const isUnknown = state === undefined || !isNew(state) || options.subresource !== undefined;
    if (isUnknown) return this.#parts.dry.apply(object, options);
    const answer = await this.#answerToApply(object, state, options);
    return { object: answer as unknown as T, created: state.after === undefined };
  }

  async update(object: KubernetesObject, options: WriteOptions): Promise<UnstructuredObject> {
    const state = await this.#stateOf({ type: object, key: keyOf(object) }, options);
    const { after } = state;
    if (after === undefined) throw missing('update', state);
    if (options.subresource !== undefined && isNew(state)) {
      return this.#note(state, withStatusOf(after, object), options);
    }
    const bare = omit(object, 'status') as KubernetesObject;
    const answer = isNew(state)
      ? await this.#tryNew(bare, state, { verb: 'create', options })
      : ((await this.#parts.dry.update(
          knownToServer(object, state),
          options,
        )) as UnstructuredObject);
    const isStatus = options.subresource !== undefined;
    const keepsStatus = isNew(state) || [...state.writers].some((each) => each.endsWith('/status'));
    if (isStatus) return this.#note(state, withStatusOf(after, answer), options);
    return this.#note(state, keepsStatus ? withStatusOf(answer, after) : answer, options);
  }

  async patch(target: Target, patch: Patch, options: WriteOptions): Promise<UnstructuredObject> {
    const state = await this.#stateOf(target, options);
    const { type, key } = target;
    if (state.after === undefined) throw missing('patch', state);
    if (!isNew(state) && (state.writers.size === 0 || patch.type === 'strategic')) {
      const answer: unknown = await this.#parts.dry.patch(type, key, patch, options);
      const change = createMergePatch(state.before ?? {}, answer as object);
      return this.#note(state, applyMergePatch(state.after, change) as UnstructuredObject, options);
    }
    return this.update(patched(state.after, patch), options);
  }

  async delete(
    type: TypeReference<KubernetesObject>,
    key: ObjectKey,
    options: DeleteOptions,
  ): Promise<UnstructuredObject | undefined> {
    const known = await this.#stateOf({ type, key }, options);
    if (known.after === undefined) throw missing('delete', known);
    const orphaned = options.propagationPolicy === 'Orphan' && known.orphaned !== false;
    const state = { ...known, after: known.after, orphaned };
    const left: unknown = isNew(state)
      ? undefined
      : await this.#parts.dry.delete(type as ResourceType, key, options);
    const { finalizers = [] } = state.after.metadata;
    if (finalizers.every((each) => dependents.includes(each))) {
      this.#parts.planned.set({ ...state, after: undefined });
      return left as UnstructuredObject | undefined;
    }
    const deletionTimestamp = state.after.metadata.deletionTimestamp ?? new Date(0).toISOString();
    const after = { ...state.after, metadata: { ...state.after.metadata, deletionTimestamp } };
    return this.#note(state, after, {});
  }

  /** Returns the known state of an object; reads it from the server before the first write. */
  async #stateOf({ type, key }: Target, { signal }: DeleteOptions): Promise<PlannedObjectState> {
    const known = this.#parts.planned.get(type, key);
    if (known !== undefined) return known;
    const before = await getIfExists(this.#parts.reads, type as ResourceType, key, { signal });
    return { type, key, before, after: before, writers: new Set() };
  }

  async #created(
    object: KubernetesObject,
    known: PlannedObjectState | undefined,
    how: Creation,
  ): Promise<UnstructuredObject> {
    const { answer, guessed } = await this.#tried(object, known, how);
    const { uid = this.#parts.random.uuid() } = answer.metadata;
    const metadata = { ...answer.metadata, uid, resourceVersion: plannedVersion };
    const after = { ...answer, metadata };
    const key = keyOf(after);
    const before = known?.before;
    const wanted = structuredClone(object) as UnstructuredObject;
    const recreated = before !== undefined;
    const writers = new Set([writerOf(how.options)]);
    const state = { type: known?.type ?? object, key, before, writers, recreated, guessed, wanted };
    this.#parts.planned.set({ ...state, after, orphaned: known?.orphaned });
    return structuredClone(after);
  }

  /** Guesses the result if the namespace is only planned too: the server then refuses the dry run. */
  async #tried(
    object: KubernetesObject,
    known: PlannedObjectState | undefined,
    how: Creation,
  ): Promise<{ readonly answer: UnstructuredObject; readonly guessed?: string }> {
    try {
      return { answer: await this.#tryNew(object, known, how) };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const answer = structuredClone(object) as UnstructuredObject;
      return { answer, guessed: 'its namespace does not exist yet' };
    }
  }

  /**
   * Returns the result of writing an object that is new in the plan. If the server still has the object whose
   * deletion is planned, the dry run uses another name. The answer gets the planned name and uid wherever the
   * server has copied them, as into the labels of a Job.
   */
  async #tryNew(
    object: KubernetesObject,
    state: PlannedObjectState | undefined,
    { verb, options }: Creation,
  ): Promise<UnstructuredObject> {
    const { name } = object.metadata;
    const wanted = withoutServerFields(object);
    const free = state?.before === undefined ? name : this.#freeName(name);
    const tried = { ...wanted, metadata: { ...wanted.metadata, ...(free && { name: free }) } };
    const { dry } = this.#parts;
    const answer = (
      verb === 'apply' ? (await dry.apply(tried, options)).object : await dry.create(tried, options)
    ) as UnstructuredObject;
    const named = replacedIn(answer, { from: free, to: name });
    const { after } = state ?? {};
    if (after === undefined) return named;
    const { uid, creationTimestamp } = after.metadata;
    const same = replacedIn(named, { from: named.metadata.uid, to: uid });
    const status = after['status'];
    const kept = status === undefined ? {} : { status };
    const own = { uid, creationTimestamp, resourceVersion: plannedVersion };
    return { ...same, ...kept, metadata: { ...same.metadata, ...own } } as UnstructuredObject;
  }

  /** Returns a name that no object has. It is no longer than a long `name`, since kinds limit the length. */
  #freeName(name = ''): string {
    const end = `-${this.#parts.random.uuid().slice(0, 8)}`;
    const start = name.length > shortName ? name.slice(0, -end.length) : name;
    return `${start.replace(/[-.]+$/, '')}${end}`;
  }

  async #answerToApply(
    object: KubernetesObject,
    state: PlannedObjectState,
    options: ApplyOptions,
  ): Promise<UnstructuredObject> {
    if (!isNew(state)) return this.#answerOfServer(object, state, options);
    if (state.guessed !== undefined)
      return applyMergePatch(state.after, object) as UnstructuredObject;
    return this.#tryNew(object, state, { verb: 'apply', options });
  }

  /**
   * Applies to the server's object. If the plan takes over a default in order to remove it, the server may refuse the
   * apply, because on the server the operator does not own the default. Then two dry runs give the result: an apply
   * with the server's value of the map around the default, and an update of its answer to the desired value.
   */
  async #answerOfServer(
    object: KubernetesObject,
    { before: live, writers }: PlannedObjectState,
    options: ApplyOptions,
  ): Promise<UnstructuredObject> {
    const { dry } = this.#parts;
    try {
      return (await dry.apply(object, options)).object as UnstructuredObject;
    } catch (error) {
      if (live === undefined || !writers.has(writerOf(options))) throw error;
      const desired = object as UnstructuredObject;
      const parents = refusedFields({ live, desired }, error).map((names) => names.slice(0, -1));
      // If the default is a field of `spec` itself, keeping the server's `spec` would leave nothing to apply.
      if (parents.length === 0 || parents.some(({ length }) => length < 2)) throw error;
      const kept = withValues(desired, live, parents);
      const { object: applied } = await dry.apply(kept, options);
      const updated = withValues(applied, desired, parents);
      const answer = await dry.update(withMetadataOf(updated, live), omit(options, 'force'));
      return withMetadataOf(answer, live);
    }
  }

  /** Records the state after a planned write. Returns a copy, so that the caller cannot change the plan. */
  #note(
    state: PlannedObjectState,
    object: UnstructuredObject,
    options: WriteOptions,
  ): UnstructuredObject {
    const { finalizers = [] } = object.metadata;
    // The server's answer lacks the `deletionTimestamp` of a planned deletion.
    const { deletionTimestamp = object.metadata.deletionTimestamp } = state.after?.metadata ?? {};
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0;
    // A dry run leaves the server's version unchanged, which the next write must name.
    const { resourceVersion = plannedVersion } = (state.after ?? object).metadata;
    const deletion = deletionTimestamp === undefined ? {} : { deletionTimestamp };
    const metadata = { ...object.metadata, ...deletion, resourceVersion };
    const isKept = state.simulated === true && options.subresource === undefined;
    const status = isKept ? { status: state.after?.['status'] } : {};
    const after = { ...object, ...status, metadata };
    const writers = new Set([...state.writers, writerOf(options)]);
    this.#parts.planned.set({ ...state, after: isGone ? undefined : after, writers });
    // The recorded object, with its generation.
    return structuredClone(this.#parts.planned.get(state.type, state.key)?.after ?? after);
  }
}

/** Returns a copy of `object` with the values that `other` has at these paths. */
function withValues(
  object: UnstructuredObject,
  other: UnstructuredObject,
  paths: readonly (readonly string[])[],
): UnstructuredObject {
  const copy = structuredClone(object);
  for (const path of paths) set(copy, path, get(other, path));
  return copy;
}

/** Returns `object` with the `resourceVersion` and the `managedFields` of the second object. */
function withMetadataOf(
  object: UnstructuredObject,
  { metadata: { resourceVersion = '', managedFields = [] } }: UnstructuredObject,
): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion, managedFields } };
}

/**
 * Returns `object` with the fields that other writers have applied in the plan and that `object` lacks. The server has
 * not stored these applies: it would remove a field that only the writer of `object` has applied on the server.
 */
function withOthers(
  object: KubernetesObject,
  state: PlannedObjectState,
  { force = false, ...options }: ApplyOptions,
): KubernetesObject {
  if (!force || isNew(state)) return object;
  const others = [...(state.configurations ?? [])].filter(
    ([writer]) => writer !== writerOf(options) && partOf(writer) === partOf(writerOf(options)),
  );
  return others.reduce(
    (whole, [, other]) => applyMergePatch(other, whole) as KubernetesObject,
    object,
  );
}

/** Whether the server has no such object, or one whose deletion is planned. */
function isNew({ before, after, recreated }: PlannedObjectState): boolean {
  return before === undefined || after === undefined || recreated === true;
}

/** Returns `object` without the `deletionTimestamp` of a deletion that is only planned. */
function knownToServer(object: KubernetesObject, { before }: PlannedObjectState): KubernetesObject {
  if (before?.metadata.deletionTimestamp !== undefined) return object;
  return { ...object, metadata: omit(object.metadata, 'deletionTimestamp') };
}

function writerOf({ fieldManager = '', subresource = '' }: WriteOptions): string {
  return `${fieldManager}/${subresource}`;
}

/** Returns the part of an object that a writer writes. */
function partOf(writer: string): string {
  return writer.slice(writer.lastIndexOf('/'));
}

/** Returns `object` without the fields that only the server sets. */
function withoutServerFields<T extends KubernetesObject>(object: T): T {
  return { ...object, metadata: omit(object.metadata, setByServer) };
}

function withStatusOf(object: UnstructuredObject, other: KubernetesObject): UnstructuredObject {
  const { status } = other as UnstructuredObject;
  return { ...object, status };
}

function patched(object: UnstructuredObject, patch: Patch): UnstructuredObject {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(object, patch.operations, {
        dialect: 'kubernetes',
      }) as UnstructuredObject;
    case 'merge':
      return applyMergePatch(object, patch.body) as UnstructuredObject;
    case 'strategic':
      return applyStrategicMergePatch(
        object,
        patch.body as Record<string, unknown>,
        builtInSchema(object),
      ) as UnstructuredObject;
  }
}

/** Returns the schema of a built-in kind, which has the keys of its lists. */
function builtInSchema({ apiVersion, kind }: UnstructuredObject): Schema {
  const [version = '', group = 'core'] = apiVersion.split('/').toReversed();
  return definition(`io.k8s.api.${group.replace(/\..*/, '')}.${version}.${kind}`);
}

function missing(verb: string, { type: { kind }, key }: PlannedObjectState): ApiError {
  const { namespace, name } = key;
  const message = `${kind} "${name}" not found`;
  const body = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message };
  return new ApiError(body, { verb, kind, namespace, name, status: 404 });
}

function alreadyExists({ kind, metadata }: KubernetesObject): ApiError {
  const { namespace, name = '' } = metadata;
  const message = `${kind} "${name}" already exists`;
  const body = { kind: 'Status', status: 'Failure', code: 409, reason: 'AlreadyExists', message };
  return new ApiError(body, { verb: 'create', kind, namespace, name, status: 409 });
}

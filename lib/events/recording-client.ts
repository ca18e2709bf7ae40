import type {
  Applied,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  WriteDetails,
  WriteOptions,
} from '../client/index.js';
import { forwarding, isStaleWrite } from '../client/index.js';
import {
  isAlreadyExists,
  isApiError,
  isNamespaceTerminating,
  isNotFound,
  describeObject,
  formatLabelSelector,
  sameKey,
  redactChanges,
  apiVersionOf,
  groupOf,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  ObjectReference,
  TypeReference,
} from '../object/index.js';
import {
  errorMessage,
  refuseUnknownOptions,
  silentLogger,
  isOperatorError,
} from '../system/index.js';
import type { ErrorCode, OptionNames, Logger } from '../system/index.js';
import type { ObjectWritten, OperatorEvents, WriteFailed, WriteVerb } from './operator-events.js';
import { toReference } from './recorder.js';
import type { ObjectEvent, Recorder } from './recorder.js';

/** Options of {@link recordingClient}. */
export interface RecordingClientOptions {
  /** Recorder of Kubernetes Events. @defaultValue no Events */
  readonly recorder?: Recorder | undefined;
  /** Emitter of in-process events. @defaultValue no events */
  readonly emitter?: OperatorEvents | undefined;
  /**
   * Object that the Events are regarding; the written object is then `related`.
   * @defaultValue the written object
   */
  readonly owner?: KubernetesObject | ObjectReference | undefined;
  /** Logs errors of the recorder and the emitter. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

const optionNames: OptionNames<RecordingClientOptions> = {
  ...{ recorder: true, emitter: true, owner: true, logger: true },
};

/**
 * Returns a client that records its writes as Events, and emits them through `OperatorEvents`, with the `details` of
 * each write.
 * Reasons of successful writes are `Created`, `Configured` and `Deleted`. Those of failed writes are
 * `CreateFailed`, `UpdateFailed`, `PatchFailed`, `ApplyFailed` and `DeleteFailed`. Results and errors are
 * those of the inner client.
 *
 * Not recorded: reads, dry runs, subresources (`status`), Events, Leases and reviews, and updates and applies with a
 * `resourceVersion` that changed nothing. Expected failures are not recorded either: a conflict, an object that
 * already exists or is already gone, a namespace that is being deleted, an aborted call, a call that was not sent
 * because the replica stops or no longer leads.
 */
export function recordingClient(client: Client, options: RecordingClientOptions): Client {
  refuseUnknownOptions('recordingClient', options, optionNames);
  return new WriteReport(options).recorded(client);
}

/** Reports the results of writes to the recorder and the emitter. It never throws, even if they do. */
export class WriteReport {
  readonly #options: RecordingClientOptions;
  readonly #owner: ObjectReference | undefined;
  readonly #emitted = new WeakSet();

  /** @throws OperatorError `InvalidObject`: the owner has no name. */
  constructor(options: RecordingClientOptions) {
    this.#options = options;
    this.#owner = options.owner && toReference(options.owner);
  }

  /** Returns a client that reports its writes. */
  recorded(client: Client): Client {
    return {
      ...forwarding(client),
      create: (object, options) =>
        this.#write(() => client.create(object, options), written('create', object, options)),
      update: (object, options) =>
        this.#write(() => client.update(object, options), written('update', object, options)),
      patch: (type, key, patch, options) =>
        this.#write(
          () => client.patch(type, key, patch, options),
          keyed('patch', { type, key }, options),
        ),
      apply: (object, options) =>
        this.#write(() => client.apply(object, options), written('apply', object, options)),
      delete: (type, key, options) =>
        this.#write(
          () => client.delete(type, key, options),
          keyed('delete', { type, key }, options),
        ),
      deleteCollection: async (type, options) =>
        this.#write(() => client.deleteCollection(type, options), collection(type, options)),
    };
  }

  /** Returns true if listeners have received `error` as the failure of a call. */
  hasEmitted(error: unknown): boolean {
    return error instanceof Error && this.#emitted.has(error);
  }

  /** @param target - undefined: the write is not reported */
  async #write<T>(write: () => Promise<T>, target: WriteTarget | undefined): Promise<T> {
    if (target === undefined) return write();
    let result: T;
    try {
      result = await write();
    } catch (error) {
      this.#failed(target, error);
      throw error;
    }
    this.#guarded(() => this.#succeeded(target, resultOf(target.verb, result)));
    return result;
  }

  #succeeded(target: WriteTarget, result: WriteResult): void {
    const { verb, ref, resourceVersion } = target;
    const { object } = result;
    const isReplaced = verb === 'update' || (verb === 'apply' && result.created !== true);
    const isSame =
      resourceVersion !== undefined && object?.metadata.resourceVersion === resourceVersion;
    if (isReplaced && isSame) return;
    const name = object?.metadata.name ?? ref.name;
    if (verb === 'deleteCollection') this.#collectionDeleted(target);
    else if (name !== undefined)
      this.#written(outcomeOf(verb, result), target, { ...ref, name, ...uidOf(object) }, object);
  }

  #failed({ verb, ref, details }: WriteTarget, error: unknown): void {
    if (isPartOfTheGame(verb, error) || details?.handles?.(error) === true) return;
    this.#guarded(() => {
      const { emitter } = this.#options;
      if (emitter !== undefined && error instanceof Error) this.#emitted.add(error);
      emitter?.emit('failed', { ref, owner: this.#owner, verb, error });
      const action = actions[verb];
      const subject = describeObject({ ...ref, name: ref.name ?? '' });
      // The message of a server error begins with the call, which `subject` already names.
      const why = withoutStart(explanation(ref.kind, error), `${verb} ${subject}: `);
      const note = `${action} ${subject}: ${why}`;
      this.#record(ref, { type: 'Warning', reason: `${action}Failed`, action, note });
    });
  }

  #written(
    outcome: Outcome,
    { verb, details = {} }: WriteTarget,
    ref: ObjectReference,
    object: KubernetesObject | undefined,
  ): void {
    const { changes = [], cause } = details;
    const all =
      typeof changes === 'function' ? (object === undefined ? [] : changes(object)) : changes;
    const shown = redactChanges(ref.kind, all);
    const payload: ObjectWritten = { ref, owner: this.#owner, changes: shown, cause };
    this.#options.emitter?.emit(outcome, payload);
    const text = detailsText(payload);
    const [reason, action] = [reasons[outcome], actions[verb]];
    const note = `${reason} ${describeObject(ref)}${text}`;
    const near = ref.namespace === this.#owner?.namespace ? { ...ref, namespace: '' } : ref;
    const item = describeObject(near) + text;
    this.#record(ref, { type: 'Normal', reason, action, note, item });
  }

  #collectionDeleted({ ref, selector = '' }: WriteTarget): void {
    const where = ref.namespace === undefined ? '' : ` in ${ref.namespace}`;
    const which = selector === '' ? '' : ` with ${selector}`;
    const note = `Deleted every ${ref.kind}${where}${which}`;
    this.#record(ref, { type: 'Normal', reason: 'Deleted', action: 'Delete', note });
  }

  /** Records an Event on the owner, or else on the object. Without an owner and a name it records nothing. */
  #record(
    ref: WriteFailed['ref'],
    event: Pick<ObjectEvent, 'type' | 'reason' | 'action' | 'note' | 'item'>,
  ): void {
    const object = ref.name === undefined ? undefined : toReference({ ...ref, name: ref.name });
    const regarding = this.#owner ?? object;
    if (regarding === undefined) return;
    const related = object !== undefined && sameObject(regarding, object) ? undefined : object;
    this.#options.recorder?.record({ regarding, related, ...event });
  }

  #guarded(report: () => void): void {
    try {
      report();
    } catch (error) {
      const { logger = silentLogger } = this.#options;
      logger.error('the Event about a write could not be recorded', { error });
    }
  }
}

/** The object and verb of a write. */
interface WriteTarget {
  readonly verb: WriteVerb;
  /** Has no name if a collection is written, or if the server generates the name. */
  readonly ref: WriteFailed['ref'];
  /** The version that an update or an apply replaces. */
  readonly resourceVersion?: string | undefined;
  readonly details?: WriteDetails | undefined;
  /** Selector of the deleted objects of a collection. */
  readonly selector?: string | undefined;
}

interface WriteResult {
  readonly object: KubernetesObject | undefined;
  /** True if an apply created the object. */
  readonly created?: boolean;
}

type Outcome = 'created' | 'configured' | 'deleted';

const reasons = { created: 'Created', configured: 'Configured', deleted: 'Deleted' } as const;

const actions = {
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  apply: 'Apply',
  delete: 'Delete',
  deleteCollection: 'Delete',
} as const;

function written(
  verb: WriteVerb,
  object: KubernetesObject,
  options: WriteOptions = {},
): WriteTarget | undefined {
  if (isSilent(object, options)) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, resourceVersion } = metadata;
  const { details } = options;
  return { verb, ref: { apiVersion, kind, namespace, name }, resourceVersion, details };
}

function keyed(
  verb: WriteVerb,
  { type, key }: { readonly type: TypeReference<KubernetesObject>; readonly key: ObjectKey },
  options: WriteOptions & DeleteOptions = {},
): WriteTarget | undefined {
  if (isSilent(type, options)) return undefined;
  const { namespace, name } = key;
  const ref = { apiVersion: apiVersionOf(type), kind: type.kind, namespace, name };
  return { verb, ref, details: options.details };
}

function collection(
  type: TypeReference<KubernetesObject>,
  options: DeleteCollectionOptions = {},
): WriteTarget | undefined {
  if (isSilent(type, options)) return undefined;
  const { namespace, labelSelector, fieldSelector } = options;
  const labels = labelSelector && formatLabelSelector(labelSelector);
  const selector = [labels, fieldSelector].filter((each) => each !== undefined).join(' and ');
  const ref = { apiVersion: apiVersionOf(type), kind: type.kind, namespace };
  return { verb: 'deleteCollection', ref, selector };
}

/**
 * Returns true for writes that are not recorded: dry runs and writes of subresources; Events, because each
 * would cause another Event without end; Leases, because they are renewed every few seconds; reviews, because they are
 * answered and not stored.
 */
function isSilent(
  type: TypeReference<KubernetesObject>,
  {
    dryRun,
    subresource,
  }: { readonly dryRun?: boolean | undefined; subresource?: string | undefined },
): boolean {
  if (dryRun === true || (subresource ?? '') !== '') return true;
  const group = groupOf(apiVersionOf(type));
  if (group === 'authorization.k8s.io' || group === 'authentication.k8s.io') return true;
  if (type.kind === 'Event') return group === '' || group === 'events.k8s.io';
  return type.kind === 'Lease' && group === 'coordination.k8s.io';
}

function resultOf(verb: WriteVerb, result: unknown): WriteResult {
  if (verb === 'apply') return result as Applied<KubernetesObject>;
  if (verb === 'deleteCollection') return { object: undefined };
  return { object: result as KubernetesObject | undefined };
}

function outcomeOf(verb: WriteVerb, { created = verb === 'create' }: WriteResult): Outcome {
  if (verb === 'delete' || verb === 'deleteCollection') return 'deleted';
  return created ? 'created' : 'configured';
}

function uidOf(object: KubernetesObject | undefined): { uid?: string } {
  const uid = object?.metadata.uid;
  return uid === undefined ? {} : { uid };
}

function sameObject(one: ObjectReference, other: ObjectReference): boolean {
  const sameKind = one.kind === other.kind && groupOf(one.apiVersion) === groupOf(other.apiVersion);
  return sameKind && sameKey(one, other);
}

/** Error codes of calls that were not sent, or that were aborted because the reconcile has ended. */
const unsent: readonly ErrorCode[] = ['Aborted', 'Fenced', 'Stopped'];

function isPartOfTheGame(verb: WriteVerb, error: unknown): boolean {
  if (isStaleWrite(error) || isAlreadyExists(error) || isNamespaceTerminating(error)) return true;
  if (isOperatorError(error) && unsent.includes(error.code)) return true;
  return isNotFound(error) && (verb === 'delete' || verb === 'update' || verb === 'patch');
}

const mostPaths = 10;

function detailsText(written: ObjectWritten): string {
  const { changes } = written;
  const paths = changes.slice(0, mostPaths).map(({ path }) => path || 'everything');
  const more = changes.length - paths.length;
  if (more > 0) paths.push(`${more} more`);
  const cause = causeText(written);
  return (paths.length === 0 ? '' : `: ${paths.join(', ')}`) + (cause ? ` (${cause})` : '');
}

/**
 * Returns the cause. For drift, it names the managers that caused it, and the remedy if an autoscaler may be one of
 * them.
 */
function causeText({ ref, changes, cause }: ObjectWritten): string | undefined {
  if (cause !== 'drift') return cause;
  const taken = changes.filter(({ manager = 'unknown' }) => manager !== 'unknown');
  if (taken.length === 0) return cause;
  const by = [...new Set(taken.map(({ manager }) => manager))].join(', ');
  const isScaled = scalable.includes(ref.kind) && taken.some(({ path }) => path === scalePath);
  // The write may come from a builder, in which a workload without `replicas` gets one replica, or from other code.
  const remedy = "set replicas: 'external' in a builder, and leave replicas out elsewhere";
  return `drift by ${by}${isScaled ? `; if an autoscaler sets it: ${remedy}` : ''}`;
}

const scalable: readonly string[] = ['Deployment', 'StatefulSet'];
const scalePath = 'spec.replicas';

/** Returns the error's message; for a Secret, only the parts that can't quote its data. */
function explanation(kind: string, error: unknown): string {
  if (kind !== 'Secret') return errorMessage(error);
  if (isApiError(error)) {
    const fields = error.causes.map(({ field = '' }) => field).filter((field) => field !== '');
    const where = fields.length === 0 ? '' : ` at ${fields.join(', ')}`;
    return `${error.status} ${error.reason}`.trimEnd() + where;
  }
  return isOperatorError(error) ? error.code : 'the reason is not shown, it may quote data';
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}

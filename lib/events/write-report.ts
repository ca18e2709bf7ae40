import { isStaleWrite } from '../client/retry-on-conflict.js';
import {
  isAlreadyExists,
  isApiError,
  isNamespaceTerminating,
  isNotFound,
} from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { sameKey } from '../object/object-key.js';
import type { ObjectReference } from '../object/object-reference.js';
import { redactChanges } from '../object/redact.js';
import { groupOf } from '../object/resource-type.js';
import { silentLogger } from '../system/logger.js';
import { isOperatorError } from '../system/operator-error.js';
import { toReference } from './recorder.js';
import type { ObjectWritten, WriteFailed, WriteVerb } from './operator-events.js';
import type { ObjectEvent } from './recorder.js';
import type { RecordingClientOptions } from './recording-client.js';
import { errorMessage } from '../system/as-error.js';

/** The object and verb of a write. */
export interface WriteTarget {
  readonly verb: WriteVerb;
  /** Without a name for a collection, or if the server generates the name. */
  readonly ref: WriteFailed['ref'];
  /** The version that an update replaces. */
  readonly resourceVersion?: string | undefined;
  /** Selector of the deleted objects of a collection. */
  readonly selector?: string | undefined;
}

/** The result of a write. */
export interface WriteResult {
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

/** Reports the results of writes to the recorder and the emitter. It never throws, even if they do. */
export class WriteReport {
  readonly #options: RecordingClientOptions;
  readonly #owner: ObjectReference | undefined;

  /** @throws OperatorError `InvalidObject`: the owner has no name. */
  constructor(options: RecordingClientOptions) {
    this.#options = options;
    this.#owner = options.owner && toReference(options.owner);
  }

  succeeded(target: WriteTarget, result: WriteResult): void {
    const { verb, ref, resourceVersion } = target;
    const { object } = result;
    const isSame = resourceVersion !== undefined && object !== undefined;
    if (verb === 'update' && isSame && object.metadata.resourceVersion === resourceVersion) return;
    this.#guarded(() => {
      const outcome = outcomeOf(verb, result);
      const name = object?.metadata.name ?? ref.name;
      if (name === undefined) this.#collectionDeleted(target);
      else this.#written(outcome, verb, { ...ref, name, ...uidOf(object) });
    });
  }

  failed({ verb, ref }: WriteTarget, error: unknown): void {
    if (isPartOfTheGame(verb, error)) return;
    this.#guarded(() => {
      this.#options.emitter?.emit('failed', { ref, owner: this.#owner, verb, error });
      const action = actions[verb];
      const subject = describeObject({ ...ref, name: ref.name ?? '' });
      // A server error starts with the call.
      const why = withoutStart(explanation(ref.kind, error), `${verb} ${subject}: `);
      const note = `${action} ${subject}: ${why}`;
      this.#record(ref, { type: 'Warning', reason: `${action}Failed`, action, note });
    });
  }

  #written(outcome: Outcome, verb: WriteVerb, ref: ObjectReference): void {
    const { emitter, detailsOf } = this.#options;
    const { changes = [], cause } = detailsOf?.(ref) ?? {};
    const shown = redactChanges(ref.kind, changes);
    const payload: ObjectWritten = { ref, owner: this.#owner, changes: shown, cause };
    emitter?.emit(outcome, payload);
    const details = detailsText(payload);
    const [reason, action] = [reasons[outcome], actions[verb]];
    const note = `${reason} ${describeObject(ref)}${details}`;
    const near = ref.namespace === this.#owner?.namespace ? { ...ref, namespace: '' } : ref;
    const item = describeObject(near) + details;
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
      logger.error('a write could not be recorded', { error });
    }
  }
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

function isPartOfTheGame(verb: WriteVerb, error: unknown): boolean {
  if (isStaleWrite(error) || isAlreadyExists(error) || isNamespaceTerminating(error)) return true;
  if (isOperatorError(error, 'Aborted')) return true;
  return isNotFound(error) && (verb === 'delete' || verb === 'update' || verb === 'patch');
}

const mostPaths = 10;

function detailsText({ changes, cause }: ObjectWritten): string {
  const paths = changes.slice(0, mostPaths).map(({ path }) => path || 'everything');
  const more = changes.length - paths.length;
  if (more > 0) paths.push(`${more} more`);
  return (paths.length === 0 ? '' : `: ${paths.join(', ')}`) + (cause ? ` (${cause})` : '');
}

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

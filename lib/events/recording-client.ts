import type {
  Applied,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  WriteOptions,
} from '../client/client.js';
import { forwarding } from '../client/forwarding.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import type { OperatorEvents, WriteVerb } from './operator-events.js';
import type { Recorder } from './recorder.js';
import { WriteReport } from './write-report.js';
import type { WriteResult, WriteTarget } from './write-report.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** The caller's details about a write. */
export interface WriteDetails {
  /** Changed fields; values of a Secret are redacted before they are reported. @defaultValue `[]` */
  readonly changes?: readonly FieldChange[] | undefined;
  /** Human-readable cause. */
  readonly cause?: string | undefined;
}

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
  /** Called after each successful write. @defaultValue no details */
  readonly detailsOf?: ((ref: ObjectReference) => WriteDetails | undefined) | undefined;
  /** Logs errors of the recorder, the emitter and `detailsOf`. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

const optionNames: OptionNames<RecordingClientOptions> = {
  ...{ recorder: true, emitter: true, owner: true, detailsOf: true, logger: true },
};

/**
 * Returns a client that records every successful write (`Created`, `Configured`, `Deleted`) and every failed
 * one (`CreateFailed`, `UpdateFailed`, `PatchFailed`, `ApplyFailed`, `DeleteFailed`), as an Event and on the
 * emitter. Results and errors are those of the inner client.
 *
 * Not recorded: reads, dry runs, subresources (`status`), Events and Leases, updates that changed nothing,
 * and expected failures: a conflict, an object that already exists or is already gone, a namespace that is
 * being deleted, an aborted call.
 */
export function recordingClient(client: Client, options: RecordingClientOptions): Client {
  refuseUnknownOptions('recordingClient', options, optionNames);
  const report = new WriteReport(options);
  const record = async <T>(
    target: WriteTarget | undefined,
    write: () => Promise<T>,
    resultOf: (result: T) => WriteResult,
  ): Promise<T> => {
    if (target === undefined) return write();
    let result: T;
    try {
      result = await write();
    } catch (error) {
      report.failed(target, error);
      throw error;
    }
    report.succeeded(target, resultOf(result));
    return result;
  };
  return {
    ...forwarding(client),
    create: (object, options) =>
      record(written('create', object, options), () => client.create(object, options), plain),
    update: (object, options) =>
      record(written('update', object, options), () => client.update(object, options), plain),
    patch: (type, key, patch, options) =>
      record(
        keyed('patch', { type, key }, options),
        () => client.patch(type, key, patch, options),
        plain,
      ),
    apply: (object, options) =>
      record(written('apply', object, options), () => client.apply(object, options), applied),
    delete: (type, key, options) =>
      record(
        keyed('delete', { type, key }, options),
        () => client.delete(type, key, options),
        plain,
      ),
    deleteCollection: (type, options) =>
      record(collection(type, options), () => client.deleteCollection(type, options), nothing),
  };
}

const plain = (object: KubernetesObject | undefined): WriteResult => ({ object });
const applied = ({ object, created }: Applied<KubernetesObject>): WriteResult => ({
  object,
  created,
});
const nothing = (): WriteResult => ({ object: undefined });

function written(
  verb: WriteVerb,
  object: KubernetesObject,
  options: WriteOptions = {},
): WriteTarget | undefined {
  if (isSilent(object, options)) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, resourceVersion } = metadata;
  return { verb, ref: { apiVersion, kind, namespace, name }, resourceVersion };
}

function keyed(
  verb: WriteVerb,
  { type, key }: { readonly type: TypeReference<KubernetesObject>; readonly key: ObjectKey },
  options: WriteOptions & DeleteOptions = {},
): WriteTarget | undefined {
  if (isSilent(type, options)) return undefined;
  const { namespace, name } = key;
  return { verb, ref: { apiVersion: apiVersionOf(type), kind: type.kind, namespace, name } };
}

function collection(
  type: TypeReference<KubernetesObject>,
  options: DeleteCollectionOptions = {},
): WriteTarget | undefined {
  if (isSilent(type, options)) return undefined;
  const { namespace, labelSelector, fieldSelector } = options;
  const selector = [labelSelector, fieldSelector]
    .filter((each) => each !== undefined)
    .join(' and ');
  const ref = { apiVersion: apiVersionOf(type), kind: type.kind, namespace };
  return { verb: 'deleteCollection', ref, selector };
}

/** Excludes Events, whose Events would never end, and Leases, which are renewed every few seconds. */
function isSilent(
  type: TypeReference<KubernetesObject>,
  {
    dryRun,
    subresource,
  }: { readonly dryRun?: boolean | undefined; subresource?: string | undefined },
): boolean {
  if (dryRun === true || (subresource ?? '') !== '') return true;
  const group = groupOf(apiVersionOf(type));
  if (type.kind === 'Event') return group === '' || group === 'events.k8s.io';
  return type.kind === 'Lease' && group === 'coordination.k8s.io';
}

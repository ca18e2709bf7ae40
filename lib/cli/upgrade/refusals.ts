import { immutableChanges } from '../../apply/index.js';
import type { DesiredObject } from '../../apply/index.js';
import type { Client, WriteOptions } from '../../client/client.js';
import { forwarding } from '../../client/client-wrappers.js';
import { getIfExists } from '../../client/object-changes.js';
import { isApiError } from '../../object/api-error.js';
import type { ApiError } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { FieldChange } from '../../object/diff-by-path.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { referenceTo } from '../../object/object-reference.js';
import { finding } from './upgrade-report.js';
import type { Finding } from './upgrade-report.js';

/** An object whose immutable field the operator tries to change. */
export interface Immovable {
  readonly live: UnstructuredObject;
  /** The whole object that was to be written. */
  readonly desired: KubernetesObject;
  readonly manager: string;
}

/** Records the writes that the server rejects. */
export class Refusals {
  readonly #found = new Map<string, Finding>();
  readonly #immovable = new Map<string, Immovable>();
  readonly #taken = new Set<string>();

  /** Each rejected write once. */
  get findings(): readonly Finding[] {
    return [...this.#found.values()];
  }

  /** Returns the objects rejected for immutable fields since the last call; each object only once overall. */
  takeImmovable(): readonly Immovable[] {
    const taken = [...this.#immovable.values()].filter(({ live }) => !this.#taken.has(uidOf(live)));
    for (const { live } of taken) this.#taken.add(uidOf(live));
    this.#immovable.clear();
    return taken;
  }

  /** Returns a client that records rejected writes and rethrows their errors. */
  noting(client: Client): Client {
    const noted = async <T>(
      work: Promise<T>,
      object: KubernetesObject,
      options: WriteOptions = {},
    ): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (isRefusal(error) && options.dryRun !== true) {
          await this.#note(client, { object, error, manager: options.fieldManager ?? '' });
        }
        throw error;
      }
    };
    return {
      ...forwarding(client),
      create: (object, options) => noted(client.create(object, options), object, options),
      update: (object, options) => noted(client.update(object, options), object, options),
      apply: (object, options) => noted(client.apply(object, options), object, options),
      patch: (type, key, patch, options) => {
        const apiVersion =
          'apiVersion' in type ? type.apiVersion : [type.group, type.version].join('/');
        const body = patch.type === 'json' ? {} : patch.body;
        const object = { ...body, apiVersion, kind: type.kind, metadata: { ...key } };
        const written = object as unknown as KubernetesObject;
        return noted(client.patch(type, key, patch, options), written, options);
      },
    };
  }

  async #note(client: Client, { object, error, manager }: Refusal): Promise<void> {
    const live = await getIfExists<UnstructuredObject>(client, object, keyOf(object));
    const changes = live === undefined ? [] : fieldsOf({ object, live, error, manager });
    const ref = referenceTo(live ?? object);
    const fields = changes.map(({ path }) => path);
    const why = fields.length === 0 ? '' : `: ${fields.join(', ')} can't change once set`;
    const message = `the server refuses to ${error.context.verb} it${why} (${saidOf(error)})`;
    if (live !== undefined && changes.length > 0 && error.context.verb !== 'patch') {
      this.#immovable.set(uidOf(live), { live, desired: object, manager });
    }
    const remedy = remedyFor(object.kind, fields);
    const id = `${describeObject(ref)} ${fields.join()} ${fields.length === 0 ? message : ''}`;
    this.#found.set(id, finding('refused', ref, { message, changes, remedy }));
  }
}

function uidOf({ metadata }: KubernetesObject): string {
  return metadata.uid ?? '';
}

interface Refusal {
  readonly object: KubernetesObject;
  readonly error: ApiError;
  readonly manager: string;
}

/** Whether the server rejects the write itself. Conflicts and existing objects are left to a retry. */
function isRefusal(error: unknown): error is ApiError {
  return isApiError(error) && [400, 403, 422].includes(error.status);
}

function fieldsOf({
  object,
  live,
  error,
  manager,
}: Refusal & { readonly live: UnstructuredObject }): readonly FieldChange[] {
  const desired = { object } as unknown as DesiredObject;
  return immutableChanges({ desired, live }, manager, error);
}

function saidOf(error: ApiError): string {
  const causes = error.causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
  return causes.length > 0 ? causes.join('; ') : (error.body.message ?? error.message);
}

function remedyFor(kind: string, fields: readonly string[]): string {
  if (fields.length === 0) return 'correct what the server names, or keep what was';
  const undo = 'take the change back';
  if (fields.some((path) => path.startsWith('spec.volumeClaimTemplates'))) {
    return `${undo}, or set onImmutable to recreateOrphan, which keeps the pods; claims that are there stay as they are`;
  }
  if (kind === 'Service')
    return `${undo}, or set onImmutable to recreate: its address changes then`;
  if (kind === 'ConfigMap' || kind === 'Secret') return `${undo}, or give the object another name`;
  if (kind === 'Job') return `${undo}, or give the new Job another name`;
  if (kind === 'StatefulSet' || kind === 'Deployment' || kind === 'DaemonSet') {
    const orphans = fields.some((path) => path.startsWith('spec.selector'))
      ? 'recreate, which replaces all pods at once'
      : 'recreateOrphan, which keeps the pods';
    return `${undo}, give the object another name, or set onImmutable to ${orphans}`;
  }
  return `${undo}, or set onImmutable to recreate`;
}

import type { Client } from '../client/index.js';
import { TokenBucket } from '../client/index.js';
import { CustomResourceDefinition, describeObject, isGone, isNotFound } from '../object/index.js';
import type { ApiError, KubernetesObject, ObjectMeta, ResourceType } from '../object/index.js';
import { OperatorError, asError, refuseUnknownOptions, sleep } from '../system/index.js';
import type { Clock, Logger, Metrics } from '../system/index.js';
import type { RequiredAccess } from './access/required-access.js';
import type { Runnable, RunnableContext } from './runnable.js';

/** A custom resource whose stored objects are migrated. */
export type MigratedKind = Pick<
  ResourceType,
  'group' | 'version' | 'kind' | 'plural' | 'namespaced'
>;

/** Options of a storage migration. */
export interface StorageMigrationOptions {
  /** Writes per second, above 0. @defaultValue 50 */
  readonly writesPerSecond?: number | undefined;
}

/** The parts of a manager that a migration uses. */
interface MigrationParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Checks the options, and returns a function that makes the runnable: it migrates the stored objects of a kind to
 * its storage version.
 *
 * ## Flow
 * 1. Read the definition. If `status.storedVersions` has only the storage version, end.
 * 2. Record the current resource version in an annotation of the definition, once for each generation of it.
 * 3. Write each object without a change, unless it was written since. The server stores it in the new version.
 *    Writes use the storage version, if it is served: a conversion could lose fields of it.
 * 4. Set `status.storedVersions` to the storage version, and remove the annotation.
 *
 * ## Guarantees
 * - A process that takes over continues: objects with a later resource version than the recorded one are skipped.
 * - An object that changes meanwhile is not overwritten. The next attempt skips it, since its writer has migrated it.
 * - `status.storedVersions` changes only after all objects were written, and only if the spec of the definition has not
 *   changed meanwhile. A change of the spec starts the migration again: another version may have been the storage
 *   version for a while.
 *
 * Errors are logged and the migration is retried, with delays from a second to five minutes.
 * @throws OperatorError `InvalidOption`: an unknown option, or a value out of its range
 */
export function storageMigration(
  type: MigratedKind,
  options: StorageMigrationOptions,
): (parts: MigrationParts) => Runnable {
  const { writesPerSecond = 50 } = options;
  const name = `storage migration of ${type.kind}`;
  refuseUnknownOptions<StorageMigrationOptions>(name, options, { writesPerSecond });
  if (!(Number.isFinite(writesPerSecond) && writesPerSecond > 0)) {
    const message = `${name}: writesPerSecond: want a number above 0, got ${writesPerSecond}`;
    throw new OperatorError('InvalidOption', message);
  }
  const limit = { qps: writesPerSecond, burst: Math.max(1, writesPerSecond) };
  return (parts) => {
    const bucket = new TokenBucket(limit, parts.clock);
    return {
      name,
      phase: 'leader',
      run: (context) => new StorageMigration(type, { ...parts, bucket }, context).run(),
    };
  };
}

/** The access that {@link storageMigration} needs. */
export function migrationAccess(type: MigratedKind): readonly RequiredAccess[] {
  const names = [`${type.plural}.${type.group}`];
  return [
    { type, verbs: ['list', 'patch'] },
    { type: CustomResourceDefinition, verbs: ['get', 'patch'], names },
    { type: CustomResourceDefinition, subresource: 'status', verbs: ['patch'], names },
  ];
}

/** Annotation of a definition: the start of a migration, as `<storage version>/<generation> <resource version>`. */
const annotation = 'operator-builder.io/storage-migration';

/** Time for all API servers of a cluster to store in a new version, in milliseconds. */
const settleMs = 10_000;

const retryMs = { first: 1_000, longest: 300_000 } as const;

interface Beginning {
  /** Version and generation of the definition when the migration began, as {@link stampOf} returns them. */
  readonly stamp: string;
  /** Objects with a later resource version are stored in the storage version. */
  readonly since: bigint | undefined;
}

interface Counts {
  written: number;
  skipped: number;
  failed: number;
}

class StorageMigration {
  readonly #type: MigratedKind;
  readonly #parts: MigrationParts & { readonly bucket: TokenBucket };
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  readonly #count: (result: keyof Counts) => void;

  constructor(
    type: MigratedKind,
    parts: MigrationParts & { readonly bucket: TokenBucket },
    { signal, logger, ready }: RunnableContext,
  ) {
    this.#type = type;
    this.#parts = parts;
    this.#signal = signal;
    this.#logger = logger;
    const counter = parts.metrics.counter({
      name: 'operator_builder_storage_migration_objects_total',
      help: 'Objects of a storage migration, by result.',
      labelNames: ['kind', 'result'],
    });
    this.#count = (result) => counter.add(1, { kind: type.kind, result });
    ready();
  }

  async run(): Promise<void> {
    let delayMs: number = retryMs.first;
    for (;;) {
      try {
        if (await this.#migrate()) return;
      } catch (thrown) {
        this.#signal.throwIfAborted();
        this.#logger.warn('storage migration failed', { error: asError(thrown), delayMs });
      }
      await sleep(this.#parts.clock, delayMs, this.#signal);
      delayMs = Math.min(delayMs * 2, retryMs.longest);
    }
  }

  /** Writes all objects in the storage version. Returns whether all of them are stored in it. */
  async #migrate(): Promise<boolean> {
    const crd = await this.#definition();
    const storage = storageOf(crd);
    const storedVersions = crd.status?.storedVersions ?? [];
    if (storedVersions.every((version) => version === storage)) {
      if (crd.metadata.annotations?.[annotation] !== undefined) await this.#annotate(crd, null);
      return true;
    }
    const type = this.#writtenType(crd);
    const beginning = beginningOf(crd) ?? (await this.#begin(crd, type));
    this.#logger.info('storage migration started', { storedVersions, storage });
    const counts = await this.#writeAll(type, beginning);
    this.#logger.info('storage migration wrote the objects', { ...counts });
    if (counts.failed > 0) return false;
    return this.#finish(beginning);
  }

  #definition(): Promise<CustomResourceDefinition> {
    const { plural, group } = this.#type;
    const key = { name: `${plural}.${group}` };
    return this.#parts.client.get(CustomResourceDefinition, key, { signal: this.#signal });
  }

  /** Returns the kind at the storage version if it is served, so that no conversion loses fields. */
  #writtenType({ spec }: CustomResourceDefinition): MigratedKind {
    const { group, version, kind, plural, namespaced } = this.#type;
    const stored = spec.versions.find(({ storage }) => storage);
    const written = stored?.served === true ? stored.name : version;
    return { group, version: written, kind, plural, namespaced };
  }

  async #begin(crd: CustomResourceDefinition, type: MigratedKind): Promise<Beginning> {
    await sleep(this.#parts.clock, settleMs, this.#signal);
    const { client } = this.#parts;
    const unrecorded = { stamp: stampOf(crd), since: undefined };
    const options = { limit: 1, metadataOnly: true, signal: this.#signal };
    for await (const { metadata } of client.pages(type, options)) {
      const { resourceVersion = '' } = metadata;
      const made = await this.#annotate(crd, `${stampOf(crd)} ${resourceVersion}`);
      return beginningOf(made) ?? unrecorded;
    }
    return unrecorded;
  }

  /** @throws ApiError a conflict: the definition has changed */
  #annotate(
    { metadata: { name = '', resourceVersion } }: CustomResourceDefinition,
    value: string | null,
  ): Promise<CustomResourceDefinition> {
    const body = { metadata: { resourceVersion, annotations: { [annotation]: value } } };
    return this.#patch(CustomResourceDefinition, { name }, body);
  }

  #patch<T extends KubernetesObject>(
    type: Parameters<Client['patch']>[0],
    key: { readonly name: string; readonly namespace?: string | undefined },
    body: object,
    subresource?: string,
  ): Promise<T> {
    const options = { signal: this.#signal, ...(subresource !== undefined && { subresource }) };
    return this.#parts.client.patch(type, key, { type: 'merge', body }, options) as Promise<T>;
  }

  async #writeAll(type: MigratedKind, { since }: Beginning): Promise<Counts> {
    const counts: Counts = { written: 0, skipped: 0, failed: 0 };
    const options = { metadataOnly: true, signal: this.#signal };
    try {
      for await (const { items } of this.#parts.client.pages(type, options)) {
        for (const { metadata } of items) {
          const result = isLater(metadata, since) ? 'skipped' : await this.#write(type, metadata);
          counts[result]++;
          this.#count(result);
        }
        this.#logger.debug('storage migration wrote a page', { ...counts });
      }
    } catch (error) {
      // The continue token of the list has expired. The next list skips the objects that are written already.
      if (!isGone(error)) throw error;
      counts.failed++;
    }
    return counts;
  }

  /** Writes an object without a change, if it has not changed since the list. */
  async #write(type: MigratedKind, metadata: ObjectMeta): Promise<keyof Counts> {
    const { name = '', namespace, uid, resourceVersion } = metadata;
    await this.#parts.bucket.take(this.#signal);
    try {
      await this.#patch(type, { name, namespace }, { metadata: { uid, resourceVersion } });
      return 'written';
    } catch (error) {
      if (isObjectGone(error, type, name)) return 'skipped';
      // A conflict counts as a failure too, because a webhook can return one. If another client wrote the object, the
      // next list shows its new version.
      this.#signal.throwIfAborted();
      const { group, version, kind } = type;
      const object = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace } };
      const reference = describeObject(object as KubernetesObject);
      this.#logger.warn(`${reference} is not migrated yet`, { error });
      return 'failed';
    }
  }

  /** @returns false if the spec of the definition has changed meanwhile */
  async #finish({ stamp }: Beginning): Promise<boolean> {
    const crd = await this.#definition();
    if (stampOf(crd) !== stamp) return false;
    const storage = storageOf(crd);
    const { name = '', resourceVersion } = crd.metadata;
    const body = { metadata: { resourceVersion }, status: { storedVersions: [storage] } };
    const written = await this.#patch<CustomResourceDefinition>(
      CustomResourceDefinition,
      { name },
      body,
      'status',
    );
    this.#logger.info('storage migration finished', { storage });
    await this.#annotate(written, null);
    return true;
  }
}

function storageOf({ spec }: CustomResourceDefinition): string {
  return spec.versions.find(({ storage }) => storage)?.name ?? '';
}

/**
 * Returns the storage version with the generation, which changes with the spec only. The version alone is not
 * enough: after a rollback and another upgrade it is the same, but objects were stored in the old one meanwhile.
 */
function stampOf(crd: CustomResourceDefinition): string {
  return `${storageOf(crd)}/${crd.metadata.generation ?? 0}`;
}

/**
 * Returns the recorded beginning of a migration; undefined if none is recorded for the current spec of the definition.
 */
function beginningOf(crd: CustomResourceDefinition): Beginning | undefined {
  const [stamp = '', text = ''] = (crd.metadata.annotations?.[annotation] ?? '').split(' ');
  if (stamp !== stampOf(crd)) return undefined;
  return { stamp, since: versionNumber(text) };
}

/** Whether the object is gone. The 404 of a version that is not served does not name the object. */
function isObjectGone(error: unknown, { group, plural }: MigratedKind, name: string): boolean {
  if (!isNotFound(error)) return false;
  const { details } = (error as ApiError).body;
  return details?.name === name && details.kind === plural && details.group === group;
}

function isLater({ resourceVersion = '' }: ObjectMeta, since: bigint | undefined): boolean {
  const own = versionNumber(resourceVersion);
  return own !== undefined && since !== undefined && own > since;
}

/** Resource versions of API servers are numbers of one sequence; others can't be compared. */
function versionNumber(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}

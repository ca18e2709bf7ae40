import { FieldErrors } from '../../crd/internal.js';
import { deepEqual, isJsonObject, groupOf, versionOf } from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { DecodeError, Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import type { WebhookAddress } from '../outside/webhook-client.js';
import type { Question } from '../outside/outside.js';
import { validateAnnotations, validateLabels } from '../rules/metadata.js';
import type { ServerCore } from '../server-core.js';
import { aggregated, internalFailure } from '../status-error.js';

/** The result of a conversion: the converted objects, or the failure. */
type Outcome = { readonly objects: readonly UnstructuredObject[] } | { readonly failure: string };

/**
 * Thrown for an object without a cached conversion, while a watch serialises it. The watch must
 * await the conversion.
 */
export class Unconverted extends Error {
  /** Requests the conversion. Never rejects. */
  readonly convert: () => Promise<void>;

  constructor(convert: () => Promise<void>) {
    super('the object must be converted first');
    this.convert = convert;
  }
}

/** The time-out of the real server for conversion webhooks. */
const timeoutMs = 30_000;

/** Converts custom resources between versions by the webhook of their CRD. */
export class WebhookConverter {
  readonly #core: ServerCore;
  readonly #address: WebhookAddress;
  readonly #reviewVersion: string;
  // Stored objects never change, so every list and watch can use the cached conversions.
  readonly #converted = new Map<string, WeakMap<UnstructuredObject, UnstructuredObject | string>>();

  constructor(core: ServerCore, address: WebhookAddress, reviewVersions: readonly string[]) {
    this.#core = core;
    this.#address = address;
    const known = reviewVersions.find((one) => one === 'v1' || one === 'v1beta1');
    this.#reviewVersion = known ?? 'v1';
  }

  /**
   * Converts `object` to another version of its kind.
   * @throws StatusError 500: the webhook failed, or its response is invalid.
   */
  convert(object: UnstructuredObject, apiVersion: string): UnstructuredObject {
    if (object.apiVersion === apiVersion) return object;
    if (this.#core.outside.active) return this.#convertAll([object], apiVersion)[0] ?? object;
    const conversions = this.#knownOf(apiVersion);
    const known = conversions.get(object);
    if (known === undefined) throw new Unconverted(() => this.fetch([object], apiVersion));
    if (typeof known !== 'string') return known;
    // A failure ends one watch. The next watch calls the webhook again, which may work by then.
    conversions.delete(object);
    throw internalFailure(known);
  }

  /** Returns the conversion that {@link prepare} or {@link fetch} has stored; undefined if neither has. */
  known(object: UnstructuredObject, apiVersion: string): UnstructuredObject | undefined {
    if (object.apiVersion === apiVersion) return object;
    const known = this.#knownOf(apiVersion).get(object);
    return typeof known === 'string' ? undefined : known;
  }

  /** Converts many objects in one call, for a list within a request. */
  prepare(objects: readonly UnstructuredObject[], apiVersion: string): void {
    const others = objects.filter((object) => object.apiVersion !== apiVersion);
    if (others.length === 0) return;
    const converted = this.#convertAll(others, apiVersion);
    const known = this.#knownOf(apiVersion);
    for (const [index, object] of others.entries()) known.set(object, converted[index] ?? object);
  }

  /** Converts many objects in one call, for a watch. Never rejects. */
  async fetch(objects: readonly UnstructuredObject[], apiVersion: string): Promise<void> {
    const known = this.#knownOf(apiVersion);
    const isOpen = (one: UnstructuredObject): boolean => typeof known.get(one) !== 'object';
    const others = objects.filter((one) => one.apiVersion !== apiVersion && isOpen(one));
    if (others.length === 0) return;
    const outcome = await this.#question(others, apiVersion).ask();
    for (const [index, object] of others.entries()) {
      const converted =
        'failure' in outcome ? outcome.failure : restored(object, outcome.objects[index]);
      known.set(object, converted);
    }
  }

  #convertAll(objects: readonly UnstructuredObject[], apiVersion: string): UnstructuredObject[] {
    const [outcome] = this.#core.outside.answers([this.#question(objects, apiVersion)]);
    if (outcome === undefined || 'failure' in outcome)
      throw internalFailure(outcome?.failure ?? '');
    return objects.map((object, index) => restored(object, outcome.objects[index]));
  }

  #question(objects: readonly UnstructuredObject[], apiVersion: string): Question<Outcome> {
    const key = `convert ${apiVersion} ${JSON.stringify(objects.map(lasting))}`;
    return { key, ask: () => this.#ask(objects, apiVersion) };
  }

  async #ask(objects: readonly UnstructuredObject[], desiredAPIVersion: string): Promise<Outcome> {
    const [first] = objects;
    const from = first?.apiVersion ?? '';
    const kind = `${groupOf(from)}/${versionOf(from)}, Kind=${first?.kind ?? ''}`;
    const webhook = `conversion webhook for ${kind}`;
    const uid = this.#core.systemRandom.uuid();
    const apiVersion = `apiextensions.k8s.io/${this.#reviewVersion}`;
    const request = { uid, desiredAPIVersion, objects };
    const body = { kind: 'ConversionReview', apiVersion, request };
    const answer = await this.#core.webhookClient.call({ address: this.#address, body, timeoutMs });
    if ('failure' in answer) return { failure: `${webhook} failed: ${answer.failure}` };
    const converted = readResponse(answer.body, { uid, apiVersion });
    if (typeof converted === 'string') return { failure: `${webhook} failed: ${converted}` };
    if (converted.length !== objects.length) {
      const counts = `returned ${converted.length} objects, expected ${objects.length}`;
      return { failure: `${webhook} ${counts}` };
    }
    for (const [index, object] of objects.entries()) {
      const why = problemOf(object, converted[index], desiredAPIVersion);
      if (why !== undefined) return { failure: `${webhook} ${why(objects.length > 1, index)}` };
    }
    return { objects: converted as UnstructuredObject[] };
  }

  #knownOf(apiVersion: string): WeakMap<UnstructuredObject, UnstructuredObject | string> {
    const known =
      this.#converted.get(apiVersion) ??
      new WeakMap<UnstructuredObject, UnstructuredObject | string>();
    this.#converted.set(apiVersion, known);
    return known;
  }
}

/** Returns the parts of an object on which a conversion may depend. The server sets the rest of the metadata. */
function lasting(object: UnstructuredObject): unknown {
  const { name, namespace, uid, labels, annotations } = metadataOf(object);
  return { ...object, metadata: { name, namespace, uid, labels, annotations } };
}

/** Returns the metadata of an object. An object that an apply is changing may lack metadata. */
function metadataOf({ metadata }: Partial<UnstructuredObject>): ObjectMeta {
  return metadata ?? {};
}

/** The `ConversionReview` request that a response belongs to. */
interface AskedReview {
  readonly uid: string;
  readonly apiVersion: string;
}

/**
 * Reads the response of a conversion webhook.
 * @returns the converted objects, or a string with the problem
 */
function readResponse(body: unknown, asked: AskedReview): readonly unknown[] | string {
  try {
    return convertedObjectsOf(body, asked);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/** @throws DecodeError a member of the response has another type. */
function convertedObjectsOf(body: unknown, asked: AskedReview): readonly unknown[] | string {
  const { kind = '', apiVersion = '', response } = decodedReview(body);
  const strict = asked.apiVersion.endsWith('/v1');
  if (strict && (kind !== 'ConversionReview' || apiVersion !== asked.apiVersion)) {
    const got = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    return `expected webhook response of ${asked.apiVersion}, Kind=ConversionReview, got ${got}`;
  }
  if (response === undefined) return 'no response provided';
  const { uid, result, convertedObjects } = response;
  if (strict && uid !== asked.uid) {
    return `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(uid)}`;
  }
  const { status = '', message = '' } = result;
  if (status !== 'Success') {
    return message === '' ? `response.result.status was '${status}', not 'Success'` : message;
  }
  return convertedObjects ?? [];
}

/** A `ConversionReview` with a response, as Go decodes it. */
interface DecodedReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly response?: {
    readonly uid: string;
    readonly result: { readonly status?: string; readonly message?: string };
    readonly convertedObjects: readonly unknown[] | null;
  };
}

/** @throws DecodeError a member of the response has another type. */
function decodedReview(body: unknown): DecodedReview {
  const type = goType('apiextensions/v1.ConversionReview');
  return type.decode(body ?? {}, new Decoding()) as DecodedReview;
}

type Problem = (listed: boolean, index: number) => string;

function problemOf(
  original: UnstructuredObject,
  given: unknown,
  apiVersion: string,
): Problem | undefined {
  const converted = isJsonObject(given) ? given : {};
  const { apiVersion: version = '', kind = '', metadata } = converted;
  const at = (index: number): string => `object at index ${index}`;
  if (version !== apiVersion) {
    const why = `invalid groupVersion (expected ${apiVersion}, received ${String(version)})`;
    return (listed, index) => `returned invalid ${listed ? 'converted ' : ''}${at(index)}: ${why}`;
  }
  if (kind !== original.kind) {
    const why = `invalid kind (expected ${original.kind}, received ${String(kind)})`;
    return (listed, index) => `returned invalid ${listed ? 'converted ' : ''}${at(index)}: ${why}`;
  }
  const changed = changedIdentity(metadataOf(original), isJsonObject(metadata) ? metadata : {});
  if (changed !== undefined) {
    return (listed, index) =>
      `returned invalid ${listed ? `converted ${at(index)}` : 'object'}: ${changed}`;
  }
  const wrong = metadataProblem(metadataOf(original), metadata);
  if (wrong === undefined) return undefined;
  return (listed, index) =>
    `returned invalid metadata${listed ? ` in ${at(index)}` : ''}: ${wrong}`;
}

function changedIdentity(
  original: ObjectMeta,
  converted: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const member of ['name', 'namespace', 'uid'] as const) {
    const { [member]: was = '' } = original;
    const { [member]: is = '' } = converted;
    if (was === is) continue;
    return `must have the same ${member === 'uid' ? 'UID' : member}: ${was} != ${String(is)}`;
  }
  return undefined;
}

type Texts = Readonly<Record<string, string>>;

function metadataProblem(original: ObjectMeta, metadata: unknown): string | undefined {
  if (metadata === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(metadata))
    return `invalid metadata of type ${dynamicType(metadata)} in converted object`;
  for (const field of ['labels', 'annotations'] as const) {
    const { [field]: values } = metadata;
    if (values === undefined || values === null) continue;
    if (!isJsonObject(values)) {
      return `invalid metadata.${field} of type ${dynamicType(values)} in converted object`;
    }
    for (const [key, value] of Object.entries(values)) {
      if (typeof value === 'string') continue;
      return `metadata.${field}[${key}] must be a string, but is ${dynamicType(value)} in converted object`;
    }
    if (deepEqual(values, original[field] ?? {})) continue;
    const errors = new FieldErrors();
    if (field === 'labels') validateLabels(metadata.labels as Texts, errors.at('metadata.labels'));
    // The real server writes `metadata.annotation` here, without an `s`.
    else validateAnnotations(metadata.annotations as Texts, errors.at('metadata.annotation'));
    if (!errors.empty) {
      return aggregated(errors.causes.map(({ field: at, message }) => `${at}: ${message}`));
    }
  }
  return undefined;
}

function dynamicType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'object' ? 'map[string]interface {}' : 'string';
}

/**
 * Restores the original metadata of a converted object except labels and annotations, the only ones
 * that a webhook may change.
 */
function restored(
  original: UnstructuredObject,
  converted: UnstructuredObject | undefined,
): UnstructuredObject {
  if (converted === undefined) return original;
  const { labels, annotations } = converted.metadata;
  const metadata = { ...original.metadata };
  for (const [field, values] of Object.entries({ labels, annotations })) {
    const some = (values as unknown) !== undefined && (values as unknown) !== null;
    if (some) Object.assign(metadata, { [field]: values });
    else Reflect.deleteProperty(metadata, field);
  }
  return { ...converted, metadata };
}

import type { Names } from '../recorded-server/comparable.js';
import { isCollection } from './scenario.js';
import type { Request } from './scenario.js';

/**
 * Gives names to the uids and versions of a scenario. `VERSION-3.1` is the first of the versions that are new in the
 * answer to request 3. The names on two servers are equal only if each value is new, repeated or later on both. A name
 * depends only on the first answer with the value, so that one difference does not rename later values.
 *
 * Three kinds of values stay constant, because a real server does not determine them:
 * - Versions of lists and bookmarks are those of the whole store, which other scenarios write to. They are
 *   compared with the versions that they must have reached: see {@link versionsInPlace}.
 * - Versions of kinds with a status that a controller of the real API server writes in the background. Such a
 *   controller owns the time of a condition only if two of its writes fall into different seconds.
 * - Times have a resolution of one second: two writes have equal times or not. Only times that a request
 *   sent are kept; a deletion must not be due before its grace period.
 */
export class ScenarioNames implements Names {
  readonly isWhole = true;
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  #answer = 0;
  #inAnswer = 0;

  /** Begins the next answer, and returns its names. */
  next({ path }: Request): Names {
    this.#answer++;
    this.#inAnswer = 0;
    if (!writtenByServer.test(path)) return this;
    const version = (given: string): string => (isVersion(given) ? 'VERSION' : given);
    return {
      uid: (uid) => this.uid(uid),
      version,
      time: (time) => this.time(time),
      token: (token) => this.token(token),
      isWhole: true,
    };
  }

  uid(uid: string): string {
    const name = this.#uids.get(uid) ?? this.#name('UID');
    this.#uids.set(uid, name);
    return name;
  }

  /** Returns the name of a version. To a new version that is not the latest, it adds the name of the next later one. */
  version(version: string): string {
    if (!isVersion(version)) return version;
    const known = this.#versions.get(version);
    if (known !== undefined) return known;
    const name = this.#name('VERSION');
    const later = [...this.#versions.keys()].filter((other) => isBefore(version, other));
    this.#versions.set(version, name);
    const [next] = later.sort((one, other) => (isBefore(one, other) ? -1 : 1));
    return next === undefined ? name : `${name} before ${this.#versions.get(next) ?? ''}`;
  }

  #name(kind: 'UID' | 'VERSION'): string {
    return `${kind}-${this.#answer}.${++this.#inAnswer}`;
  }

  time(time: string): string {
    return Math.abs(Date.parse(time) - Date.now()) < day ? 'TIME' : time;
  }

  token(token: string): string {
    return token;
  }

  /** Returns the latest version seen, if there is one. */
  latest(): string | undefined {
    return latestOf([...this.#versions.keys()]);
  }
}

const day = 24 * 3600 * 1000;

/** Collections whose objects a real API server writes in the background. */
const writtenByServer =
  /\/(?:customresourcedefinitions|apiservices|flowschemas|prioritylevelconfigurations)\b/;

/** Parts of an object, a list, a table, an event, or an answer. */
interface Members {
  readonly kind?: unknown;
  readonly type?: unknown;
  readonly object?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/**
 * Returns an answer's body in which versions of the whole store, tokens of pages and times of deletions are
 * replaced by what is equal on two servers: their relation to other versions and times.
 */
export function versionsInPlace(body: unknown, request: Request, names: ScenarioNames): unknown {
  const collection = isCollection(request.path) ? listBounds(request, names) : undefined;
  const stable = writtenByServer.test(request.path) ? withoutOwnedTimes(body) : body;
  return inPlace(stable, { collection, seen: [] });
}

function withoutOwnedTimes(body: unknown): unknown {
  const text = JSON.stringify(body, (name, value: unknown) =>
    name === 'f:lastTransitionTime' ? undefined : value,
  );
  return JSON.parse(text);
}

/** The versions that the versions in an answer must have reached. */
interface Place {
  /** Undefined if the request reads one object. */
  readonly collection: ListBounds | undefined;
  /** Versions of the previous events, which a bookmark must have reached. */
  readonly seen: string[];
}

interface ListBounds {
  /** The version that the list must have. */
  readonly exact?: string | undefined;
  /** The version that the list must have reached. */
  readonly least?: string | undefined;
}

function listBounds({ path }: Request, names: ScenarioNames): ListBounds {
  const query = new URL(path, 'http://localhost').searchParams;
  const asked = query.get('resourceVersion') ?? '';
  const token = query.get('continue');
  const page = token === null ? undefined : decodedToken(token);
  if (page !== undefined) return page.rv > 0 ? { exact: String(page.rv) } : {};
  if (query.get('resourceVersionMatch') === 'Exact') return { exact: asked };
  return { least: asked === '' ? names.latest() : asked };
}

function inPlace(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) return value.map((item) => inPlace(item, place));
  if (!isMembers(value)) return value;
  const { type, object } = value;
  if (type === 'BOOKMARK' && isMembers(object)) {
    const least = latestOf(place.seen);
    return { ...value, object: withVersion(object, storeVersion(object, { least })) };
  }
  if (typeof type === 'string' && isMembers(object)) {
    // In an event, a table is not a list: its version is that of its row.
    const event = inPlace(object, { ...place, collection: undefined });
    place.seen.push(...versionsOf(object));
    return { ...value, object: event };
  }
  const { items, rows } = value;
  const { collection } = place;
  const below = { ...place, collection: undefined };
  const inner = {
    ...value,
    ...(items !== undefined && { items: inPlace(items, below) }),
    ...(rows !== undefined && { rows: inPlace(rows, below) }),
  };
  const isList = items !== undefined || rows !== undefined;
  if (collection === undefined || !isList) return withDeletionTime(inner);
  const version = storeVersion(value, collection);
  return withToken(withVersion(inner, version), value.metadata?.['resourceVersion']);
}

function versionsOf({ metadata, rows }: Members): string[] {
  const own = metadata?.['resourceVersion'];
  const inner = Array.isArray(rows)
    ? rows.flatMap((row: Members) => (isMembers(row.object) ? versionsOf(row.object) : []))
    : [];
  return typeof own === 'string' && isVersion(own) ? [own, ...inner] : inner;
}

function storeVersion({ metadata }: Members, { exact, least }: ListBounds): string | undefined {
  const version = metadata?.['resourceVersion'];
  if (typeof version !== 'string' || !isVersion(version)) return undefined;
  if (exact !== undefined) return version === exact ? 'REQUESTED-VERSION' : 'OTHER-VERSION';
  const isOld = least !== undefined && isVersion(least) && isBefore(version, least);
  return isOld ? 'EARLIER-VERSION' : 'STORE-VERSION';
}

function withVersion(object: Members, resourceVersion: string | undefined): Members {
  if (resourceVersion === undefined) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** Shows where the next page starts, and whether its token names the version of this list. */
function withToken(list: Members, version: unknown): Members {
  const token = list.metadata?.['continue'];
  const page = typeof token === 'string' ? decodedToken(token) : undefined;
  if (page === undefined) return list;
  const same = String(page.rv) === version ? 'same version' : 'other version';
  return { ...list, metadata: { ...list.metadata, continue: `from ${page.start} at the ${same}` } };
}

function decodedToken(token: string): { readonly rv: number; readonly start: string } | undefined {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as { rv: number; start: string };
  } catch {
    return undefined;
  }
}

/** Shows a deletion that is due before its grace period ends. */
function withDeletionTime(object: Members): Members {
  const { metadata } = object;
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
  if (typeof creationTimestamp !== 'string' || typeof deletionTimestamp !== 'string') return object;
  const grace = Number(deletionGracePeriodSeconds ?? 0) * 1000;
  const isEarly = Date.parse(deletionTimestamp) < Date.parse(creationTimestamp) + grace;
  return isEarly ? { ...object, metadata: { ...metadata, deletionTimestamp: 'EARLY' } } : object;
}

function isVersion(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}

function isBefore(version: string, other: string): boolean {
  return BigInt(version) < BigInt(other);
}

function latestOf(versions: readonly string[]): string | undefined {
  return versions.reduce<string | undefined>(
    (latest, version) => (latest === undefined || isBefore(latest, version) ? version : latest),
    undefined,
  );
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

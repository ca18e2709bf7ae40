import { isJsonObject } from '../../object/index.js';
import type { ListMeta, UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { jsonProblem } from '../requests/json-text.js';
import type { ServerCore } from '../server-core.js';
import { badRequest, expired } from '../status-error.js';
import type { Collection } from '../storage/mvcc-log.js';
import { checkListOptions, checkNotFuture, parseRevision } from './selection.js';
import type { ListOptions, Selection } from './selection.js';

interface Page {
  readonly metadata: ListMeta;
  /** Stored objects in key order. */
  readonly items: readonly UnstructuredObject[];
}

/**
 * Lists a collection or a page of it. All pages of a list show one snapshot, which must still be in
 * the log.
 * @throws StatusError 400, 410, 422 or 504.
 */
export function listObjects(
  core: ServerCore,
  kind: ServedKind,
  request: { readonly selection: Selection; readonly options: ListOptions },
): Page {
  const { selection, options } = request;
  checkListOptions(options, false);
  const { log } = core;
  const token = options.continue === '' ? undefined : continueToken(options);
  if (token !== undefined) checkNotFuture(log, token.revision);
  const wanted = token?.revision ?? wantedRevision(core, options);
  const revision = wanted === undefined || wanted < 0 ? log.revision : wanted;
  if (revision < log.compactedRevision) throw tooOld(token);
  const collection = log.collection(kind.collection);
  // Version 0 accepts any state: the real server answers with its whole cache then.
  const limit = options.resourceVersion === '0' ? 0 : Math.max(0, options.limit);
  const source = { collection, revision, current: log.revision };
  const { prefix } = selection;
  const after = token && prefix + token.after.replace(/^\//, '');
  const page = collect(source, kind, { selection, limit, after });
  const metadata: ListMeta = { resourceVersion: String(revision) };
  if (page.more > 0) {
    metadata.continue = encodeContinue({ revision, after: `/${page.last.slice(prefix.length)}` });
    // With selectors, the number of remaining objects is unknown.
    if (selection.all) metadata.remainingItemCount = page.more;
  }
  return { metadata, items: page.items };
}

function wantedRevision(core: ServerCore, options: ListOptions): number | undefined {
  const { resourceVersion, resourceVersionMatch, limit } = options;
  if (resourceVersion === '' || resourceVersion === '0') return undefined;
  const revision = parseRevision(resourceVersion, 'list');
  checkNotFuture(core.log, revision);
  // A limit without `resourceVersionMatch` means an exact version: the first clients with paging expect that.
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0);
  return exact ? revision : undefined;
}

function tooOld(token: ContinueToken | undefined): Error {
  if (token === undefined) {
    return expired('The resourceVersion for the provided list is too old.');
  }
  // The client can list the remaining objects without the snapshot.
  const rest = encodeContinue({ ...token, revision: -1 });
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    rest,
  );
}

interface Source {
  readonly collection: Collection;
  readonly revision: number;
  readonly current: number;
}

interface Window {
  readonly selection: Selection;
  readonly limit: number;
  /** The last key of the previous page. */
  readonly after: string | undefined;
}

function collect(
  source: Source,
  { conversions }: ServedKind,
  { selection, limit, after }: Window,
): { items: UnstructuredObject[]; more: number; last: string } {
  const items: UnstructuredObject[] = [];
  let last = '';
  let seen = 0;
  const keys = keysAt(source, selection.prefix, after);
  if (selection.converts && conversions !== undefined) {
    const objects = [...objectsAt(source, keys)].flatMap(([, object]) => object ?? []);
    // Convert the objects of this page and of all later pages in one call of the webhook.
    conversions.prepare(objects.filter((object) => conversions.known(object) === undefined));
  }
  for (const [key, object] of objectsAt(source, keys)) {
    if (limit > 0 && items.length === limit) break;
    seen++;
    if (object === undefined || !selection.matches(object)) continue;
    items.push(object);
    last = key;
  }
  return { items, last, more: keys.length - seen };
}

function keysAt(
  { collection, revision, current }: Source,
  prefix: string,
  after: string | undefined,
): readonly string[] {
  const from = after === undefined ? '' : `${after}\u0000`;
  const keys = collection.keys(prefix, from);
  if (revision === current) return keys;
  const before = collection.differencesAt(revision);
  if (before.size === 0) return keys;
  const existed = (key: string): boolean => !before.has(key) || before.get(key) !== undefined;
  const gone = [...before].filter(
    ([key, object]) =>
      object !== undefined &&
      collection.get(key) === undefined &&
      key.startsWith(prefix) &&
      key >= from,
  );
  return [...keys.filter(existed), ...gone.map(([key]) => key)].sort();
}

function* objectsAt(
  { collection, revision, current }: Source,
  keys: readonly string[],
): Generator<[string, UnstructuredObject | undefined]> {
  const before = revision === current ? undefined : collection.differencesAt(revision);
  for (const key of keys) {
    const changed = before?.has(key) === true;
    yield [key, changed ? before.get(key) : collection.get(key)];
  }
}

/** The position at which a list continues. */
interface ContinueToken {
  /**
   * The revision of the snapshot that all pages show; negative if the next page shows the state at that time.
   */
  readonly revision: number;
  /**
   * The last key of the previous page, without the namespace that the list has in its path. The real server
   * puts a slash in front, and accepts keys without one.
   */
  readonly after: string;
}

/** Encodes a token in the real server's format, which is opaque to clients. */
function encodeContinue({ revision, after }: ContinueToken): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/**
 * Returns the token of a list that continues.
 * @throws StatusError 400: it is not a token of this server, or the request also has a `resourceVersion`.
 */
function continueToken({ continue: text, resourceVersion }: ListOptions): ContinueToken {
  const token = decodeContinue(text);
  if (resourceVersion === '' || resourceVersion === '0') return token;
  throw badRequest('specifying resource version is not allowed when using continue');
}

function decodeContinue(sent: string): ContinueToken {
  // Go ignores the ends of lines.
  const text = sent.replaceAll(/[\r\n]/g, '');
  const invalid = invalidBase64At(text);
  if (invalid !== undefined) {
    const why = `illegal base64 data at input byte ${invalid}`;
    throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
  }
  const json = Buffer.from(text, 'base64url').toString('utf8');
  let token: unknown;
  try {
    token = JSON.parse(json);
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: ${jsonProblem(json)}`);
  }
  if (!isJsonObject(token) || token['v'] !== 'meta.k8s.io/v1') {
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || typeof start !== 'string' || !start.endsWith('\u0000')) {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  if (rv === 0) {
    const why = 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)';
    throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
  }
  return { revision: rv, after: start.slice(0, -1) };
}

/** Returns the index of the first byte that is invalid in base64url without padding. */
function invalidBase64At(text: string): number | undefined {
  const foreign = text.search(/[^\w-]/);
  if (foreign >= 0) return foreign;
  // One character alone has too few bits for a byte.
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

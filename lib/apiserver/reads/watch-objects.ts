import type { UnstructuredObject } from '../../object/index.js';
import { apiVersionOf } from '../../object/index.js';
import type { KindRegistry, ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { objectToProtobuf } from '../protobuf/objects.js';
import { expired } from '../status-error.js';
import { readable, represent } from './representation.js';
import type { SerializedObjects, View } from './representation.js';
import { checkListOptions, parseRevision } from './selection.js';
import type { ListOptions, Selection } from './selection.js';
import { WatchStream } from './watch-stream.js';
import type { WatchFormat } from './watch-stream.js';

/** The selected objects and the options of a watch. */
interface WatchRequest {
  readonly view: View;
  readonly selection: Selection;
  readonly options: ListOptions;
  readonly serialized: SerializedObjects;
  /** The latest end of the watch, in milliseconds since 1970; undefined: only its time-out ends it. */
  readonly untilMs: number | undefined;
  /** Returns how often to send the event of a changed object. */
  readonly copiesOf: (object: UnstructuredObject) => number;
}

const shortestTimeoutMs = 1_800_000;

/**
 * Starts a watch. Without a version, or if `sendInitialEvents` requests it, the watch starts with
 * the existing objects; otherwise it starts with the first change after the version.
 * @throws StatusError 400, 422, or 500 for a malformed version.
 */
export function watchObjects(request: WatchRequest): WatchStream {
  const { view, selection, options } = request;
  const { core, kind } = view;
  checkListOptions(options, true);
  const { log, clock, alarms, random, bookmarkEveryMs } = core;
  const collection = log.collection(kind.collection);
  const revision =
    options.resourceVersion === '' ? 0 : parseRevision(options.resourceVersion, 'other');
  // Without a version, a watch starts with the existing objects unless the client opts out.
  const fromState = options.sendInitialEvents ?? revision === 0;
  const past = revision !== 0 && !fromState;
  // The revision is from an earlier server process whose revisions were higher, for example because its clock was
  // ahead. A watch that waited for this revision would omit all changes before it.
  const isForeign = past && log.firstRevision > 1 && revision > log.revision;
  const { timeoutSeconds } = options;
  return new WatchStream({
    collection,
    selection,
    ...{ clock, alarms },
    format: formatOf(request, isForeign ? `too large resource version: ${revision}` : undefined),
    copiesOf: request.copiesOf,
    revision: () => log.revision,
    initial: fromState ? existing(request) : [],
    position: past ? collection.positionAfter(revision) : collection.end,
    compacted: isForeign || (past && revision < oldestOf(core, kind)),
    endOfInitialEvents: fromState && options.allowWatchBookmarks ? log.revision : undefined,
    bookmarkEveryMs: options.allowWatchBookmarks ? bookmarkEveryMs : undefined,
    timeoutMs: Math.min(
      timeoutSeconds === undefined || timeoutSeconds <= 0
        ? // Whole milliseconds: a virtual clock cannot reach every fraction, and would stand still just before it.
          Math.ceil(shortestTimeoutMs * (1 + random.next()))
        : timeoutSeconds * 1000,
      (request.untilMs ?? Infinity) - clock.now(),
    ),
  });
}

/** Returns the oldest revision from which a watch can continue. */
function oldestOf({ log }: ServerCore, { custom }: ServedKind): number {
  return Math.max(log.compactedRevision, custom?.since ?? 0);
}

function existing({ view, selection }: WatchRequest): readonly UnstructuredObject[] {
  const collection = view.core.log.collection(view.kind.collection);
  const keys = collection.keys(selection.prefix);
  const objects = keys.map((key) => collection.get(key)).filter((object) => object !== undefined);
  if (selection.converts) view.kind.conversions?.prepare(objects);
  return objects.filter(selection.matches);
}

/** @param problem - why the watch can't start. @defaultValue the version is too old */
function formatOf({ view, serialized, options }: WatchRequest, problem?: string): WatchFormat {
  const { kind, core } = view;
  // Only whole objects have the same text for all watchers, so only they are cached.
  const shared = view.representation === 'object';
  const { encoding } = view;
  const encoded = (stored: UnstructuredObject): Uint8Array => {
    const object = readable(kind, stored);
    if (shared) return serialized.protobuf(object);
    return objectToProtobuf(represent(view, object) as UnstructuredObject);
  };
  let first = true;
  // Cache the last bookmark: most minutes have no change.
  let last: { readonly revision: number; readonly end: boolean; readonly text: string } | undefined;
  return {
    object: (stored) => {
      const object = readable(kind, stored);
      if (shared) return serialized.json(object);
      const text = JSON.stringify(represent(view, object, first));
      first = false;
      return text;
    },
    ...(encoding === 'protobuf' && { protobuf: encoded }),
    ...(shared && { shared: (stored: UnstructuredObject) => readable(kind, stored) }),
    bookmark: (revision, end) => {
      if (last?.revision === revision && last.end === end) return last.text;
      const text = JSON.stringify(represent(view, bookmark(kind, revision, end)));
      last = { revision, end, text };
      return text;
    },
    ...(kind.conversions && { prepare: (stored) => kind.conversions?.fetch(stored) }),
    tooOld: () => {
      const asked = options.resourceVersion === '' ? '0' : options.resourceVersion;
      const tooOld = `too old resource version: ${asked} (${oldestOf(core, kind)})`;
      const { body } = expired(
        problem === undefined ? tooOld : `${problem} (${core.log.revision})`,
      );
      return JSON.stringify(body);
    },
  };
}

function bookmark(kind: ServedKind, revision: number, end: boolean): UnstructuredObject {
  const { type } = kind;
  const empty = kind.custom === undefined ? kind.decode({}).object : {};
  return {
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    ...empty,
    metadata: {
      resourceVersion: String(revision),
      ...(end ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  };
}

/** The open watches. When a kind is replaced or removed, its watches send the last changes and end. */
export class OpenWatches {
  readonly #streams = new Map<WatchStream, ServedKind>();

  constructor(kinds: KindRegistry) {
    kinds.subscribe(() => {
      for (const [stream, kind] of this.#streams) {
        const { group, version, plural } = kind.type;
        if (kinds.find(group, version, plural) !== kind) stream.finish();
      }
    });
  }

  /** The number of open watches. */
  get size(): number {
    return this.#streams.size;
  }

  /** Tracks `stream` until it ends. */
  add(stream: WatchStream, kind: ServedKind): void {
    this.#streams.set(stream, kind);
    stream.onceEnded(() => this.#streams.delete(stream));
  }

  /** Ends all watches immediately, without their remaining changes. */
  end(): void {
    for (const stream of [...this.#streams.keys()]) stream.end();
  }
}

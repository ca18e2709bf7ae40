import { hashObject } from '../hash/hash-object.js';
import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyString } from '../object/object-key.js';
import type { ObjectReference } from '../object/object-reference.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { Resolved } from '../system/resolved.js';

/** When a key counts as a hot loop. */
export interface HotLoopOptions {
  /**
   * So many writes of one object within `windowMs` are fine that leave it as one of the last two
   * has left it; at least 1. Two controllers that fight, or one that changes its mind, make no others.
   * @defaultValue 10
   */
  readonly maxRepeats?: number | undefined;
  /**
   * So many writes of one object within `windowMs` are fine, whatever they change; at least 1. A
   * status that counts pods takes many, one that holds the time of day takes all it can get.
   * @defaultValue 120
   */
  readonly maxWrites?: number | undefined;
  /** In milliseconds, at least 1. @defaultValue 60_000 */
  readonly windowMs?: number | undefined;
  /** The first wait of a key that is too busy, in milliseconds; each write that is still too many doubles it. @defaultValue 1_000 */
  readonly baseDelayMs?: number | undefined;
  /** The longest wait, in milliseconds. @defaultValue 60_000 */
  readonly maxDelayMs?: number | undefined;
}

/** A key keeps writing one object. Values are left out: they may be secret. */
export interface HotLoop {
  /** The key that is reconciled. */
  readonly key: string;
  /** What it keeps writing. */
  readonly object: ObjectReference;
  readonly writesPerMinute: number;
  /** What the last write changed, for example `spec.replicas`; empty: nothing that we can see. */
  readonly paths: readonly string[];
  /** The field managers of the object, the most recent first: who the other side may be. */
  readonly managers: readonly string[];
  /** How long the key has to wait now between two reconciles, in milliseconds. */
  readonly delayMs: number;
}

/** One write, as the detector sees it. */
export interface WriteSample {
  /** The key that is reconciled. */
  readonly key: string;
  readonly type: TypeReference<KubernetesObject>;
  /** What was written. */
  readonly target: ObjectKey;
  /** The object before the write, as far as it is known. */
  readonly before: KubernetesObject | undefined;
  /** The object after the write; undefined: it is gone. */
  readonly after: KubernetesObject | undefined;
}

/** The writes of one object by one key. */
interface Track {
  readonly id: string;
  readonly key: string;
  /** When the last writes were, the oldest first; one more than are fine. */
  readonly writesMs: number[];
  /** When those of them were that brought nothing new. */
  readonly repeatsMs: number[];
  /** Hashes of what the last two writes left, the newest first; `''`: the object was deleted. */
  left: readonly string[];
  /** What the last write left, kept only where the next may have to be reported. */
  last?: KubernetesObject | undefined;
  /** The UID and resourceVersion that the last write left, where it has them. */
  version?: string | undefined;
  /** How long the key has to wait; 0 as long as it is not too busy. */
  delayMs: number;
  /** When `delayMs` was changed last. */
  changedMs: number;
  reportedMs: number;
  report?: HotLoop;
}

/** So many objects are observed; those written longest ago are forgotten first. */
const maxTracks = 10_000;

/**
 * Finds keys that keep writing one object: two controllers that undo each other's changes, or one
 * that never finds the object as it wants it. Such a key has to wait longer and longer; a window
 * after it has calmed down its wait is halved by a write, and it is left alone again as soon as that
 * is less than the first, or it has not written the object for five windows.
 *
 * A write that leaves the object as it was, `resourceVersion` included, is none: it makes no event.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #options: Resolved<HotLoopOptions>;
  readonly #calmAfterMs: number;
  /** By id; what was written last stands last. */
  readonly #tracks = new Map<string, Track>();
  /** The tracks that slow a key down, by key. */
  readonly #hot = new Map<string, Set<Track>>();

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(clock: Clock, options: HotLoopOptions = {}) {
    this.#clock = clock;
    this.#options = resolveHotLoopOptions(options);
    this.#calmAfterMs = 5 * this.#options.windowMs;
  }

  /** How many objects are observed; what is calm is forgotten. */
  get size(): number {
    this.#forgetCalm(this.#clock.monotonicMs());
    return this.#tracks.size;
  }

  /** Takes a write. @returns what to report: at first, then once in five windows */
  wrote(sample: WriteSample): HotLoop | undefined {
    const nowMs = this.#clock.monotonicMs();
    const { maxRepeats, maxWrites, baseDelayMs, maxDelayMs } = this.#options;
    this.#forgetCalm(nowMs);
    if (this.#changesNothing(sample)) return undefined;
    const track = this.#trackOf(sample);
    const before = sample.before ?? track.last;
    const left = digestOf(sample.after);
    const isRepeat = track.left.includes(left);
    track.left = [left, ...track.left.slice(0, 1)];
    track.version = versionOf(sample.after);
    const isOften = this.#isOften(track.writesMs, nowMs, maxWrites);
    const isInCircles = isRepeat && this.#isOften(track.repeatsMs, nowMs, maxRepeats);
    const { writesMs, repeatsMs } = track;
    const isClose = this.#isClose(writesMs, maxWrites) || this.#isClose(repeatsMs, maxRepeats);
    track.last = isClose ? sample.after : undefined;
    if (!isOften && !isInCircles) {
      this.#calmDown(track, nowMs);
      return undefined;
    }
    this.#slowDown(track, Math.min(Math.max(baseDelayMs, track.delayMs * 2), maxDelayMs));
    track.changedMs = nowMs;
    if (nowMs - track.reportedMs < this.#calmAfterMs) return undefined;
    track.reportedMs = nowMs;
    track.report = hotLoopOf(track, sample, before);
    return track.report;
  }

  /** What slows keys down now, as last reported. */
  all(): HotLoop[] {
    this.#forgetCalm(this.#clock.monotonicMs());
    const found = [...this.#hot.values()].flatMap((tracks) => [...tracks]);
    return found.flatMap(({ report, delayMs }) => (report ? [{ ...report, delayMs }] : []));
  }

  /** How long `key` has to wait before its next reconcile, in milliseconds; 0: it is not too busy. */
  delayMs(key: string): number {
    if (this.#hot.size === 0) return 0;
    this.#forgetCalm(this.#clock.monotonicMs());
    return Math.max(0, ...[...(this.#hot.get(key) ?? [])].map((track) => track.delayMs));
  }

  /** Whether the server has answered with the state that it had before. */
  #changesNothing(sample: WriteSample): boolean {
    const version = versionOf(sample.after);
    if (version === undefined) return false;
    const known = this.#tracks.get(idOf(sample))?.version;
    return version === known || version === versionOf(sample.before);
  }

  #trackOf(sample: WriteSample): Track {
    const { key } = sample;
    const id = idOf(sample);
    const known = this.#tracks.get(id);
    const fresh = { writesMs: [], repeatsMs: [], left: [], delayMs: 0 };
    const track = known ?? { id, key, ...fresh, changedMs: -Infinity, reportedMs: -Infinity };
    this.#tracks.delete(id);
    this.#tracks.set(id, track);
    const [oldest] = this.#tracks.values();
    if (this.#tracks.size > maxTracks && oldest !== undefined) this.#forget(oldest);
    return track;
  }

  /** Notes the time, and says whether there were more than `most` within the window. */
  #isOften(timesMs: number[], nowMs: number, most: number): boolean {
    timesMs.push(nowMs);
    if (timesMs.length > most + 1) timesMs.shift();
    return timesMs.length > most && nowMs - (timesMs[0] ?? nowMs) <= this.#options.windowMs;
  }

  /** Whether one more right now would be too many. */
  #isClose(timesMs: readonly number[], most: number): boolean {
    const firstMs = timesMs.at(-most);
    return firstMs !== undefined && this.#clock.monotonicMs() - firstMs <= this.#options.windowMs;
  }

  /** Halves the wait, once in a window: half of it at each write would let the loop run in bursts. */
  #calmDown(track: Track, nowMs: number): void {
    const { baseDelayMs, windowMs } = this.#options;
    if (track.delayMs === 0 || nowMs - track.changedMs <= windowMs) return;
    track.delayMs /= 2;
    track.changedMs = nowMs;
    if (track.delayMs < baseDelayMs) this.#leaveAlone(track);
  }

  #leaveAlone(track: Track): void {
    track.delayMs = 0;
    const hot = this.#hot.get(track.key);
    hot?.delete(track);
    if (hot?.size === 0) this.#hot.delete(track.key);
  }

  #forget(track: Track): void {
    this.#tracks.delete(track.id);
    this.#leaveAlone(track);
  }

  #slowDown(track: Track, delayMs: number): void {
    track.delayMs = delayMs;
    const hot = this.#hot.get(track.key);
    if (hot === undefined) this.#hot.set(track.key, new Set([track]));
    else hot.add(track);
  }

  #forgetCalm(nowMs: number): void {
    for (const track of this.#tracks.values()) {
      if (nowMs - (track.writesMs.at(-1) ?? nowMs) < this.#calmAfterMs) return;
      this.#forget(track);
    }
  }
}

function hotLoopOf(
  { key, writesMs, delayMs }: Track,
  { type, target, after }: WriteSample,
  before: KubernetesObject | undefined,
): HotLoop {
  const [firstMs = 0, lastMs = 0] = [writesMs[0], writesMs.at(-1)];
  const changes = before === undefined || after === undefined ? [] : differences(before, after);
  return {
    key,
    object: { apiVersion: apiVersionOf(type), kind: type.kind, ...target },
    writesPerMinute: Math.round(((writesMs.length - 1) * 60_000) / Math.max(1, lastMs - firstMs)),
    paths: changes.map(({ path }) => path),
    managers: managersOf(after ?? before),
    delayMs,
  };
}

function differences(one: KubernetesObject, other: KubernetesObject): FieldChange[] {
  return diffObjects(one, other, { ignore: serverSetFields });
}

function idOf({ key, type, target }: WriteSample): string {
  return `${key} ${apiVersionOf(type)} ${type.kind} ${keyString(target)}`;
}

const serverSetMetadata = new Set(serverSetFields.map((path) => path.replace('metadata.', '')));

/** A hash of what anybody but the server has set: to keep the objects themselves takes much memory. */
function digestOf(object: KubernetesObject | undefined): string {
  if (object === undefined) return '';
  const metadata = Object.entries(object.metadata).filter(([name]) => !serverSetMetadata.has(name));
  return hashObject({ ...object, metadata: Object.fromEntries(metadata) });
}

function versionOf(object: KubernetesObject | undefined): string | undefined {
  const { uid = '', resourceVersion = '' } = object?.metadata ?? {};
  return resourceVersion === '' ? undefined : `${uid} ${resourceVersion}`;
}

function managersOf(object: KubernetesObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields ?? [];
  const newestFirst = entries.toSorted((one, other) =>
    (one.time ?? '') < (other.time ?? '') ? 1 : -1,
  );
  return [...new Set(newestFirst.map(({ manager = '' }) => manager))];
}

function resolveHotLoopOptions(options: HotLoopOptions): Resolved<HotLoopOptions> {
  const { maxRepeats = 10, maxWrites = 120, windowMs = 60_000 } = options;
  const { baseDelayMs = 1_000, maxDelayMs = 60_000 } = options;
  const delays = baseDelayMs >= 1 && baseDelayMs <= maxDelayMs;
  if (!(maxRepeats >= 1 && maxWrites >= 1 && windowMs >= 1 && delays)) {
    const got = JSON.stringify({ maxRepeats, maxWrites, windowMs, baseDelayMs, maxDelayMs });
    throw new OperatorError('InvalidOption', `HotLoopDetector: want 1 or more of each, got ${got}`);
  }
  const resolved = { maxRepeats, maxWrites, windowMs, baseDelayMs, maxDelayMs };
  refuseUnknownOptions<HotLoopOptions>('hotLoop', options, resolved);
  return resolved;
}

import { hashObject } from '../hash/index.js';
import { diffObjects, serverSetFields, keyString, apiVersionOf } from '../object/index.js';
import type {
  FieldChange,
  KubernetesObject,
  ObjectKey,
  ObjectReference,
  TypeReference,
} from '../object/index.js';
import type { Clock, OptionNames, Resolved } from '../system/index.js';
import { refuseNonNumbers, refuseUnknownOptions, OperatorError } from '../system/index.js';

/** The limits beyond which a key counts as a hot loop, and its delays. */
export interface HotLoopOptions {
  /**
   * The number of repeating writes of one object allowed within `windowMs`; at least 1. A write repeats if it
   * leaves the object in the state of one of the last two writes. Two controllers that fight, or one that
   * alternates, make only such writes. @defaultValue 10
   */
  readonly maxRepeats?: number | undefined;
  /**
   * The number of writes of one object allowed within `windowMs`, whatever they change; at least 1. A status that
   * counts pods needs many writes; a status that contains the current time causes writes without limit.
   * @defaultValue 120
   */
  readonly maxWrites?: number | undefined;
  /** The window, in milliseconds; at least 1. @defaultValue 60_000 */
  readonly windowMs?: number | undefined;
  /**
   * The first delay of a hot key, in milliseconds; each further excess write doubles it. @defaultValue 1_000
   */
  readonly baseDelayMs?: number | undefined;
  /** The maximum delay, in milliseconds. @defaultValue 60_000 */
  readonly maxDelayMs?: number | undefined;
}

/** A key that repeatedly writes one object. Values are omitted because they may be secret. */
export interface HotLoop {
  /** The reconciled key. */
  readonly key: string;
  /** The repeatedly written object. */
  readonly object: ObjectReference;
  /**
   * The number of writes of the object within the last `windowMs`, converted to writes per minute. A short burst is
   * not extrapolated. At most `maxWrites` + 1 writes are counted.
   */
  readonly writesPerMinute: number;
  /** The paths that the last write changed, for example `spec.replicas`; empty if no change is visible. */
  readonly paths: readonly string[];
  /** The object's field managers, the most recent first: candidates for a competing writer. */
  readonly managers: readonly string[];
  /** The current delay between two reconciles of the key, in milliseconds. */
  readonly delayMs: number;
}

/** One write, as input to the detector. */
export interface WriteSample {
  /** The reconciled key. */
  readonly key: string;
  readonly type: TypeReference<KubernetesObject>;
  /** The key of the written object. */
  readonly target: ObjectKey;
  /** The object before the write, if known. */
  readonly before: KubernetesObject | undefined;
  /** The object after the write; undefined if it was deleted. */
  readonly after: KubernetesObject | undefined;
}

/** The writes of one object by one key. */
interface Track {
  readonly id: string;
  readonly key: string;
  /** The times of the last writes, the oldest first; at most one more than allowed. */
  readonly writesMs: number[];
  /** The times of those last writes that were repeating. */
  readonly repeatsMs: number[];
  /** Hashes of the states after the last two writes, the newest first; `''` for a deleted object. */
  left: readonly string[];
  /** The state after the last write; kept only if the next write may have to be reported. */
  last?: KubernetesObject | undefined;
  /** The UID and resourceVersion after the last write, if any. */
  version?: string | undefined;
  /** The current delay of the key, in milliseconds; 0 if the key is not hot. */
  delayMs: number;
  /** The time of the last change of `delayMs`. */
  changedMs: number;
  reportedMs: number;
  report?: HotLoop;
}

/** The maximum number of tracked objects; the least recently written are dropped first. */
const maxTracks = 10_000;

/**
 * Detects keys that repeatedly write one object: two controllers that undo each other's changes, or one that
 * never finds the object in its desired state. The delay of such a key grows. After a window without excess,
 * a write halves the delay. The key is no longer delayed once the delay falls below the first one, or after
 * five windows without a write of the object.
 *
 * A write that changes nothing, not even `resourceVersion`, does not count: it causes no event.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #options: Resolved<HotLoopOptions>;
  readonly #calmAfterMs: number;
  /** The tracks by id, in the order of their last writes. */
  readonly #tracks = new Map<string, Track>();
  /** The tracks that delay a key, by key. */
  readonly #hot = new Map<string, Set<Track>>();

  /** @throws OperatorError `InvalidOption`: an option is out of range. */
  constructor(clock: Clock, options: HotLoopOptions = {}) {
    this.#clock = clock;
    this.#options = resolveHotLoopOptions(options);
    this.#calmAfterMs = 5 * this.#options.windowMs;
  }

  /** The number of tracked objects, after those without recent writes are dropped. */
  get size(): number {
    this.#forgetCalm(this.#clock.monotonicMs());
    return this.#tracks.size;
  }

  /**
   * Records a write.
   * @returns a report at the first detection, then at most once in five windows
   */
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
    track.report = hotLoopOf(track, { ...sample, before }, this.#options.windowMs);
    return track.report;
  }

  /** Returns the current hot loops, as last reported. */
  all(): HotLoop[] {
    this.#forgetCalm(this.#clock.monotonicMs());
    const found = [...this.#hot.values()].flatMap((tracks) => [...tracks]);
    return found.flatMap(({ report, delayMs }) => (report ? [{ ...report, delayMs }] : []));
  }

  /** Returns the delay of `key` before its next reconcile, in milliseconds; 0 if it is not hot. */
  delayMs(key: string): number {
    if (this.#hot.size === 0) return 0;
    this.#forgetCalm(this.#clock.monotonicMs());
    return Math.max(0, ...[...(this.#hot.get(key) ?? [])].map((track) => track.delayMs));
  }

  /**
   * Returns true if the answer has the resourceVersion that the object had before the write: the write changed
   * nothing.
   */
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

  /** Records the time of a write. Returns true if more than `most` writes are within the window. */
  #isOften(timesMs: number[], nowMs: number, most: number): boolean {
    timesMs.push(nowMs);
    if (timesMs.length > most + 1) timesMs.shift();
    return timesMs.length > most && nowMs - (timesMs[0] ?? nowMs) <= this.#options.windowMs;
  }

  /** Returns true if one more write right now would exceed the limit. */
  #isClose(timesMs: readonly number[], most: number): boolean {
    const firstMs = timesMs.at(-most);
    return firstMs !== undefined && this.#clock.monotonicMs() - firstMs <= this.#options.windowMs;
  }

  /** Halves the delay at most once per window: halving at each write would let the loop run in bursts. */
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
  { type, target, before, after }: WriteSample,
  windowMs: number,
): HotLoop {
  const nowMs = writesMs.at(-1) ?? 0;
  const writes = writesMs.filter((ms) => nowMs - ms <= windowMs).length;
  const changes = before === undefined || after === undefined ? [] : differences(before, after);
  return {
    key,
    object: { apiVersion: apiVersionOf(type), kind: type.kind, ...target },
    writesPerMinute: Math.round((writes * 60_000) / windowMs),
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

/** Returns a hash of all fields except those set by the server. Keeping whole objects takes much memory. */
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

const hotLoopOptionNames: OptionNames<HotLoopOptions> = {
  ...{ maxRepeats: true, maxWrites: true, windowMs: true, baseDelayMs: true, maxDelayMs: true },
};

/** @throws OperatorError `InvalidOption`: an option is unknown or out of range. */
export function resolveHotLoopOptions(options: HotLoopOptions): Resolved<HotLoopOptions> {
  refuseUnknownOptions<HotLoopOptions>('hotLoop', options, hotLoopOptionNames);
  const { maxRepeats = 10, maxWrites = 120, windowMs = 60_000 } = options;
  const { baseDelayMs = 1_000, maxDelayMs = 60_000 } = options;
  refuseNonNumbers('hotLoop', { maxRepeats, maxWrites, windowMs, baseDelayMs, maxDelayMs });
  const delays = baseDelayMs >= 1 && baseDelayMs <= maxDelayMs;
  if (!(maxRepeats >= 1 && maxWrites >= 1 && windowMs >= 1 && delays)) {
    const got = JSON.stringify({ maxRepeats, maxWrites, windowMs, baseDelayMs, maxDelayMs });
    throw new OperatorError(
      'InvalidOption',
      `hotLoop: want 1 or more for each option, and a maxDelayMs of at least baseDelayMs, got ${got}`,
    );
  }
  return { maxRepeats, maxWrites, windowMs, baseDelayMs, maxDelayMs };
}

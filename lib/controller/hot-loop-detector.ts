import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyString } from '../object/object-key.js';
import type { ObjectReference } from '../object/object-reference.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { Resolved } from '../system/resolved.js';

/** Options of {@link HotLoopDetector}. */
export interface HotLoopOptions {
  /** So many writes of one object are fine within `windowMs`; at least 1. @defaultValue 20 */
  readonly maxWrites?: number | undefined;
  /** In milliseconds, at least 1. @defaultValue 60_000 */
  readonly windowMs?: number | undefined;
  /** The first wait of a key that is too busy, in milliseconds; each write doubles it. @defaultValue 1_000 */
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
  readonly timesMs: number[];
  /** What the last write left. */
  last: KubernetesObject | undefined;
  /** How long the key has to wait; 0 as long as it is not too busy. */
  delayMs: number;
  reportedMs: number;
}

/**
 * Finds keys that keep writing one object: two controllers that undo each other's changes, or one
 * that never finds the object as it wants it. Such a key has to wait longer and longer; it is left
 * alone again as soon as it has not written the object for five windows.
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
    return this.#tracks.size;
  }

  /** Takes a write. @returns what to report: at first, then once in five windows */
  wrote(sample: WriteSample): HotLoop | undefined {
    const nowMs = this.#clock.monotonicMs();
    const { maxWrites, windowMs, baseDelayMs, maxDelayMs } = this.#options;
    this.#forgetCalm(nowMs);
    const track = this.#trackOf(sample);
    const before = sample.before ?? track.last;
    track.last = sample.after;
    track.timesMs.push(nowMs);
    if (track.timesMs.length > maxWrites + 1) track.timesMs.shift();
    const isOften =
      track.timesMs.length > maxWrites && nowMs - (track.timesMs[0] ?? nowMs) <= windowMs;
    if (!isOften && track.delayMs === 0) return undefined;
    this.#slowDown(track, Math.min(Math.max(baseDelayMs, track.delayMs * 2), maxDelayMs));
    if (nowMs - track.reportedMs < this.#calmAfterMs) return undefined;
    track.reportedMs = nowMs;
    return hotLoopOf(track, sample, before);
  }

  /** How long `key` has to wait before its next reconcile, in milliseconds; 0: it is not too busy. */
  delayMs(key: string): number {
    if (this.#hot.size === 0) return 0;
    this.#forgetCalm(this.#clock.monotonicMs());
    return Math.max(0, ...[...(this.#hot.get(key) ?? [])].map((track) => track.delayMs));
  }

  #trackOf({ key, type, target }: WriteSample): Track {
    const id = `${key} ${apiVersionOf(type)} ${type.kind} ${keyString(target)}`;
    const known = this.#tracks.get(id);
    const fresh = { last: undefined, delayMs: 0, reportedMs: -Infinity };
    const track = known ?? { id, key, timesMs: [], ...fresh };
    this.#tracks.delete(id);
    this.#tracks.set(id, track);
    return track;
  }

  #slowDown(track: Track, delayMs: number): void {
    track.delayMs = delayMs;
    const hot = this.#hot.get(track.key);
    if (hot === undefined) this.#hot.set(track.key, new Set([track]));
    else hot.add(track);
  }

  #forgetCalm(nowMs: number): void {
    for (const track of this.#tracks.values()) {
      if (nowMs - (track.timesMs.at(-1) ?? nowMs) < this.#calmAfterMs) return;
      this.#tracks.delete(track.id);
      const hot = this.#hot.get(track.key);
      hot?.delete(track);
      if (hot?.size === 0) this.#hot.delete(track.key);
    }
  }
}

function hotLoopOf(
  { key, timesMs, delayMs }: Track,
  { type, target, after }: WriteSample,
  before: KubernetesObject | undefined,
): HotLoop {
  const [firstMs = 0, lastMs = 0] = [timesMs[0], timesMs.at(-1)];
  const changes =
    before === undefined || after === undefined
      ? []
      : diffObjects(before, after, { ignore: serverSetFields });
  return {
    key,
    object: { apiVersion: apiVersionOf(type), kind: type.kind, ...target },
    writesPerMinute: Math.round(((timesMs.length - 1) * 60_000) / Math.max(1, lastMs - firstMs)),
    paths: changes.map(({ path }) => path),
    managers: managersOf(after ?? before),
    delayMs,
  };
}

function managersOf(object: KubernetesObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields ?? [];
  const newestFirst = entries.toSorted((one, other) =>
    (one.time ?? '') < (other.time ?? '') ? 1 : -1,
  );
  return [...new Set(newestFirst.map(({ manager = '' }) => manager))];
}

function resolveHotLoopOptions(options: HotLoopOptions): Resolved<HotLoopOptions> {
  const { maxWrites = 20, windowMs = 60_000, baseDelayMs = 1_000, maxDelayMs = 60_000 } = options;
  const isInRange =
    maxWrites >= 1 && windowMs >= 1 && 1 <= baseDelayMs && baseDelayMs <= maxDelayMs;
  if (!isInRange) {
    const got = `maxWrites ${maxWrites}, windowMs ${windowMs}, delays ${baseDelayMs}-${maxDelayMs}`;
    throw new OperatorError('InvalidOption', `HotLoopDetector: want 1 or more of each, got ${got}`);
  }
  return { maxWrites, windowMs, baseDelayMs, maxDelayMs };
}

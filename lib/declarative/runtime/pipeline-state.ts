import type { CacheEvent } from '../../cache/index.js';
import type { ObjectKey } from '../../object/index.js';
import { keyString } from '../../object/index.js';
import type { Document } from '../document.js';
import type { Delta } from '../engine/z-set.js';
import { OutputCollector, Pipeline, withNamedResults } from '../engine/pipeline.js';
import type { PipelinePlan } from '../engine/compile-pipeline.js';
import type { StageFailure } from '../engine/linear-node.js';
import type { SpecPath } from '../spec-problem.js';
import type { Lineage } from '../views/view-writers.js';
import type { SourceDocument } from './document-sources.js';

/** Reads the current documents of a source. */
export interface DocumentReader {
  /** The name of the source in the pipeline. */
  readonly name: string;
  get(key: string): SourceDocument | undefined;
  keys(): Iterable<string>;
  /** Returns the writes of this process that led to a state of an object. @defaultValue no writes */
  lineageOf?(origin: object): Lineage | undefined;
}

/** Result of a batch of changes. */
export interface WorkedOff {
  /** The source of the changes. */
  readonly source: string;
  /** The keys of the target objects whose desired state has changed. */
  readonly keys: readonly ObjectKey[];
  /** The event behind the batch; undefined if there was no event or more than one. */
  readonly event: CacheEvent | undefined;
  /** The writes of this process that led to the changes; undefined if they have another cause. */
  readonly lineage: Lineage | undefined;
}

/** Options of {@link PipelineState}. */
export interface PipelineStateOptions {
  /** Path of the target in the specification, for failures. */
  readonly targetPath: SpecPath;
  /** The name of the controller in a {@link Lineage}. */
  readonly controller: string;
}

/** The desired state of an object. */
export interface DesiredObject {
  readonly key: ObjectKey;
  readonly document: Document;
}

interface Input {
  readonly reader: DocumentReader;
  /** Keys whose documents may differ from those pushed, each with its last event. */
  readonly dirty: Map<string, CacheEvent | undefined>;
  /** The documents that are in the pipeline. */
  readonly pushed: Map<string, SourceDocument>;
}

/**
 * A pipeline, what went into it and what comes out.
 * ```text
 *   changed(key) ─> dirty ─work()─> pushed ─> Pipeline ─> OutputCollector ─> desired
 *                     └── read again when it is its turn: several changes of one object are one
 * ```
 */
export class PipelineState {
  readonly #pipeline: Pipeline;
  readonly #collector: OutputCollector;
  readonly #inputs: readonly Input[];
  readonly #desired = new Map<string, DesiredObject>();
  readonly #controller: string;

  constructor(
    plan: PipelinePlan,
    readers: readonly DocumentReader[],
    { targetPath, controller }: PipelineStateOptions,
  ) {
    this.#controller = controller;
    this.#pipeline = new Pipeline(withNamedResults(plan, targetPath));
    this.#collector = new OutputCollector(targetPath);
    this.#inputs = readers.map((reader) => ({ reader, dirty: new Map(), pushed: new Map() }));
  }

  /** Whether all known changes have been processed. */
  get isIdle(): boolean {
    return this.#inputs.every(({ dirty }) => dirty.size === 0);
  }

  /** Number of documents that data errors exclude now. */
  get failing(): number {
    return this.#pipeline.failing + this.#collector.failing;
  }

  /** Yields the documents that are excluded now. */
  *failures(): Iterable<StageFailure> {
    yield* this.#pipeline.failures();
    yield* this.#collector.failures();
  }

  /** Returns those of {@link PipelineState.failures} that are new since the last call. */
  takeNewFailures(): readonly StageFailure[] {
    return [...this.#pipeline.takeNewFailures(), ...this.#collector.takeNewFailures(this.isIdle)];
  }

  /** All desired objects, by `namespace/name`. */
  get desired(): ReadonlyMap<string, DesiredObject> {
    return this.#desired;
  }

  /** @param place - index of the source among the readers */
  changed(place: number, key: string, event?: CacheEvent): void {
    const dirty = this.#inputs[place]?.dirty;
    // With several events, the last one alone does not describe the change.
    dirty?.set(key, dirty.has(key) ? undefined : event);
  }

  /** Marks all documents as possibly changed. */
  allChanged(): void {
    for (const { reader, dirty, pushed } of this.#inputs) {
      for (const key of pushed.keys()) dirty.set(key, undefined);
      for (const key of reader.keys()) dirty.set(key, undefined);
    }
  }

  /**
   * Processes changes, at most `most` documents of one source; undefined if there are no changes. If further sources
   * show the same objects, their changes are processed too. Otherwise a join would combine two states of one object,
   * and its result for the object would be missing for a moment.
   */
  work(most: number): WorkedOff | undefined {
    const input = this.#inputs.find(({ dirty }) => dirty.size > 0);
    if (input === undefined) return undefined;
    const deltas: Delta[] = [];
    const events: (CacheEvent | undefined)[] = [];
    const origins = new Map<string, object | undefined>();
    let lineage: Lineage | undefined;
    let kind: string | undefined;
    for (const [key, event] of input.dirty) {
      if (events.length >= most) break;
      const after = input.reader.get(key);
      const origin = after?.origin ?? event?.object ?? input.pushed.get(key)?.origin;
      const own = origin && input.reader.lineageOf?.(origin);
      // A batch has changes of one cause only: otherwise foreign changes would count as feedback.
      const ownKind = own === undefined ? 'foreign' : own.has(this.#controller) ? 'own' : 'other';
      if ((kind ??= ownKind) !== ownKind) break;
      lineage = longest(lineage, own);
      origins.set(key, originOf(input, key, after));
      input.dirty.delete(key);
      events.push(event);
      deltas.push(...deltasOf(input, key, after));
    }
    const { name: source } = input.reader;
    const own = deltas.length === 0 ? [] : this.#push(source, deltas);
    // push(...keys) could fail: a join may return more keys than a call may have arguments.
    const keys = own.concat(this.#inputs.flatMap((other) => this.#pushSame(other, origins)));
    return { source, keys, event: events.length === 1 ? events[0] : undefined, lineage };
  }

  /** Processes the changes of the objects in `origins`, which another source has just processed. */
  #pushSame(input: Input, origins: ReadonlyMap<string, object | undefined>): ObjectKey[] {
    const deltas: Delta[] = [];
    for (const [key, origin] of input.dirty.size === 0 ? [] : origins) {
      if (!input.dirty.has(key)) continue;
      const after = input.reader.get(key);
      if (originOf(input, key, after) !== origin) continue;
      input.dirty.delete(key);
      deltas.push(...deltasOf(input, key, after));
    }
    return deltas.length === 0 ? [] : this.#push(input.reader.name, deltas);
  }

  #push(source: string, deltas: readonly Delta[]): ObjectKey[] {
    const changes = this.#collector.apply(this.#pipeline.push(source, deltas));
    return changes.map(({ type, key, document }) => {
      if (type === 'delete') this.#desired.delete(keyString(key));
      else this.#desired.set(keyString(key), { key, document });
      return key;
    });
  }
}

function longest(one: Lineage | undefined, other: Lineage | undefined): Lineage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const counts = new Map(one);
  for (const [name, count] of other) counts.set(name, Math.max(count, counts.get(name) ?? 0));
  return counts;
}

/** Returns the object behind a document; of a removed one its last state. */
function originOf(
  { pushed }: Input,
  key: string,
  after: SourceDocument | undefined,
): object | undefined {
  return (after ?? pushed.get(key))?.origin;
}

/** Returns the deltas of a key: the old document removed, the new one added. */
function deltasOf({ pushed }: Input, key: string, after: SourceDocument | undefined): Delta[] {
  const before = pushed.get(key);
  if (before?.origin === after?.origin) return [];
  if (after === undefined) pushed.delete(key);
  else pushed.set(key, after);
  return [...weighed(before, -1), ...weighed(after, 1)];
}

function weighed(known: SourceDocument | undefined, weight: number): Delta[] {
  if (known === undefined) return [];
  const { document, key } = known;
  return [key === undefined ? { document, weight } : { document, weight, key }];
}

import { isJsonObject, memberOf, keyString, pathSegmentProblem } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Document } from '../document.js';
import { DataError } from '../expression/operands.js';
import type { SpecPath } from '../spec-problem.js';
import type { PipelinePlan } from './compile-pipeline.js';
import { GatherNode, SortedList, compareTexts } from './gather-node.js';
import { JoinNode } from './join-node.js';
import { FailureLog, LinearNode } from './linear-node.js';
import type { DocumentStep, StageFailure } from './linear-node.js';
import { ZSet, canonicalText, netDeltas } from './z-set.js';
import type { Delta, IncrementalNode, ZSetEntry } from './z-set.js';

/**
 * A running pipeline, which turns changes of its sources into changes of its result.
 * ```text
 *   sources ─> @join ─> @select, @project, @unwind ─> @gather ─> @select, … ─> result
 *              indexes  nothing kept                  groups     nothing kept
 * ```
 * The cost of a change is proportional to what it affects. The pipeline never modifies documents, and callers
 * must not modify them either. The result depends only on the current documents, not on their order of
 * arrival (except for `@now` and `@rnd`).
 */
export class Pipeline {
  readonly #sources: ReadonlyMap<string, { readonly input: number; readonly present: ZSet }>;
  readonly #failures = new FailureLog();
  readonly #nodes: readonly IncrementalNode[];

  constructor(plan: PipelinePlan) {
    this.#sources = new Map(
      plan.sources.map((name, input) => [name, { input, present: new ZSet() }]),
    );
    this.#nodes = nodesOf(plan, this.#failures);
  }

  /**
   * Processes changes of one source. Removals of absent documents are ignored.
   * @param sourceName - the alias of the source, or its kind
   * @returns the changes of the result: each document at most once, deletes before upserts
   * @throws OperatorError `InvalidValue`: there is no such source.
   */
  push(sourceName: string, deltas: readonly Delta[]): readonly Delta[] {
    const source = this.#sources.get(sourceName);
    if (source === undefined) {
      const names = [...this.#sources.keys()].join(', ');
      throw new OperatorError(
        'InvalidValue',
        `there is no source ${sourceName}; the sources are ${names}`,
      );
    }
    let changes: readonly Delta[] = acceptedBy(source.present, deltas);
    for (const [number, node] of this.#nodes.entries()) {
      changes = node.push(number === 0 ? source.input : 0, changes);
    }
    return netDeltas(changes);
  }

  /** Number of {@link Pipeline.failures}. */
  get failing(): number {
    return this.#failures.size;
  }

  /** Yields the current failures: each names a document that a stage leaves out, and the error in its data. */
  failures(): Iterable<StageFailure> {
    return this.#failures.standing();
  }

  /** Returns those of {@link Pipeline.failures} that are new since the last call. */
  takeNewFailures(): readonly StageFailure[] {
    return this.#failures.takeFresh();
  }
}

/** Applies changes to `present`, except removals of documents that are not in it. Returns the applied changes. */
function acceptedBy(present: ZSet, deltas: readonly Delta[]): readonly ZSetEntry[] {
  const accepted: ZSetEntry[] = [];
  for (const entry of netDeltas(deltas)) {
    const known = present.get(entry.key);
    const weight = Math.max(entry.weight, -(known?.weight ?? 0));
    if (weight === 0) continue;
    const { key } = entry;
    // Reuse a known document, to avoid two equal ones in memory.
    const change = { key, document: known?.document ?? entry.document, weight };
    present.add(change);
    accepted.push(change);
  }
  return accepted;
}

function nodesOf({ join, stages }: PipelinePlan, failures: FailureLog): IncrementalNode[] {
  const nodes: IncrementalNode[] = [];
  // Consecutive steps form one node: intermediate documents need not be kept or compared.
  let steps: DocumentStep[] = [];
  const endSteps = (): void => {
    if (steps.length > 0) nodes.push(new LinearNode(steps, failures));
    steps = [];
  };
  if (join !== undefined) nodes.push(new JoinNode(join, failures));
  if (join?.rest !== undefined) steps.push(join.rest);
  for (const stage of stages) {
    if (stage.type === 'each') {
      steps.push(stage.step);
      continue;
    }
    endSteps();
    nodes.push(new GatherNode(stage.step, failures));
  }
  endSteps();
  return nodes;
}

/**
 * Returns the plan of a pipeline whose results are objects of a target. Results without a valid name are failures of
 * the documents from which they were made.
 * @param path - path of the target in the specification, for failures
 */
export function withNamedResults(plan: PipelinePlan, path: SpecPath): PipelinePlan {
  const step: DocumentStep = {
    ...{ stage: 'target', path, volatile: false, blamesInput: true },
    apply: (document) => {
      objectKeyOf(document);
      return [document];
    },
  };
  return { ...plan, stages: [...plan.stages, { type: 'each', step }] };
}

/** A change of an object of the target. */
export type OutputChange =
  | { readonly type: 'upsert'; readonly key: ObjectKey; readonly document: Document }
  | {
      readonly type: 'delete';
      readonly key: ObjectKey;
      /** The previously desired document. */
      readonly document: Document;
    };

interface Slot {
  readonly key: ObjectKey;
  readonly documents: ZSet;
  /** The keys of documents that changed since `chosen` was last determined. */
  readonly touched: Set<string>;
  /** The documents with their rank, by key, while several documents have this name. */
  readonly ranked: Map<string, Ranked>;
  order: SortedList<Ranked>;
  /** The document chosen for the object. */
  chosen: ZSetEntry | undefined;
}

interface Ranked {
  readonly key: string;
  /** The canonical text. */
  readonly text: string;
}

/**
 * Turns changes of a pipeline's result into changes of objects, by namespace and name. The pipeline has left out
 * results without a valid name (see `withNamedResults`). An object that is removed and added is one upsert; an
 * unchanged object produces no change. Of several documents with one name, the first in the order of their JSON wins,
 * independent of arrival. The name clash is a failure while it lasts.
 */
export class OutputCollector {
  readonly #path: SpecPath;
  readonly #slots = new Map<string, Slot>();
  /** The names shared by several documents. */
  readonly #shared = new Map<string, Slot>();
  readonly #newlyShared = new Set<string>();

  /** @param path - path of the target in the specification, for failures */
  constructor(path: SpecPath = ['target']) {
    this.#path = path;
  }

  /**
   * Returns the resulting changes of objects: each object at most once, deletes before upserts.
   * @throws DataError a result has no valid name.
   */
  apply(deltas: readonly Delta[]): readonly OutputChange[] {
    const touched = new Map<string, Slot>();
    for (const entry of netDeltas(deltas)) {
      const key = objectKeyOf(entry.document);
      const text = keyString(key);
      const slot = this.#slots.get(text) ?? newSlot(key);
      this.#slots.set(text, slot);
      slot.documents.add(entry);
      slot.touched.add(entry.key);
      touched.set(text, slot);
    }
    const changes = [...touched].flatMap(([text, slot]) => this.#settle(text, slot));
    return changes.sort((one, other) => compareTexts(one.type, other.type));
  }

  /** Returns all desired objects, by `namespace/name`. */
  desired(): ReadonlyMap<string, Document> {
    const desired = new Map<string, Document>();
    for (const [text, { chosen }] of this.#slots) {
      if (chosen !== undefined) desired.set(text, chosen.document);
    }
    return desired;
  }

  /** Number of {@link OutputCollector.failures}. */
  get failing(): number {
    return this.#shared.size;
  }

  /** Yields a failure for each name that several documents share. */
  *failures(): Iterable<StageFailure> {
    for (const slot of this.#shared.values()) yield this.#sharedName(slot);
  }

  /**
   * Returns those of {@link OutputCollector.failures} that are new since the last call.
   * @param isSettled - whether all known changes are processed; before that, documents may share a name
   * temporarily
   */
  takeNewFailures(isSettled = true): readonly StageFailure[] {
    if (!isSettled || this.#newlyShared.size === 0) return [];
    const shared = [...this.#newlyShared].flatMap((text) => this.#shared.get(text) ?? []);
    this.#newlyShared.clear();
    return shared.map((slot) => this.#sharedName(slot));
  }

  #sharedName({ key, documents }: Slot): StageFailure {
    const problem = `${documents.size} documents have the name ${keyString(key)}`;
    const remedy = 'one of them is written, the others are left out; give each a name of its own';
    const error = new DataError('target', `${problem}: ${remedy}`, undefined);
    return { stage: 'target', path: this.#path, subject: keyString(key), error };
  }

  #noteShared(text: string, slot: Slot): void {
    const isShared = slot.ranked.size > 1;
    if (isShared === this.#shared.has(text)) return;
    if (isShared) {
      this.#shared.set(text, slot);
      this.#newlyShared.add(text);
    } else {
      this.#shared.delete(text);
      this.#newlyShared.delete(text);
    }
  }

  #settle(text: string, slot: Slot): OutputChange[] {
    const { key, documents, chosen: before } = slot;
    slot.chosen = chosenOf(slot);
    this.#noteShared(text, slot);
    if (documents.size === 0) this.#slots.delete(text);
    if (slot.chosen?.key === before?.key) return [];
    if (slot.chosen !== undefined) {
      return [{ type: 'upsert', key, document: slot.chosen.document }];
    }
    return before === undefined ? [] : [{ type: 'delete', key, document: before.document }];
  }
}

/** Kubernetes' limit for the name of an object. */
const longestName = 253;

/**
 * @throws DataError the name is missing or too long, the namespace is not a string, or one of them is not a path
 * segment.
 */
function objectKeyOf(document: Document): ObjectKey {
  const metadata = memberOf(document, 'metadata') ?? null;
  if (!isJsonObject(metadata)) {
    throw new DataError(
      'target',
      'the result has no metadata; want metadata.name, a string',
      undefined,
    );
  }
  const name = memberOf(metadata, 'name');
  if (typeof name !== 'string' || name === '') {
    throw new DataError('target', 'metadata.name of the result: want a string', name);
  }
  const namespace = memberOf(metadata, 'namespace') ?? '';
  if (typeof namespace !== 'string') {
    throw new DataError('target', 'metadata.namespace of the result: want a string', namespace);
  }
  if (name.length > longestName) {
    const problem = `metadata.name has ${name.length} characters, at most ${longestName} are allowed`;
    throw new DataError('target', problem, undefined);
  }
  // An API server accepts only path segments, and the name `a/b` would look like the namespace `a` and the name `b`.
  for (const [field, value] of Object.entries({ name, namespace })) {
    if (value === '' || pathSegmentProblem(value) === undefined) continue;
    throw new DataError('target', `metadata.${field}: want a path segment without / and %`, value);
  }
  return namespace === '' ? { name } : { namespace, name };
}

function newSlot(key: ObjectKey): Slot {
  const order = new SortedList(compareRanked);
  return {
    key,
    documents: new ZSet(),
    touched: new Set(),
    ranked: new Map(),
    order,
    chosen: undefined,
  };
}

function compareRanked(one: Ranked, other: Ranked): number {
  return compareTexts(one.text, other.text) || compareTexts(one.key, other.key);
}

/** Serializes and ranks each document once, however often the others change. */
function chosenOf(slot: Slot): ZSetEntry | undefined {
  const { documents, ranked, touched } = slot;
  if (documents.size <= 1) {
    // A single document, the usual case, needs no ranking.
    if (ranked.size > 0) slot.order = new SortedList(compareRanked);
    ranked.clear();
    touched.clear();
    const [only] = documents.entries();
    return only !== undefined && only.weight > 0 ? only : undefined;
  }
  if (ranked.size === 0) for (const { key } of documents.entries()) touched.add(key);
  for (const key of touched) rank(slot, key);
  touched.clear();
  const { first } = slot.order;
  return first && documents.get(first.key);
}

function rank({ documents, ranked, order }: Slot, key: string): void {
  const entry = documents.get(key);
  const known = ranked.get(key);
  const isThere = entry !== undefined && entry.weight > 0;
  if (isThere === (known !== undefined)) return;
  if (known !== undefined) {
    order.delete(known);
    ranked.delete(key);
  } else if (entry !== undefined) {
    const added = { key, text: canonicalText(entry.document) };
    order.add(added);
    ranked.set(key, added);
  }
}

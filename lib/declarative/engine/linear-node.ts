import { isJsonObject, memberOf } from '../../object/index.js';
import { asError } from '../../system/index.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import { documentKey } from './z-set.js';
import type { Delta, IncrementalNode } from './z-set.js';

/** A stage that processes one document at a time: `@select`, `@project`, `@unwind`. */
export interface DocumentStep {
  /** The name as written, for example `@unwind`. */
  readonly stage: string;
  readonly path: SpecPath;
  /** Whether its results may differ for the same document, as with `@now` and `@rnd`. */
  readonly volatile: boolean;
  /**
   * Whether its failures concern the document that entered the steps, not the one that this step received.
   * @defaultValue true if the received document has no name
   */
  readonly blamesInput?: boolean;
  /** Returns the results for a document: any number. @throws DataError its data does not fit. */
  apply(document: Document): readonly Document[];
}

interface Run {
  readonly documents: Document[];
  readonly failures: FailedDocument[];
}

/** The progress of a document through the steps. */
interface Progress {
  readonly steps: readonly DocumentStep[];
  /** The document that entered the steps. */
  readonly input: Document;
  readonly run: Run;
}

/**
 * Consecutive steps. They are linear: a removal is evaluated like the addition, and so removes exactly what
 * the addition added. Steps whose results vary (`@now`) keep the first result instead.
 */
export class LinearNode implements IncrementalNode {
  readonly #steps: readonly DocumentStep[];
  readonly #failures: FailureLog;
  readonly #remembered: Map<string, { readonly run: Run; weight: number }> | undefined;

  constructor(steps: readonly DocumentStep[], failures: FailureLog) {
    this.#steps = steps;
    this.#failures = failures;
    this.#remembered = steps.some((step) => step.volatile) ? new Map() : undefined;
  }

  push(_input: number, deltas: readonly Delta[]): readonly Delta[] {
    const output: Delta[] = [];
    for (const delta of deltas) {
      const { documents, failures } = this.#runOf(delta);
      for (const document of documents) {
        // An unchanged document keeps its key.
        output.push(document === delta.document ? delta : { document, weight: delta.weight });
      }
      for (const failure of failures) this.#failures.add(failure, delta.weight);
    }
    return output;
  }

  #runOf(delta: Delta): Run {
    const { document, weight } = delta;
    if (this.#remembered === undefined) return runOf(this.#steps, document);
    const key = delta.key ?? documentKey(document);
    const known = this.#remembered.get(key);
    const remembered = known ?? { run: runOf(this.#steps, document), weight: 0 };
    remembered.weight += weight;
    if (remembered.weight === 0) this.#remembered.delete(key);
    else this.#remembered.set(key, remembered);
    return remembered.run;
  }
}

function runOf(steps: readonly DocumentStep[], document: Document): Run {
  const run: Run = { documents: [], failures: [] };
  runFrom(0, document, { steps, input: document, run });
  return run;
}

function runFrom(place: number, document: Document, progress: Progress): void {
  const { steps, input, run } = progress;
  const step = steps[place];
  if (step === undefined) {
    run.documents.push(document);
    return;
  }
  let results: readonly Document[];
  try {
    results = step.apply(document);
  } catch (thrown) {
    // Catch every error, so that later stages are not left half processed.
    const error = asError(thrown);
    const { stage, path, blamesInput = nameIn(document) === undefined } = step;
    run.failures.push({ stage, path, document: blamesInput ? input : document, error });
    return;
  }
  for (const result of results) runFrom(place + 1, result, progress);
}

/** A document that a stage excluded because its data does not fit. */
export interface StageFailure {
  /** The name as written, for example `@project`. */
  readonly stage: string;
  /** Path in the specification of the stage, or of its failed part. */
  readonly path: SpecPath;
  /**
   * The object concerned: `namespace/name`; for a join `Pod default/a, Service default/b`. No other data of
   * the document is kept.
   */
  readonly subject: string;
  /** Usually a `DataError`. */
  readonly error: Error;
}

interface FailedDocument {
  readonly stage: string;
  readonly path: SpecPath;
  readonly document: Document;
  readonly error: Error;
}

/** The current failures: a failure ends when its document is removed. */
export class FailureLog {
  readonly #standing = new Map<string, { failure: StageFailure; weight: number }>();
  readonly #fresh = new Set<string>();

  add({ stage, path, document, error }: FailedDocument, weight: number): void {
    // One document can fail for several reasons: each of its results may lack a name.
    const key = `${path.join('\n')}\n${documentKey(document)}\n${error.message}`;
    const known = this.#standing.get(key);
    const sum = (known?.weight ?? 0) + weight;
    if (sum === 0) {
      this.#standing.delete(key);
      this.#fresh.delete(key);
      return;
    }
    if (known === undefined) this.#fresh.add(key);
    const failure = known?.failure ?? { stage, path, subject: subjectOf(document), error };
    this.#standing.set(key, { failure, weight: sum });
  }

  /** Number of current failures. */
  get size(): number {
    return this.#standing.size;
  }

  /** Yields all current failures, in order of occurrence. */
  *standing(): Iterable<StageFailure> {
    for (const { failure } of this.#standing.values()) yield failure;
  }

  /** Returns the current failures that are new since the last call. */
  takeFresh(): readonly StageFailure[] {
    const fresh = [...this.#fresh].flatMap((key) => this.#standing.get(key)?.failure ?? []);
    this.#fresh.clear();
    return fresh;
  }
}

/** Returns the name of a document for messages: its object, or the objects of a join. */
function subjectOf(document: Document): string {
  const own = nameIn(document);
  if (own !== undefined) return own;
  const parts = Object.entries(document).flatMap(([source, object]) => {
    const name = isJsonObject(object) ? nameIn(object) : undefined;
    return name === undefined ? [] : `${source} ${name}`;
  });
  return parts.length > 0 ? parts.join(', ') : 'a document without a name';
}

function nameIn(object: Document): string | undefined {
  const metadata = memberOf(object, 'metadata');
  if (!isJsonObject(metadata)) return undefined;
  const name = memberOf(metadata, 'name');
  const namespace = memberOf(metadata, 'namespace');
  if (typeof name !== 'string' || name === '') return undefined;
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
}

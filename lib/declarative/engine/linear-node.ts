import { asError } from '../../system/as-error.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import type { Delta, IncrementalNode } from './delta.js';
import { documentKey } from './document-key.js';
import type { FailedDocument, FailureLog } from './stage-failure.js';

/** A stage that processes one document at a time: `@select`, `@project`, `@unwind`. */
export interface DocumentStep {
  /** The name as written, for example `@unwind`. */
  readonly stage: string;
  readonly path: SpecPath;
  /** Whether it may yield different results for the same document: `@now`, `@rnd`. */
  readonly volatile: boolean;
  /**
   * Returns the results for a document: any number.
   * @throws DataError its data does not fit.
   */
  apply(document: Document): readonly Document[];
}

interface Run {
  readonly documents: Document[];
  readonly failures: FailedDocument[];
}

interface Remembered {
  readonly run: Run;
  weight: number;
}

/**
 * Consecutive steps. They are linear: a removal is evaluated like the addition, and so removes exactly what
 * the addition added. Steps whose results vary (`@now`) remember the first result instead.
 */
export class LinearNode implements IncrementalNode {
  readonly #steps: readonly DocumentStep[];
  readonly #failures: FailureLog;
  readonly #remembered: Map<string, Remembered> | undefined;

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
  runFrom(0, document, { steps, run });
  return run;
}

function runFrom(
  place: number,
  document: Document,
  { steps, run }: { readonly steps: readonly DocumentStep[]; readonly run: Run },
): void {
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
    run.failures.push({ stage: step.stage, path: step.path, document, error });
    return;
  }
  for (const result of results) runFrom(place + 1, result, { steps, run });
}

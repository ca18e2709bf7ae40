import { isJsonObject, memberOf } from '../../object/json.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import { documentKey } from './document-key.js';

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

/** A document that failed at a stage. */
export interface FailedDocument {
  readonly stage: string;
  readonly path: SpecPath;
  readonly document: Document;
  readonly error: Error;
}

interface Standing {
  readonly failure: StageFailure;
  readonly weight: number;
}

/** The current failures: a failure ends when its document is removed. */
export class FailureLog {
  readonly #standing = new Map<string, Standing>();
  readonly #fresh = new Set<string>();

  /** Adds the weight of a failed document, or removes it. */
  add({ stage, path, document, error }: FailedDocument, weight: number): void {
    const key = `${path.join('\n')}\n${documentKey(document)}`;
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

  /** Returns all current failures, in order of occurrence. */
  standing(): readonly StageFailure[] {
    return [...this.#standing.values()].map(({ failure }) => failure);
  }

  /** Returns the current failures that are new since the last call. */
  takeFresh(): readonly StageFailure[] {
    const fresh = [...this.#fresh].flatMap((key) => this.#standing.get(key)?.failure ?? []);
    this.#fresh.clear();
    return fresh;
  }
}

/** Returns the name of a document for messages: its object, or the objects of a join. */
export function subjectOf(document: Document): string {
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

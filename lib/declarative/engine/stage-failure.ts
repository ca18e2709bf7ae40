import { isJsonObject, memberOf } from '../../object/json.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import { documentKey } from './document-key.js';

/** A document that a stage left out, because its data does not fit. */
export interface StageFailure {
  /** As it is written, for example `@project`. */
  readonly stage: string;
  /** Where the stage, or the part of it that failed, stands in the specification. */
  readonly path: SpecPath;
  /**
   * Which object it was: `namespace/name`; of a join `Pod default/a, Service default/b`. Of what is
   * in the document nothing else is kept.
   */
  readonly subject: string;
  /** Most often a `DataError`. */
  readonly error: Error;
}

/** What a failure is of. */
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

/** The failures that stand: each goes when its document goes. */
export class FailureLog {
  readonly #standing = new Map<string, Standing>();
  readonly #fresh = new Set<string>();

  /** Counts a failure in with the weight of its document, or out again. */
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

  /** How many stand. */
  get size(): number {
    return this.#standing.size;
  }

  /** All that stand, in the order in which they came. */
  standing(): readonly StageFailure[] {
    return [...this.#standing.values()].map(({ failure }) => failure);
  }

  /** Those that came since this was called last, and still stand. */
  takeFresh(): readonly StageFailure[] {
    const fresh = [...this.#fresh].flatMap((key) => this.#standing.get(key)?.failure ?? []);
    this.#fresh.clear();
    return fresh;
  }
}

/** What to call a document in a message: its object, or of a join its objects. */
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

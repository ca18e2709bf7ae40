import { dynType, sameType } from './types.js';
import type { CelType } from './types.js';

/**
 * What inferred types stand for, and whether one type fits another: the unification of the API
 * server's type checker. `dyn` fits everything; null fits objects, times and optionals.
 */
export class Unification {
  readonly #known = new Map<string, CelType>();
  /** What an attempt overwrote, oldest first: copies of all that is known would cost a square. */
  readonly #undo: (readonly [name: string, before: CelType | undefined])[] = [];
  #fresh = 0;

  /** A type that stands for nothing yet. */
  freshType(): CelType {
    return { kind: 'param', name: `_var${this.#fresh++}`, parameters: [] };
  }

  /** Whether values of the types `given` can stand where `wanted` are; learns from it if so. */
  assign(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    this.#undo.length = 0;
    if (this.#allFit(given, wanted)) return true;
    for (const [name, before] of this.#undo.toReversed()) {
      if (before === undefined) this.#known.delete(name);
      else this.#known.set(name, before);
    }
    return false;
  }

  #learn(param: CelType, type: CelType): void {
    const name = keyOf(param);
    this.#undo.push([name, this.#known.get(name)]);
    this.#known.set(name, type);
  }

  /** The type with what is known put in. @param open - what unknown types become */
  resolve(type: CelType, open: 'keep' | 'dyn' = 'keep'): CelType {
    const known = this.#known.get(keyOf(type));
    if (known !== undefined && type.kind === 'param') return this.resolve(known, open);
    if (type.kind === 'param') return open === 'dyn' ? dynType : type;
    if (type.parameters.length === 0) return type;
    return { ...type, parameters: type.parameters.map((one) => this.resolve(one, open)) };
  }

  #allFit(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    if (given.length !== wanted.length) return false;
    return given.every((one, index) => {
      const other = wanted[index];
      return other !== undefined && this.#fits(one, other);
    });
  }

  #fits(one: CelType, other: CelType): boolean {
    if (other.kind === 'param') {
      const { valid, known } = this.#substitutes(one, other);
      if (valid) return true;
      if (known) return false;
    }
    if (one.kind === 'param') return this.#substitutes(other, one).valid;
    if (isOpen(one) || isOpen(other)) return true;
    if (one.kind === 'null') return isNullable(other);
    if (other.kind === 'null') return isNullable(one);
    if (one.kind === 'type') return other.kind === 'type';
    if (one.parameters.length === 0) return sameType(one, other);
    return (
      one.kind === other.kind &&
      one.name === other.name &&
      this.#allFit(one.parameters, other.parameters)
    );
  }

  /** Whether the unknown type `param` may stand for `type`. */
  #substitutes(type: CelType, param: CelType): { valid: boolean; known: boolean } {
    if (type.kind === 'param' && sameType(type, param)) return { valid: true, known: true };
    const known = this.#known.get(keyOf(param));
    if (known === undefined) {
      if (!this.#isFree(param, type)) return { valid: false, known: false };
      this.#learn(param, type);
      return { valid: true, known: false };
    }
    if (sameType(type, known)) return { valid: true, known: true };
    if (!this.#fits(type, known)) return { valid: false, known: true };
    const general = moreGeneral(type, known);
    if (this.#isFree(param, general)) this.#learn(param, general);
    return { valid: true, known: true };
  }

  /** Whether `param` does not occur in `within`. */
  #isFree(param: CelType, within: CelType): boolean {
    if (sameType(param, within)) return false;
    if (within.kind === 'param') {
      const known = this.#known.get(keyOf(within));
      return known === undefined || this.#isFree(param, known);
    }
    return within.parameters.every((one) => this.#isFree(param, one));
  }
}

function keyOf(type: CelType): string {
  return type.name;
}

function isOpen({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error';
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'opaque', 'struct', 'duration', 'timestamp'].includes(kind);
}

/** The type that says less, of two that fit each other. */
export function moreGeneral(one: CelType, other: CelType): CelType {
  return saysNoMore(one, other) ? one : other;
}

function saysNoMore(one: CelType, other: CelType): boolean {
  if (one.kind === 'dyn' || one.kind === 'param') return true;
  if (other.kind === 'dyn' || other.kind === 'param') return false;
  if (one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  if (one.parameters.length === 0) return sameType(one, other);
  if (one.name !== other.name || one.parameters.length !== other.parameters.length) return false;
  return one.parameters.every((parameter, index) =>
    saysNoMore(parameter, other.parameters[index] ?? dynType),
  );
}

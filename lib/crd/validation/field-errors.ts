import { deepEqual, quoted, htmlSafeJson } from '../../object/index.js';
import type { StatusCause } from '../../object/index.js';
import { goNumber } from './numbers.js';

function shown(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value === 'number') return goNumber(value);
  return typeof value === 'string' ? quoted(value) : htmlSafeJson(JSON.stringify(value));
}

type ProblemsOf = (text: string) => readonly string[];

/**
 * Collects the problems of an object, one cause per field, with the reasons and messages of apimachinery's `field`
 * package. The methods take the path of a field relative to the whole object or, for errors returned by {@link at}, to
 * the part of the object that `at` names. The empty path is the object or the part itself.
 */
export class FieldErrors {
  readonly causes: StatusCause[] = [];
  /** Problems for which the API server does not reject the object. */
  readonly warnings: string[] = [];
  #place = '';

  /** Returns a collector for a part of the object. It adds its causes and warnings to this collector. */
  at(field: string): FieldErrors {
    const part = new FieldErrors();
    part.#place = this.#pathOf(field);
    return Object.assign(part, { causes: this.causes, warnings: this.warnings });
  }

  #pathOf(field: string): string {
    if (field === '') return this.#place;
    return this.#place === '' || field.startsWith('[')
      ? `${this.#place}${field}`
      : `${this.#place}.${field}`;
  }

  get empty(): boolean {
    return this.causes.length === 0;
  }

  #add(reason: string, field: string, said: string, detail = ''): void {
    const message = detail === '' ? said : `${said}: ${detail}`;
    this.causes.push({ reason, message, field: this.#pathOf(field) });
  }

  /** Adds the causes of other errors. */
  append(causes: Iterable<StatusCause>): void {
    // One by one, because V8 allows only about 100,000 arguments in one call.
    for (const cause of causes) this.causes.push(cause);
  }

  required(field: string, detail = ''): void {
    this.#add('FieldValueRequired', field, 'Required value', detail);
  }

  invalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueInvalid', field, `Invalid value: ${shown(value)}`, detail);
  }

  /** Adds a cause for each problem of a value. */
  invalidEach(field: string, value: unknown, problems: Iterable<string>): void {
    for (const problem of problems) this.invalid(field, value, problem);
  }

  /** Adds a cause for each problem of a text, if it is set. */
  text(field: string, value: string | undefined, problemsOf: ProblemsOf): void {
    if (value !== undefined) this.invalidEach(field, value, problemsOf(value));
  }

  /** Adds a cause for each problem of a text, unless it is missing or empty. */
  optionalText(field: string, value: string | undefined, problemsOf: ProblemsOf): void {
    if (value !== '') this.text(field, value, problemsOf);
  }

  /** Adds a cause if a text is empty, else for each of its problems. */
  requiredText(field: string, value: string, problemsOf: ProblemsOf): void {
    if (value === '') this.required(field);
    else this.text(field, value, problemsOf);
  }

  /** Adds a cause if a value has changed. */
  immutable(field: string, value: unknown, old: unknown): void {
    if (!deepEqual(value, old)) this.invalid(field, value, 'field is immutable');
  }

  /**
   * Checks each item of a list at its place. The list may be null: the decoder sets a missing list to null, as Go does.
   */
  each<T>(
    field: string,
    items: readonly T[] | null | undefined,
    check: (item: T, errors: FieldErrors) => void,
  ): void {
    for (const [index, item] of (items ?? []).entries()) check(item, this.at(`${field}[${index}]`));
  }

  /** Adds a cause for an invalid value without showing the value. */
  wrong(field: string, detail: string): void {
    this.#add('FieldValueInvalid', field, 'Invalid value', detail);
  }

  internal(field: string, detail: string): void {
    this.#add('InternalError', field, 'Internal error', detail);
  }

  /** Adds a cause for a value whose JSON type differs from the schema's. */
  typeInvalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', field, `Invalid value: ${shown(value)}`, detail);
  }

  duplicate(field: string, value: unknown, detail = ''): void {
    this.#add('FieldValueDuplicate', field, `Duplicate value: ${shown(value)}`, detail);
  }

  /** Adds a cause if a value is in `seen`, then adds the value to `seen`. */
  unique<T>(field: string, value: T, seen: Set<T>): void {
    if (seen.has(value)) this.duplicate(field, value);
    seen.add(value);
  }

  /** Adds a cause for a duplicate that is too large to show. */
  duplicateOne(field: string): void {
    this.#add('FieldValueDuplicate', field, 'Duplicate value');
  }

  notFound(field: string, value: unknown, detail = ''): void {
    this.#add('FieldValueNotFound', field, `Not found: ${shown(value)}`, detail);
  }

  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    this.#notSupported(field, shown(value), supported);
  }

  #notSupported(field: string, text: string, supported: readonly string[]): void {
    const detail =
      supported.length === 0 ? '' : `supported values: ${supported.map(quoted).join(', ')}`;
    this.#add('FieldValueNotSupported', field, `Unsupported value: ${text}`, detail);
  }

  /** Adds a cause if a value is set and is not one of `supported`. */
  oneOf(field: string, value: string | undefined, supported: readonly string[]): void {
    if (value === undefined || supported.includes(value)) return;
    // Go writes a value as JSON if its type is based on string.
    this.#notSupported(field, htmlSafeJson(JSON.stringify(value)), supported);
  }

  /** Adds a cause if a value is empty, or is not one of `supported`. */
  requiredOneOf(field: string, value: string, supported: readonly string[]): void {
    if (value === '') this.required(field);
    else this.oneOf(field, value, supported);
  }

  forbidden(field: string, detail: string): void {
    this.#add('FieldValueForbidden', field, 'Forbidden', detail);
  }

  /** @param limit - maximum length, in bytes */
  tooLong(field: string, limit: number): void {
    this.#add('FieldValueTooLong', field, 'Too long', `may not be more than ${limit} bytes`);
  }

  tooMany(field: string, count: number, limit: number): void {
    const detail = `must have at most ${limit} item${limit === 1 ? '' : 's'}`;
    this.#add('FieldValueTooMany', field, `Too many: ${count}`, detail);
  }
}

import { refuseUnknownOptions, OperatorError } from '../system/index.js';
import { deepEqual } from './deep-equal.js';
import { isJsonObject, memberOf, withMember, withoutMember } from './json.js';

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Options of {@link applyJsonPatch}. */
export interface JsonPatchOptions {
  /**
   * `kubernetes` reads patches like kube-apiserver, which is laxer than RFC 6902. `replace` adds an absent
   * member, and `test` and `copy` treat it as null. An absent `value` is null. A list index may have leading zeros; a
   * negative one counts from the end. @defaultValue 'rfc6902'
   */
  readonly dialect?: 'rfc6902' | 'kubernetes' | undefined;
}

/**
 * The reason for refusing a JSON patch: it is `malformed` for any document, the document has a
 * `missing-path`, or a `test` found another value.
 */
export type JsonPatchProblem = 'malformed' | 'missing-path' | 'test-failed';

/** A JSON patch failed; none of its operations were applied. */
export class JsonPatchError extends OperatorError {
  readonly problem: JsonPatchProblem;
  /** The index of the failed operation, from 0. */
  readonly index: number;

  constructor(problem: JsonPatchProblem, index: number, why: string) {
    super('InvalidPatch', `JSON patch: operation ${index}: ${why}`);
    this.problem = problem;
    this.index = index;
  }
}

/**
 * Applies a JSON patch (RFC 6902) to `document`, all of it or nothing. The document stays unchanged; the
 * result shares parts with the document and with the patch.
 *
 * `__proto__` and `constructor` are ordinary names and reach only the document's own members.
 * @throws JsonPatchError `InvalidPatch`
 */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
  options: JsonPatchOptions = {},
): unknown {
  const { dialect = 'rfc6902' } = options;
  refuseUnknownOptions<JsonPatchOptions>('applyJsonPatch', options, { dialect });
  const patcher = new JsonPatcher(dialect === 'kubernetes');
  return operations.reduce<unknown>((before, operation, index) => {
    try {
      return patcher.apply(before, operation);
    } catch (error) {
      if (error instanceof Refusal) throw new JsonPatchError(error.problem, index, error.message);
      throw error;
    }
  }, document);
}

/** The maximum number of values in all copies of a patch. */
const maxCopied = 1_000_000;

/** Counts the values in `value`, up to just above `limit`. */
function countValues(value: unknown, limit: number): number {
  const open = [value];
  let count = 0;
  for (; open.length > 0 && count <= limit; count++) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const inner of Object.values(next)) open.push(inner);
  }
  return count;
}

/** Thrown to {@link applyJsonPatch}, which adds the index of the operation. */
class Refusal extends Error {
  readonly problem: JsonPatchProblem;

  constructor(problem: JsonPatchProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** How an operation changes the list or object that contains the member at the end of its path. */
interface ParentEdit {
  /** @param index - the index in the list; the length of the list for the place after its last item */
  readonly list: (list: readonly unknown[], index: number) => unknown;
  readonly object: (object: Readonly<Record<string, unknown>>, name: string) => unknown;
  /** Whether the index may be the place after the last item. @defaultValue false */
  readonly mayAppend?: boolean;
}

/** Replaces the value at the end of a path. */
function put(value: unknown): ParentEdit {
  return {
    list: (list, index) => list.with(index, value),
    object: (object, name) => withMember(object, name, value),
  };
}

/** Applies single operations, in the dialect of RFC 6902 or the laxer one of kube-apiserver. */
class JsonPatcher {
  readonly #isLax: boolean;
  #copiedValues = 0;

  constructor(isLax: boolean) {
    this.#isLax = isLax;
  }

  apply(document: unknown, operation: JsonPatchOperation): unknown {
    const { op, path } = operation;
    const tokens = this.#tokensOf(path, 'path');
    switch (op) {
      case 'add':
        return this.#add(document, tokens, this.#valueOf(operation));
      case 'remove':
        this.#read(document, tokens);
        return this.#remove(document, tokens);
      case 'replace':
        return this.#replace(document, tokens, this.#valueOf(operation));
      case 'test':
        return this.#test(document, tokens, this.#valueOf(operation));
      case 'copy':
        return this.#add(document, tokens, this.#copied(document, this.#fromOf(operation)));
      case 'move':
        return this.#move(document, this.#fromOf(operation), tokens);
      default:
        throw new Refusal('malformed', `unknown op ${JSON.stringify(op)}`);
    }
  }

  /**
   * Limits the size of copies. The result shares them, but its JSON repeats them: each copy may double the
   * document.
   */
  #copied(document: unknown, from: readonly string[]): unknown {
    if (this.#isLax && this.#isAbsent(document, from)) return null;
    const value = this.#read(document, from);
    this.#copiedValues += countValues(value, maxCopied - this.#copiedValues);
    if (this.#copiedValues <= maxCopied) return value;
    throw new Refusal('malformed', `copy: the copies have more than ${maxCopied} values`);
  }

  #add(document: unknown, tokens: readonly string[], value: unknown): unknown {
    if (tokens.length === 0) return value;
    return this.#atParent(document, tokens, {
      list: (list, index) => list.toSpliced(index, 0, value),
      object: (object, name) => withMember(object, name, value),
      mayAppend: true,
    });
  }

  #remove(document: unknown, tokens: readonly string[]): unknown {
    if (tokens.length === 0) return null;
    return this.#atParent(document, tokens, {
      list: (list, index) => list.toSpliced(index, 1),
      object: (object, name) => withoutMember(object, name),
    });
  }

  #replace(document: unknown, tokens: readonly string[], value: unknown): unknown {
    if (!this.#isLax) this.#read(document, tokens);
    return tokens.length === 0 ? value : this.#atParent(document, tokens, put(value));
  }

  #test(document: unknown, tokens: readonly string[], value: unknown): unknown {
    const isHeld =
      (this.#isLax && value === null && this.#isAbsent(document, tokens)) ||
      deepEqual(this.#read(document, tokens), value);
    if (isHeld) return document;
    const path = formatJsonPointer(tokens) || '(root)';
    throw new Refusal('test-failed', `test ${path}: the value differs`);
  }

  /** Whether the path ends in a missing member of an existing object. */
  #isAbsent(document: unknown, tokens: readonly string[]): boolean {
    const name = tokens.at(-1);
    if (name === undefined) return false;
    const parent = this.#read(document, tokens.slice(0, -1));
    return isJsonObject(parent) && memberOf(parent, name) === undefined;
  }

  #move(document: unknown, from: readonly string[], tokens: readonly string[]): unknown {
    const value = this.#read(document, from);
    if (deepEqual(from, tokens)) return document;
    if (deepEqual(from, tokens.slice(0, from.length))) {
      const path = formatJsonPointer(from) || '(root)';
      throw new Refusal('malformed', `move: ${path} can't move into itself`);
    }
    return this.#add(this.#remove(document, from), tokens, value);
  }

  #read(document: unknown, tokens: readonly string[]): unknown {
    return tokens.reduce<unknown>(
      (value, _token, depth) => this.#child(value, tokens, depth),
      document,
    );
  }

  /** Copies the lists and objects along the path, and changes the last one with `edit`. */
  #atParent(document: unknown, tokens: readonly string[], edit: ParentEdit): unknown {
    const rebuild = (container: unknown, depth: number): unknown => {
      const isLast = depth === tokens.length - 1;
      const { list, object, mayAppend } = isLast
        ? edit
        : put(rebuild(this.#child(container, tokens, depth), depth + 1));
      if (Array.isArray(container)) {
        return list(container, this.#indexIn(container, tokens, { depth, mayAppend }));
      }
      if (isJsonObject(container)) return object(container, tokens[depth] ?? '');
      throw missing(tokens, depth);
    };
    return rebuild(document, 0);
  }

  #child(container: unknown, tokens: readonly string[], depth: number): unknown {
    const token = tokens[depth] ?? '';
    const value = Array.isArray(container)
      ? (container[this.#indexIn(container, tokens, { depth })] as unknown)
      : isJsonObject(container)
        ? memberOf(container, token)
        : undefined;
    if (value === undefined) throw missing(tokens, depth + 1);
    return value;
  }

  #indexIn(
    list: readonly unknown[],
    tokens: readonly string[],
    { depth, mayAppend = false }: { depth: number; mayAppend?: boolean | undefined },
  ): number {
    const token = tokens[depth] ?? '';
    if (token === '-' && mayAppend) return list.length;
    const places = list.length + (mayAppend ? 1 : 0);
    const isIndex = (this.#isLax ? /^[+-]?[0-9]+$/ : /^(?:0|[1-9][0-9]*)$/).test(token);
    const index = isIndex ? Number(token) : NaN;
    const fromStart = index < 0 ? index + places : index;
    if (fromStart >= 0 && fromStart < places) return fromStart;
    const path = formatJsonPointer(tokens);
    throw new Refusal(
      'missing-path',
      `${path}: ${token} is not an index of a list of ${list.length}`,
    );
  }

  #valueOf(operation: JsonPatchOperation & { value?: unknown }): unknown {
    if (operation.value !== undefined) return operation.value;
    if (this.#isLax) return null;
    // An absent value is malformed; null is a value.
    throw new Refusal('malformed', `${operation.op} has no value`);
  }

  #fromOf(operation: { readonly from?: unknown }): string[] {
    return this.#tokensOf(operation.from, 'from');
  }

  #tokensOf(pointer: unknown, member: string): string[] {
    if (typeof pointer !== 'string') throw new Refusal('malformed', `${member} is missing`);
    const tokens = parseJsonPointer(pointer);
    if (tokens !== undefined && (this.#isLax || isWellEscaped(pointer))) return tokens;
    throw new Refusal('malformed', `${member} ${pointer} is not a JSON pointer`);
  }
}

function missing(tokens: readonly string[], depth: number): Refusal {
  const gone = formatJsonPointer(tokens.slice(0, depth)) || '(root)';
  return new Refusal('missing-path', `${formatJsonPointer(tokens)}: ${gone} does not exist`);
}

/**
 * Returns the JSON patch (RFC 6902) that changes `from` to `to`; empty if they are equal. Objects are
 * compared member by member; a member that is `undefined` counts as absent. Lists are compared by index, so
 * an inserted item replaces those after it.
 */
export function createJsonPatch(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  return [...changes(from, to, [])];
}

type Path = readonly string[];

function* changes(from: unknown, to: unknown, path: Path): Generator<JsonPatchOperation> {
  if (isJsonObject(from) && isJsonObject(to)) yield* memberChanges(from, to, path);
  else if (Array.isArray(from) && Array.isArray(to)) yield* itemChanges(from, to, path);
  else if (!deepEqual(from, to)) yield { op: 'replace', path: formatJsonPointer(path), value: to };
}

function* memberChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<JsonPatchOperation> {
  for (const name of Object.keys(from)) {
    const isGone = memberOf(from, name) !== undefined && memberOf(to, name) === undefined;
    if (isGone) yield { op: 'remove', path: formatJsonPointer([...path, name]) };
  }
  for (const name of Object.keys(to)) {
    const value = memberOf(to, name);
    if (value === undefined) continue;
    const before = memberOf(from, name);
    const inner = [...path, name];
    if (before === undefined) yield { op: 'add', path: formatJsonPointer(inner), value };
    else yield* changes(before, value, inner);
  }
}

function* itemChanges(
  from: readonly unknown[],
  to: readonly unknown[],
  path: Path,
): Generator<JsonPatchOperation> {
  const at = (index: number): Path => [...path, String(index)];
  const shared = Math.min(from.length, to.length);
  for (let index = 0; index < shared; index++) yield* changes(from[index], to[index], at(index));
  // From the end, so that a removal does not shift the indexes of later ones.
  for (let index = from.length - 1; index >= shared; index--) {
    yield { op: 'remove', path: formatJsonPointer(at(index)) };
  }
  for (const value of to.slice(shared)) {
    yield { op: 'add', path: formatJsonPointer([...path, '-']), value };
  }
}

/**
 * Returns the reference tokens of a JSON pointer (RFC 6901), unescaped; empty for the whole document.
 * @returns undefined if `pointer` is invalid: it does not begin with `/`
 */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  // Both escapes in one replacement: in two steps, `~01`, which stands for `~1`, would become `/`.
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll(/~[01]/g, (escaped) => (escaped === '~0' ? '~' : '/')));
}

/** Formats reference tokens as a JSON pointer (RFC 6901). */
export function formatJsonPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Whether every `~` of `pointer` is a valid escape of RFC 6901. */
export function isWellEscaped(pointer: string): boolean {
  return !/~(?![01])/.test(pointer);
}

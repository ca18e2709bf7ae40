import isEqual from 'lodash/isEqual.js';
import { OperatorError } from '../system/operator-error.js';
import { isJsonObject, memberOf, withMember, withoutMember } from './json.js';

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/**
 * Why a JSON patch was refused: it is `malformed` (no document could take it), the document has no
 * such `missing-path`, or a `test` found another value.
 */
export type JsonPatchProblem = 'malformed' | 'missing-path' | 'test-failed';

/** A JSON patch could not be applied; nothing of it was. */
export class JsonPatchError extends OperatorError {
  readonly problem: JsonPatchProblem;
  /** The operation that failed, counted from 0. */
  readonly index: number;

  constructor(problem: JsonPatchProblem, index: number, why: string) {
    super('InvalidPatch', `JSON patch: operation ${index}: ${why}`);
    this.problem = problem;
    this.index = index;
  }
}

/**
 * Applies a JSON patch (RFC 6902) to `document`, all of it or nothing. The document is not written
 * to; the result shares what did not change with it and with the patch.
 *
 * `__proto__` and `constructor` are names like any other and reach only the document's own members.
 * @throws JsonPatchError `InvalidPatch`
 */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
): unknown {
  return operations.reduce<unknown>((before, operation, index) => {
    try {
      return applyOperation(before, operation);
    } catch (error) {
      if (error instanceof Refusal) throw new JsonPatchError(error.problem, index, error.message);
      throw error;
    }
  }, document);
}

/** Unwinds to {@link applyJsonPatch}, which knows the operation's index. */
class Refusal extends Error {
  readonly problem: JsonPatchProblem;

  constructor(problem: JsonPatchProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

function applyOperation(document: unknown, operation: JsonPatchOperation): unknown {
  const { op, path } = operation;
  const tokens = tokensOf(path, 'path');
  switch (op) {
    case 'add':
      return add(document, tokens, valueOf(operation));
    case 'remove':
      return remove(document, tokens);
    case 'replace':
      read(document, tokens);
      return replace(document, tokens, valueOf(operation));
    case 'test':
      if (!isEqual(read(document, tokens), valueOf(operation))) {
        throw new Refusal('test-failed', `test ${path || '(root)'}: the value is another one`);
      }
      return document;
    case 'copy':
      return add(document, tokens, read(document, tokensOf(operation.from, 'from')));
    case 'move':
      return move(document, operation.from, path);
    default:
      throw new Refusal('malformed', `unknown op ${JSON.stringify(op)}`);
  }
}

function move(document: unknown, from: string, path: string): unknown {
  const source = tokensOf(from, 'from');
  const target = tokensOf(path, 'path');
  const value = read(document, source);
  if (from === path) return document;
  if (path.startsWith(`${from}/`)) {
    throw new Refusal('malformed', `move: ${from || '(root)'} can't move into itself`);
  }
  return add(remove(document, source), target, value);
}

function valueOf(operation: JsonPatchOperation & { value?: unknown }): unknown {
  // Absent is malformed; null is a value.
  if (operation.value === undefined) throw new Refusal('malformed', `${operation.op} has no value`);
  return operation.value;
}

/** The reference tokens of a JSON pointer (RFC 6901). */
function tokensOf(pointer: unknown, member: string): string[] {
  if (typeof pointer !== 'string') throw new Refusal('malformed', `${member} is missing`);
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) {
    throw new Refusal('malformed', `${member} ${pointer} is no JSON pointer`);
  }
  // `~01` is `~1`: one pass, or it would become `/`.
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll(/~[01]/g, (escaped) => (escaped === '~0' ? '~' : '/')));
}

function read(document: unknown, tokens: readonly string[]): unknown {
  return tokens.reduce<unknown>((value, _token, depth) => child(value, tokens, depth), document);
}

function add(document: unknown, tokens: readonly string[], value: unknown): unknown {
  return atParent(document, tokens, {
    root: () => value,
    list: (list, token) => list.toSpliced(indexIn(list, token, tokens, 1), 0, value),
    object: (object, name) => withMember(object, name, value),
  });
}

function replace(document: unknown, tokens: readonly string[], value: unknown): unknown {
  return atParent(document, tokens, {
    root: () => value,
    list: (list, token) => list.with(indexIn(list, token, tokens, 0), value),
    object: (object, name) => withMember(object, name, value),
  });
}

function remove(document: unknown, tokens: readonly string[]): unknown {
  read(document, tokens);
  return atParent(document, tokens, {
    root: () => null,
    list: (list, token) => list.toSpliced(indexIn(list, token, tokens, 0), 1),
    object: (object, name) => withoutMember(object, name),
  });
}

/** What an operation does to the container that its path ends in. */
interface ParentEdit {
  root(): unknown;
  list(list: readonly unknown[], token: string): unknown;
  object(object: Readonly<Record<string, unknown>>, name: string): unknown;
}

/** Rebuilds the containers on the way to the last token, the last one by `edit`. */
function atParent(document: unknown, tokens: readonly string[], edit: ParentEdit): unknown {
  const last = tokens.at(-1);
  if (last === undefined) return edit.root();
  const rebuild = (container: unknown, depth: number): unknown => {
    if (depth < tokens.length - 1) {
      const inner = rebuild(child(container, tokens, depth), depth + 1);
      const token = tokens[depth] ?? '';
      return Array.isArray(container)
        ? container.with(Number(token), inner)
        : withMember(container as Record<string, unknown>, token, inner);
    }
    if (Array.isArray(container)) return edit.list(container, last);
    if (isJsonObject(container)) return edit.object(container, last);
    throw missing(tokens, depth);
  };
  return rebuild(document, 0);
}

function child(container: unknown, tokens: readonly string[], depth: number): unknown {
  const token = tokens[depth] ?? '';
  const value = Array.isArray(container)
    ? (container[indexIn(container, token, tokens, 0)] as unknown)
    : isJsonObject(container)
      ? memberOf(container, token)
      : undefined;
  if (value === undefined) throw missing(tokens, depth + 1);
  return value;
}

/** @param beyond - how far past the last entry the index may point; 1 allows `-` too. */
function indexIn(
  list: readonly unknown[],
  token: string,
  tokens: readonly string[],
  beyond: 0 | 1,
): number {
  if (token === '-' && beyond === 1) return list.length;
  const index = /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : NaN;
  if (!(index < list.length + beyond)) {
    const path = pointerOf(tokens);
    throw new Refusal('missing-path', `${path}: ${token} is no index of a list of ${list.length}`);
  }
  return index;
}

function missing(tokens: readonly string[], depth: number): Refusal {
  const path = pointerOf(tokens);
  const gone = pointerOf(tokens.slice(0, depth)) || '(root)';
  return new Refusal('missing-path', `${path}: ${gone} is not there`);
}

function pointerOf(tokens: readonly string[]): string {
  const escaped = tokens.map((token) => token.replaceAll('~', '~0').replaceAll('/', '~1'));
  return escaped.map((token) => `/${token}`).join('');
}

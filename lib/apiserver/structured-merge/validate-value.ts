import {
  elementToServerString,
  indexElement,
  goSyntax,
  goText,
  goTypeOf,
  isJsonObject,
} from '../../object/index.js';
import type { FieldPath, TypeMeta, UnstructuredObject } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { fieldAtom, listElement, shapeOf } from './atom.js';
import type { Atom, ListType, MapType, Scalar } from './atom.js';
import { metadataOf } from './managers.js';

/** Options of {@link validateValue}. */
interface ValidateOptions {
  /** Allows several entries with one key. Live objects may have such entries, applied objects may not. */
  readonly allowDuplicates: boolean;
}

/** The options of a check, and the list to which the checks of a value and of all its parts add their problems. */
interface Validation extends ValidateOptions {
  readonly problems: TypeProblem[];
}

/** Returns the problems of `value`: wrong types, undeclared fields, list entries without a key. */
export function validateValue(
  value: unknown,
  atom: Atom,
  { allowDuplicates }: ValidateOptions,
): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  validate(value, atom, { allowDuplicates, problems });
  return problems;
}

function validate(value: unknown, atom: Atom, to: Validation): void {
  switch (shapeOf(atom, value)) {
    case 'map':
      validateMap(value, atom.map as MapType, to);
      break;
    case 'list':
      validateList(value, atom.list as ListType, to);
      break;
    case 'scalar':
      validateScalar(value, atom.scalar as Scalar, to);
      break;
    case undefined:
      report(to, 'schema error: invalid atom: inlined');
  }
}

function validateMap(value: unknown, map: MapType, to: Validation): void {
  if (value === null) return;
  if (!isJsonObject(value)) {
    report(to, `expected map, got ${goPointer(value)}`);
    return;
  }
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const before = to.problems.length;
    const isDeclared = map.others !== undefined || map.fields.has(name);
    if (isDeclared) validate(member, fieldAtom(map, name), to);
    else report(to, 'field not declared in schema');
    if (to.problems.length > before) addPrefix(to, before, `.${name}`);
    // The first undeclared field ends the check of its siblings, as on the real server.
    if (!isDeclared) return;
  }
}

function validateList(value: unknown, list: ListType, to: Validation): void {
  if (value === null) return;
  if (!Array.isArray(value)) {
    report(to, `expected list, got ${goPointer(value)}`);
    return;
  }
  const seen = list.atomic || to.allowDuplicates ? undefined : new Set<string>();
  for (const [index, item] of (value as unknown[]).entries()) {
    const named = list.atomic ? { element: indexElement(index) } : listElement(list, item);
    if (named.element === undefined) {
      report(to, `element ${index}: ${named.problem}`);
      return;
    }
    const { element } = named;
    if (seen?.has(element) === true) {
      report(to, `duplicate entries for key ${elementToServerString(element)}`);
    }
    seen?.add(element);
    const before = to.problems.length;
    validate(item, list.items.atom, to);
    if (to.problems.length > before) addPrefix(to, before, elementToServerString(element));
  }
}

/** Reports a value that is not of type `scalar`. `null` and `undefined` fit every type. */
function validateScalar(value: unknown, scalar: Scalar, to: Validation): void {
  if (value === null || value === undefined) return;
  const type = typeof value;
  switch (scalar) {
    case 'numeric':
      if (type !== 'number') report(to, `expected numeric (int or float), got ${goTypeOf(value)}`);
      break;
    case 'string':
      if (type !== 'string') report(to, `expected string, got ${goUnstructured(value)}`);
      break;
    case 'boolean':
      if (type !== 'boolean') report(to, `expected boolean, got ${goPointer(value)}`);
      break;
    case 'untyped':
      if (type === 'object') report(to, `expected any scalar, got ${goPointer(value)}`);
  }
}

function goUnstructured(value: unknown): string {
  return `&value.valueUnstructured{Value:${goSyntax(value)}}`;
}

function goPointer(value: unknown): string {
  return `&{${goText(value)}}`;
}

interface CheckTypeOptions extends ValidateOptions {
  /** Returns the start of the error message. @param object - The object as the server names it. */
  readonly doing: (object: string) => string;
}

/** Checks that `object` fits `atom`. @throws TypedConversionError `object` does not fit `atom`. */
export function checkType(object: UnstructuredObject, atom: Atom, options: CheckTypeOptions): void {
  const problems = validateValue(object, atom, options);
  if (problems.length > 0) throwProblems(problems, options.doing(objectText(object)));
}

/**
 * Checks a value that was converted from another version.
 * @throws TypedConversionError `value` does not fit `atom`. The message lists the problems only; the caller prepends
 * the operation.
 */
export function checkConverted(value: unknown, atom: Atom): void {
  const problems = validateValue(value, atom, { allowDuplicates: false });
  if (problems.length > 0) throw new TypedConversionError(problemText(problems));
}

/**
 * Runs `convert`, and adds `doing` to the start of its message if it fails.
 * @throws TypedConversionError
 */
export function converting<T>(doing: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof TypedConversionError)) throw error;
    throw new TypedConversionError(`${doing}: ${error.message}`);
  }
}

/** Returns a kind as the server writes it in messages: `/v1, Kind=ConfigMap`. */
export function kindText(object: Partial<TypeMeta>): string {
  // A body applied to a Scale may lack `apiVersion` and `kind`.
  const { apiVersion = '', kind = '' } = object;
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${groupVersion}, Kind=${kind}`;
}

// Returns an object as the server names it in these messages.
function objectText(object: UnstructuredObject): string {
  const { namespace = '', name = '' } = metadataOf(object);
  return `${namespace}/${name}; ${kindText(object)}`;
}

/** A part of a value that does not fit its type. */
interface TypeProblem {
  /** The path as the server writes it: `.spec.ports[port=80]`; empty at the top. */
  path: string;
  readonly message: string;
}

/** Adds a problem at the current path. */
function report({ problems }: Validation, message: string): void {
  problems.push({ path: '', message });
}

/** Prepends `prefix` to the paths of the problems from `first` on. Callers do so while they return to the parent. */
function addPrefix({ problems }: Validation, first: number, prefix: string): void {
  for (const each of problems.slice(first)) each.path = prefix + each.path;
}

/** Formats one problem as a line, several as a list below `errors:`. */
function problemText(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return lines.length === 1
    ? (lines[0] ?? '')
    : ['errors:', ...lines.map((l) => `  ${l}`)].join('\n');
}

/** Throws if there are problems. @throws TypedConversionError `problems` is not empty. */
function throwProblems(problems: readonly TypeProblem[], doing: string): void {
  if (problems.length > 0) throw new TypedConversionError(`${doing}: ${problemText(problems)}`);
}

/** A field of an apply that another manager owns with another value. */
export interface FieldConflict {
  /** The name of the manager that owns the field. */
  readonly manager: string;
  /** The text by which the server names that manager: `"kubectl" using v1`, `"hpa" with subresource "scale"`. */
  readonly owner: string;
  /** The field as the server writes it: `.spec.replicas`, `.spec.ports[port=80,protocol="TCP"].targetPort`. */
  readonly field: string;
  readonly path: FieldPath;
}

/**
 * An apply without `force` would change fields of other managers: 409, reason `Conflict`, one cause
 * `FieldManagerConflict` per field. The message is that of the `Status`.
 */
export class ApplyConflictError extends OperatorError {
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[]) {
    super('ApplyConflict', conflictMessage(conflicts));
    this.conflicts = conflicts;
  }

  /** The `details.causes` of the `Status`. */
  get causes(): { reason: string; message: string; field: string }[] {
    return this.conflicts.map(({ owner, field }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${owner}`,
      field,
    }));
  }
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.field}`;
  }
  const owners = [...new Set(conflicts.map(({ owner }) => owner))];
  const lines = owners.flatMap((owner) => [
    `conflicts with ${owner}:`,
    ...conflicts.filter((conflict) => conflict.owner === owner).map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/**
 * An object does not fit its schema, so the server cannot compute its field set. The object has an undeclared
 * field, a wrong type, or two list entries with one key. The real server answers 500 without a reason. The
 * message is that of the `Status`.
 */
export class TypedConversionError extends OperatorError {
  constructor(message: string) {
    super('InvalidObject', message);
  }
}

/** An apply request is invalid: 400, reason `BadRequest`. */
export class BadApplyError extends OperatorError {
  constructor(message: string) {
    super('InvalidPatch', message);
  }
}

import { elementToServerString, indexElement } from '../../object/field-path.js';
import { goSyntax, goText, goTypeOf } from '../../object/go-text.js';
import { isJsonObject } from '../../object/json.js';
import { fieldAtom, shapeOf } from './atom.js';
import type { Atom, ListType, MapType, Scalar } from './atom.js';
import { listElement } from './list-element.js';
import { prefixed, problem } from './type-problems.js';
import type { TypeProblem } from './type-problems.js';

/** Options of {@link validateValue}. */
export interface ValidateOptions {
  /** Allows several entries with one key. Live objects may have them, applied ones may not. */
  readonly allowDuplicates: boolean;
}

/** Returns the problems of `value`: wrong types, undeclared fields, list entries without a key. */
export function validateValue(value: unknown, atom: Atom, options: ValidateOptions): TypeProblem[] {
  switch (shapeOf(atom, value)) {
    case 'map':
      return validateMap(value, atom.map as MapType, options);
    case 'list':
      return validateList(value, atom.list as ListType, options);
    case 'scalar':
      return validateScalar(value, atom.scalar as Scalar);
    case undefined:
      return problem('schema error: invalid atom: inlined');
  }
}

function validateMap(value: unknown, map: MapType, options: ValidateOptions): TypeProblem[] {
  if (value === null) return [];
  if (!isJsonObject(value)) return problem(`expected map, got ${goPointer(value)}`);
  const problems: TypeProblem[] = [];
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (map.others === undefined && !map.fields.has(name)) {
      // The first undeclared field ends the check of its siblings, as on the real server.
      return [...problems, ...prefixed(problem('field not declared in schema'), `.${name}`)];
    }
    const found = validateValue(member, fieldAtom(map, name), options);
    if (found.length > 0) problems.push(...prefixed(found, `.${name}`));
  }
  return problems;
}

function validateList(value: unknown, list: ListType, options: ValidateOptions): TypeProblem[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return problem(`expected list, got ${goPointer(value)}`);
  const problems: TypeProblem[] = [];
  const seen = new Set<string>();
  for (const [index, item] of (value as unknown[]).entries()) {
    const named = list.atomic ? { element: indexElement(index) } : listElement(list, item);
    if (named.element === undefined) {
      return [...problems, ...problem(`element ${index}: ${named.problem}`)];
    }
    const { element } = named;
    if (!options.allowDuplicates && seen.has(element)) {
      problems.push(...problem(`duplicate entries for key ${elementToServerString(element)}`));
    }
    seen.add(element);
    const found = validateValue(item, list.items.atom, options);
    if (found.length > 0) problems.push(...prefixed(found, elementToServerString(element)));
  }
  return problems;
}

/** Returns the problem of a value that is not of type `scalar`. `null` and `undefined` fit every type. */
function validateScalar(value: unknown, scalar: Scalar): TypeProblem[] {
  if (value === null || value === undefined) return [];
  const type = typeof value;
  switch (scalar) {
    case 'numeric':
      if (type === 'number') return [];
      return problem(`expected numeric (int or float), got ${goTypeOf(value)}`);
    case 'string':
      if (type === 'string') return [];
      return problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case 'boolean':
      if (type === 'boolean') return [];
      return problem(`expected boolean, got ${goPointer(value)}`);
    case 'untyped':
      if (type !== 'object') return [];
      return problem(`expected any scalar, got ${goPointer(value)}`);
  }
}

function goPointer(value: unknown): string {
  return `&{${goText(value)}}`;
}

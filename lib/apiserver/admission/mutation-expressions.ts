import {
  CelList,
  CelObject,
  CelError,
  declare,
  dynType,
  listType,
  overloadsOf,
  stringType,
  structType,
  typeText,
} from '../../crd/internal.js';
import type {
  CelExtension,
  CelMap,
  CelProgram,
  CelStructType,
  CelType,
  CelValue,
} from '../../crd/internal.js';
import { authorizerFunctions } from './authorizer-expressions.js';

const jsonPatchType = structType('JSONPatch', new Map());
const jsonPatchFields: ReadonlyMap<string, CelType> = new Map([
  ...['op', 'path', 'from'].map((field) => [field, stringType] as const),
  ['value', dynType],
]);

/**
 * Returns the type `Object`, or the type of one of its fields such as `Object.spec.template`. Values of these types may
 * have any field.
 */
function objectType(name: string): CelStructType | undefined {
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined;
  return { type: structType(name, new Map()), fieldNamed: () => dynType };
}

const escapeKey = declare('jsonpatch::escapeKey(string): string', (key: string) =>
  key.replaceAll('~', '~0').replaceAll('/', '~1'),
);

/** The functions and types of the expressions of MutatingAdmissionPolicies. */
export const mutationExtension: CelExtension = {
  functions: new Map([...authorizerFunctions, ...overloadsOf([escapeKey])]),
  structNamed: (name) =>
    name === 'JSONPatch'
      ? { type: jsonPatchType, fieldNamed: (field) => jsonPatchFields.get(field) }
      : objectType(name),
};

/** The type that an expression of a mutation must have. */
export const mutationTypes = {
  JSONPatch: listType(jsonPatchType),
  ApplyConfiguration: structType('Object', new Map()),
} as const;

/** Returns the problem if the expression of a mutation has another type than `wanted`; otherwise undefined. */
export function mutationTypeProblem({ type }: CelProgram, wanted: CelType): string | undefined {
  const [given, expected] = [typeText(type), typeText(wanted)];
  return given === expected ? undefined : `must evaluate to ${expected} but got ${given}`;
}

/**
 * Converts the value of a mutation to JSON.
 * @throws CelError the type name of an object is not its path (such as `Object.spec` for `spec`), or a value has no
 * JSON form.
 */
export function mutationJson(value: CelValue): unknown {
  if (value instanceof CelObject) checkTypeNames(value, value.typeName);
  return jsonOf(value);
}

function checkTypeNames(value: CelValue, path: string): void {
  if (value instanceof CelList) {
    for (const item of value.items) checkTypeNames(item, path);
    return;
  }
  if (!(value instanceof CelObject)) return;
  if (value.typeName !== path) {
    const wanted = `expected "${path}", which matches field name path from root Object type`;
    throw new CelError(`type mismatch: unexpected type name "${value.typeName}", ${wanted}`);
  }
  for (const key of value.keys()) {
    checkTypeNames(value.get(key) ?? null, `${path}.${nameOf(key)}`);
  }
}

function jsonOf(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelList) return value.items.map(jsonOf);
  if ('isMap' in value) return jsonOfMap(value);
  throw new CelError('the value has no JSON form');
}

function jsonOfMap(map: CelMap): Readonly<Record<string, unknown>> {
  const isObject = map instanceof CelObject;
  const entries = map.keys().map((key) => {
    const name = nameOf(key);
    return [isObject ? unescaped(name) : name, jsonOf(map.get(key) ?? null)] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws CelError the key is not a string. */
function nameOf(key: CelValue): string {
  if (typeof key === 'string') return key;
  throw new CelError('a key of a map is not a string');
}

const escapes: Readonly<Record<string, string>> = {
  __underscores__: '__',
  __dot__: '.',
  __dash__: '-',
  __slash__: '/',
};

/** Returns the field name that a CEL name with escapes such as `__dot__` stands for. */
function unescaped(name: string): string {
  return name.replaceAll(
    /__(?:underscores|dot|dash|slash)__/g,
    (escape) => escapes[escape] ?? escape,
  );
}

import { compileCel } from '../../crd/cel/program.js';
import type { CelProgram } from '../../crd/cel/program.js';
import {
  boolType,
  dynType,
  listType,
  mapType,
  stringType,
  structType,
} from '../../crd/cel/types.js';
import type { CelType } from '../../crd/cel/types.js';
import { CelDictionary, CelList } from '../../crd/cel/values.js';
import type { CelValue } from '../../crd/cel/values.js';
import { isJsonObject } from '../../object/json.js';

const kindType = structType('kubernetes.GroupVersionKind', texts('group', 'version', 'kind'));
const resourceType = structType(
  'kubernetes.GroupVersionResource',
  texts('group', 'version', 'resource'),
);
const userType = structType(
  'kubernetes.UserInfo',
  new Map([
    ...texts('username', 'uid'),
    ['groups', listType(stringType)],
    ['extra', mapType(stringType, listType(stringType))],
  ]),
);
const requestType = structType(
  'kubernetes.AdmissionRequest',
  new Map([
    ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
    ['kind', kindType],
    ['resource', resourceType],
    ['requestKind', kindType],
    ['requestResource', resourceType],
    ['userInfo', userType],
    ['dryRun', boolType],
    ['options', dynType],
  ]),
);

/** The variables of admission expressions. */
export const admissionVariables: ReadonlyMap<string, CelType> = new Map([
  ['object', dynType],
  ['oldObject', dynType],
  ['request', requestType],
  ['namespaceObject', dynType],
]);

function texts(...names: readonly string[]): Map<string, CelType> {
  return new Map(names.map((name) => [name, stringType]));
}

/**
 * Compiles an admission expression.
 * @throws CelCompileError
 */
export function compileAdmission(source: string): CelProgram {
  return compileCel(source, admissionVariables);
}

/** Converts JSON without a schema to a CEL value. */
export function jsonValue(value: unknown): CelValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return new CelList(value.map((item: unknown) => jsonValue(item)));
  const map = new CelDictionary();
  if (!isJsonObject(value)) return map;
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) map.insert(name, jsonValue(member));
  }
  return map;
}

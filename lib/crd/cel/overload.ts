import {
  durationType,
  dynType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  paramType,
  plainTypes,
  timestampType,
  typeType,
} from './types.js';
import type { CelType } from './types.js';
import type { CelValue } from './values.js';

/** A function for one list of argument types; a method's target is the first argument. */
export interface Overload {
  readonly name: string;
  readonly isMethod: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly run: Implementation;
}

/** Receives only arguments of the declared types. @throws CelError */
export type Implementation = (...args: readonly CelValue[]) => CelValue;

/** A signature such as `string.charAt(int): string`, and its implementation. */
export type Declaration = readonly [signature: string, run: Implementation];

/**
 * Declares an overload. The parameters of `run` must match the signature: arguments are checked against the
 * signature, not against TypeScript's types.
 */
export function declare<A extends readonly (CelValue | undefined)[]>(
  signature: string,
  run: (...args: A) => CelValue,
): Declaration {
  return [signature, run as unknown as Implementation];
}

/** Types by their names in signatures; `A`, `B`, `K`, `V` are type parameters. */
const named: Readonly<Partial<Record<string, CelType>>> = {
  ...plainTypes,
  null: nullType,
  timestamp: timestampType,
  duration: durationType,
  Quantity: opaqueType('kubernetes.Quantity'),
  URL: opaqueType('kubernetes.URL'),
  IP: opaqueType('net.IP'),
  CIDR: opaqueType('net.CIDR'),
  Semver: opaqueType('kubernetes.Semver'),
  NamedFormat: opaqueType('kubernetes.NamedFormat'),
  Authorizer: opaqueType('kubernetes.authorization.Authorizer'),
  PathCheck: opaqueType('kubernetes.authorization.PathCheck'),
  GroupCheck: opaqueType('kubernetes.authorization.GroupCheck'),
  ResourceCheck: opaqueType('kubernetes.authorization.ResourceCheck'),
  Decision: opaqueType('kubernetes.authorization.Decision'),
};

/** Returns the overloads that are declared, by the names of their functions. */
export function overloadsOf(
  declarations: readonly Declaration[],
): ReadonlyMap<string, readonly Overload[]> {
  const all = new Map<string, Overload[]>();
  for (const overload of declarations.map(overloadOf)) {
    const known = all.get(overload.name);
    if (known === undefined) all.set(overload.name, [overload]);
    else known.push(overload);
  }
  return all;
}

/** Parses a signature. */
function overloadOf([signature, run]: Declaration): Overload {
  const [, target, name = '', inner = '', result = ''] = signatureForm.exec(signature) ?? [];
  const args = splitTypes(inner).map(typeOf);
  if (target !== undefined) args.unshift(typeOf(target));
  return {
    name: name.replaceAll('::', '.'),
    isMethod: target !== undefined,
    args,
    result: typeOf(result),
    run,
  };
}

// Global functions in a namespace, such as `sets.contains`, have a `::` in their signature.
const signatureForm = /^(?:([^()]+?)\.)?([^.()]+)\((.*)\): (.+)$/;

function typeOf(text: string): CelType {
  const known = named[text];
  if (known !== undefined) return known;
  const [, outer, inner = ''] = /^(\w+)<(.*)>$/.exec(text) ?? [];
  const [first = dynType, second = dynType] = splitTypes(inner).map(typeOf);
  if (outer === 'list') return listType(first);
  if (outer === 'map') return mapType(first, second);
  if (outer === 'optional') return optionalType(first);
  if (outer === 'type') return typeType(first);
  return paramType(text);
}

/** Splits at commas outside brackets. */
function splitTypes(text: string): string[] {
  if (text === '') return [];
  const parts: string[] = [''];
  let depth = 0;
  for (const character of text.replaceAll(' ', '')) {
    if (character === '<') depth++;
    if (character === '>') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

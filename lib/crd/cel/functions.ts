import { conversions } from './library/conversions.js';
import { addressFunctions } from './library/addresses.js';
import { kubernetesFunctions } from './library/kubernetes.js';
import { listFunctions } from './library/lists.js';
import { stringFunctions } from './library/strings.js';
import { optionalFunctions, timeFunctions } from './library/times-and-optionals.js';
import { operators } from './operators.js';
import { overloadsOf } from './overload.js';
import type { Overload } from './overload.js';
import {
  durationType,
  dynType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  plainTypes,
  timestampType,
  typeType,
} from './types.js';
import type { CelType } from './types.js';

/** Returns the overloads of a function; undefined for unknown names. */
export function functionNamed(name: string): readonly Overload[] | undefined {
  functions ??= readFunctions();
  return functions.get(name);
}

/** Returns the type with a name, such as `int` or `google.protobuf.Timestamp`. */
export function typeNamed(name: string): CelType | undefined {
  return Object.hasOwn(typeNames, name) ? typeNames[name] : undefined;
}

// Built when the first rule is compiled; constant from then on.
let functions: ReadonlyMap<string, readonly Overload[]> | undefined;

function readFunctions(): ReadonlyMap<string, readonly Overload[]> {
  return overloadsOf([
    ...operators,
    ...conversions,
    ...stringFunctions,
    ...listFunctions,
    ...timeFunctions,
    ...optionalFunctions,
    ...addressFunctions,
    ...kubernetesFunctions,
  ]);
}

const typeNames: Readonly<Record<string, CelType>> = {
  ...plainTypes,
  null_type: nullType,
  list: listType(dynType),
  map: mapType(dynType, dynType),
  type: typeType(dynType),
  optional_type: optionalType(dynType),
  'google.protobuf.Duration': durationType,
  'google.protobuf.Timestamp': timestampType,
  ...Object.fromEntries(['net.IP', 'net.CIDR'].map((name) => [name, opaqueType(name)])),
};

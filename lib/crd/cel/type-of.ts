import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from './types.js';
import type { CelType } from './types.js';
import {
  CelDuration,
  CelList,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
} from './values.js';
import type { CelValue } from './values.js';

const anyList = listType(dynType);
const anyMap = mapType(dynType, dynType);
const anyOptional = optionalType(dynType);

/** Returns the type of a value as `type(x)` does: lists and maps without type parameters. */
export function typeOf(value: CelValue): CelType {
  if (value === null) return nullType;
  if (typeof value === 'bigint') return intType;
  if (typeof value === 'number') return doubleType;
  if (typeof value === 'string') return stringType;
  if (typeof value === 'boolean') return boolType;
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof CelUint) return uintType;
  if (value instanceof CelTimestamp) return timestampType;
  if (value instanceof CelDuration) return durationType;
  if (value instanceof CelList) return anyList;
  if (value instanceof CelOptional) return anyOptional;
  if (value instanceof CelTypeValue) return typeType(dynType);
  if (value instanceof CelOpaque) return opaqueType(value.typeName);
  return anyMap;
}

/** Type names in messages. */
const runtimeNames: Readonly<Partial<Record<string, string>>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** Returns the text of `type(x)`. */
export function runtimeTypeName(value: CelValue): string {
  const { name } = typeOf(value);
  return runtimeNames[name] ?? name;
}

/** Returns whether a value can be an argument of a type, judged without its elements. */
export function isOfType(value: CelValue, type: CelType): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  const own = typeOf(value);
  if (type.kind === 'struct') return own.kind === 'map';
  return own.kind === type.kind && own.name === type.name;
}

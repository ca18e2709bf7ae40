/** A CEL type. */
export interface CelType {
  readonly kind: TypeKind;
  /** The name in messages. */
  readonly name: string;
  /**
   * The element type of a list, key and value types of a map, or the type that an optional or a type wraps.
   */
  readonly parameters: readonly CelType[];
  /** The fields of an object, by their escaped names. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

/** The kind of a type; `param` is a type parameter to infer. */
export type TypeKind =
  | 'dyn'
  | 'error'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param';

function simple(kind: TypeKind, name: string = kind): CelType {
  return { kind, name, parameters: [] };
}

export const dynType = simple('dyn');
export const errorType = simple('error', '!error!');
export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const nullType = simple('null');
export const timestampType = simple('timestamp');
export const durationType = simple('duration');

/** `list(element)` */
export function listType(element: CelType): CelType {
  return { kind: 'list', name: 'list', parameters: [element] };
}

/** `map(key, value)` */
export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', parameters: [key, value] };
}

/** Returns a type of a library, such as `kubernetes.Quantity`. */
export function opaqueType(name: string, ...parameters: readonly CelType[]): CelType {
  return { kind: 'opaque', name, parameters };
}

/** `optional_type(value)` */
export function optionalType(value: CelType): CelType {
  return opaqueType('optional_type', value);
}

/** The type of a type. */
export function typeType(parameter: CelType): CelType {
  return { kind: 'type', name: 'type', parameters: [parameter] };
}

/** Returns a type parameter to infer. */
export function paramType(name: string): CelType {
  return { kind: 'param', name, parameters: [] };
}

/** Returns an object type with declared fields. Two are the same type if they have the same name. */
export function structType(name: string, fields: ReadonlyMap<string, CelType>): CelType {
  return { kind: 'struct', name, parameters: [], fields };
}

/** Returns the type that an optional wraps; undefined for other types. */
export function optionalValue(type: CelType): CelType | undefined {
  if (type.kind !== 'opaque' || type.name !== 'optional_type') return undefined;
  return type.parameters[0] ?? dynType;
}

/** Formats a type for messages: `list(int)`, `map(string, dyn)`. */
export function typeText(type: CelType): string {
  if (type.kind === 'timestamp') return 'timestamp';
  if (type.kind === 'duration') return 'duration';
  if (type.parameters.length === 0) return type.name;
  return `${type.name}(${type.parameters.map(typeText).join(', ')})`;
}

/** Returns whether two types are identical. */
export function sameType(one: CelType, other: CelType): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind || one.name !== other.name) return false;
  if (one.parameters.length !== other.parameters.length) return false;
  return one.parameters.every((parameter, index) => {
    const counterpart = other.parameters[index];
    return counterpart !== undefined && sameType(parameter, counterpart);
  });
}

import type { Schema } from '../../object/schema.js';

declare const valueType: unique symbol;
declare const inputType: unique symbol;

/** Marks whether a property may be omitted. */
export const presence: unique symbol = Symbol('presence');
/** Marks the built-in type that a schema refers to. */
export const builtInType: unique symbol = Symbol('builtInType');

/** Whether a property may be omitted. A `defaulted` one is optional in writes and always present in reads. */
export type Presence = 'required' | 'optional' | 'defaulted';

/**
 * A structural schema as plain JSON, with the TypeScript type of its values, made by the constructors in
 * {@link s}. `T` is the type as read, `I` as written, where properties with a default are optional.
 */
export interface TypedSchema<out T, out I = T, P extends Presence = Presence> extends Schema {
  readonly [presence]?: P;
  readonly [builtInType]?: string;
  readonly [valueType]?: T;
  readonly [inputType]?: I;
}

/** The TypeScript type of a schema's values as read, with defaults. */
export type ValueOf<S> = S extends TypedSchema<infer T, unknown> ? T : never;

/** The TypeScript type of a schema's values as written; properties with a default are optional. */
export type InputOf<S> = S extends TypedSchema<unknown, infer I> ? I : never;

/** The properties of an object, by name. */
export type Properties = Readonly<Record<string, TypedSchema<unknown>>>;

type NamesOf<P extends Properties, Wanted extends Presence> = {
  [K in keyof P]: PresenceOf<P[K]> extends Wanted ? K : never;
}[keyof P];

type PresenceOf<S> = S extends { readonly [presence]?: infer P }
  ? Presence extends P
    ? 'required'
    : Exclude<P, undefined>
  : 'required';

type Flat<T> = { [K in keyof T]: T[K] };

/** The TypeScript type, as read, of an object with these properties. */
export type ObjectValue<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required' | 'defaulted'>]: ValueOf<P[K]> } & {
    [K in NamesOf<P, 'optional'>]?: ValueOf<P[K]>;
  }
>;

/** The TypeScript type, as written, of an object with these properties. JSON drops undefined members. */
export type ObjectInput<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required'>]: InputOf<P[K]> } & {
    [K in NamesOf<P, 'optional' | 'defaulted'>]?: InputOf<P[K]> | undefined;
  }
>;

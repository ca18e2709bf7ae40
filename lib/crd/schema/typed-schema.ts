import type { Schema } from '../../object/schema.js';

declare const valueType: unique symbol;
declare const inputType: unique symbol;

/** Says whether a property may be left out. */
export const presence: unique symbol = Symbol('presence');
/** Names the built-in type that stands for a schema. */
export const builtInType: unique symbol = Symbol('builtInType');

/** Whether a property may be left out; a `defaulted` one may be written without, and is always read. */
export type Presence = 'required' | 'optional' | 'defaulted';

/**
 * A schema that knows the TypeScript type of its values: plain JSON of a structural schema, as the
 * constructors in {@link s} make it. `T` is what is read, `I` what may be written: there properties
 * with a default may be left out.
 */
export interface TypedSchema<out T, out I = T, P extends Presence = Presence> extends Schema {
  readonly [presence]?: P;
  readonly [builtInType]?: string;
  readonly [valueType]?: T;
  readonly [inputType]?: I;
}

/** The TypeScript type of a schema's values, as they are read: with defaults. */
export type ValueOf<S> = S extends TypedSchema<infer T, unknown> ? T : never;

/** The TypeScript type of what may be written: what has a default may be left out. */
export type InputOf<S> = S extends TypedSchema<unknown, infer I> ? I : never;

/** The properties of an object, by their names. */
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

/** The TypeScript type of an object with these properties, as it is read. */
export type ObjectValue<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required' | 'defaulted'>]: ValueOf<P[K]> } & {
    [K in NamesOf<P, 'optional'>]?: ValueOf<P[K]>;
  }
>;

/** The TypeScript type of an object with these properties, as it may be written: JSON drops undefined. */
export type ObjectInput<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required'>]: InputOf<P[K]> } & {
    [K in NamesOf<P, 'optional' | 'defaulted'>]?: InputOf<P[K]> | undefined;
  }
>;

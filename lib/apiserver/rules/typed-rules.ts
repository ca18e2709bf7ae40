import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { FieldErrors } from '../validation/field-errors.js';
import type { KindRules } from './kind-rules.js';
import type { ServerView } from './server-view.js';

/** {@link KindRules} in terms of a kind's type. Decoded objects have its form. */
export interface TypedRules<T> {
  readonly defaults?: (object: T) => void;
  readonly prepareForCreate?: (object: T, server: ServerView) => void;
  readonly prepareForUpdate?: (object: T, old: T, server: ServerView) => void;
  readonly validate?: (object: T, errors: FieldErrors, server: ServerView) => void;
  readonly validateCreate?: (object: T, errors: FieldErrors, server: ServerView) => void;
  readonly validateUpdate?: (object: T, old: T, errors: FieldErrors, server: ServerView) => void;
  readonly admitUpdate?: (object: T, old: T, server: ServerView) => void;
  readonly selectableFields?: (object: T) => Readonly<Record<string, string>>;
  readonly warnings?: (object: T, old?: T) => readonly string[];
}

type UntypedRules = Omit<KindRules, keyof TypedRules<unknown>>;

/** Combines rules that use a kind's type with rules that do not. */
export function typedRules<T>(typed: TypedRules<T>, rest: UntypedRules = {}): KindRules {
  const rules: unknown = { ...rest, ...typed };
  // The decoder guarantees the form: `T` is the type that it decodes to.
  return rules as KindRules & TypedRules<UnstructuredObject>;
}

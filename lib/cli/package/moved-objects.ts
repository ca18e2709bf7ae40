import { isJsonObject } from '../../object/json.js';
import escapeRegExp from 'lodash/escapeRegExp.js';
import type { BuiltObject } from '../kustomize/build-kustomization.js';

/** Where objects come from, and where they are now. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/** A text with another namespace in it, of `namespace/name` and names of Services: `name.namespace.svc`. */
export function movedText(text: string, { from, to }: Move): string {
  const namespace = escapeRegExp(from);
  const pattern = new RegExp(
    `^${namespace}(?=/)|(?<=^[a-z0-9-]+\\.)${namespace}(?=\\.svc(?:\\.|$))`,
  );
  return text.replace(pattern, () => to);
}

/** An object with the new namespace in its texts, where kustomize knows of no namespace. */
export function movedObject(object: BuiltObject, move: Move): BuiltObject {
  // A schema may say anything.
  if (object.kind !== 'CustomResourceDefinition') return moved(object, move) as BuiltObject;
  return { ...object, metadata: moved(object.metadata, move) as BuiltObject['metadata'] };
}

function moved(value: unknown, move: Move): unknown {
  if (typeof value === 'string') return movedText(value, move);
  if (Array.isArray(value)) return value.map((item) => moved(item, move));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(one, move)]));
}

import { isJsonObject } from '../../object/json.js';
import escapeRegExp from 'lodash/escapeRegExp.js';
import type { BuiltObject } from '../kustomize/build-kustomization.js';

/** The previous and the new namespace. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Replaces the namespace in `namespace/name` and in Service names: `name.namespace.svc`. */
export function movedText(text: string, { from, to }: Move): string {
  const namespace = escapeRegExp(from);
  const pattern = new RegExp(
    `^${namespace}(?=/)|(?<=^[a-z0-9-]+\\.)${namespace}(?=\\.svc(?:\\.|$))`,
  );
  return text.replace(pattern, () => to);
}

/** Replaces the namespace in texts of an object that kustomize does not cover. */
export function movedObject(object: BuiltObject, move: Move): BuiltObject {
  // A schema may contain any text.
  if (object.kind !== 'CustomResourceDefinition') return moved(object, move) as BuiltObject;
  return { ...object, metadata: moved(object.metadata, move) as BuiltObject['metadata'] };
}

function moved(value: unknown, move: Move): unknown {
  if (typeof value === 'string') return movedText(value, move);
  if (Array.isArray(value)) return value.map((item) => moved(item, move));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(one, move)]));
}

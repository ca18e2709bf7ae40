import { keyString } from '../../object/object-key.js';
import { html } from './html.js';
import type { Html } from './html.js';
import type { ShownObject } from './overview.js';

/** Returns the path of an object's ownership tree. */
export function objectPath(object: ShownObject, path = '/object'): string {
  const { cluster, apiVersion, kind, namespace = '', name } = object;
  const parts = Object.entries({ cluster, apiVersion, kind, namespace, name });
  const query = new URLSearchParams(parts.filter(([, value]) => value !== ''));
  return `${path}?${query.toString()}`;
}

/** Returns `namespace/name`, or the kind too, as a link to the ownership tree if the kind is known. */
export function objectLink(object: ShownObject, shows: 'key' | 'kind' = 'key'): Html {
  const { cluster, apiVersion, kind } = object;
  const key = keyString(object);
  const text = shows === 'kind' ? `${kind} ${key}` : key;
  const where = cluster === '' ? undefined : html` <span class="note">in ${cluster}</span>`;
  // The kind is unknown after the controller was removed.
  if (apiVersion === '' || kind === '') return html`${text}${where}`;
  return html`<a href="${objectPath(object)}">${text}</a>${where}`;
}

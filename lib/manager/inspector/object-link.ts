import { keyString } from '../../object/object-key.js';
import { html } from './html.js';
import type { Html } from './html.js';
import type { ShownObject } from './overview.js';

/** Where the ownership tree of an object is shown. */
export function objectPath(object: ShownObject, path = '/object'): string {
  const { cluster, apiVersion, kind, namespace = '', name } = object;
  const parts = Object.entries({ cluster, apiVersion, kind, namespace, name });
  const query = new URLSearchParams(parts.filter(([, value]) => value !== ''));
  return `${path}?${query.toString()}`;
}

/** `namespace/name` (with its kind), as a link to its ownership tree where its kind is known. */
export function objectLink(object: ShownObject, shows: 'key' | 'kind' = 'key'): Html {
  const { cluster, apiVersion, kind } = object;
  const key = keyString(object);
  const text = shows === 'kind' ? `${kind} ${key}` : key;
  const where = cluster === '' ? undefined : html` <span class="note">in ${cluster}</span>`;
  // Of a controller that was taken out the kind is not known any more.
  if (apiVersion === '' || kind === '') return html`${text}${where}`;
  return html`<a href="${objectPath(object)}">${text}</a>${where}`;
}

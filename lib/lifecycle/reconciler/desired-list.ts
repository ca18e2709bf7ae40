import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { callUserCode } from './user-code.js';

/** What `getAllResources` has returned. */
export interface DesiredList {
  readonly objects: readonly KubernetesObject[];
  /** What is no object, and why. */
  readonly problems: readonly string[];
}

/** Asks the operator for all objects, and takes nothing for granted. @throws what it throws */
export async function desiredList<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<DesiredList> {
  const { crManager } = pass.settings;
  const wanted: unknown = await callUserCode(pass, 'getAllResources', () =>
    crManager.getAllResources(pass.cr),
  );
  if (!Array.isArray(wanted)) {
    const got = wanted === null ? 'null' : typeof wanted;
    return { objects: [], problems: [`getAllResources returned ${got}: want a list of objects`] };
  }
  const checked = wanted.map((one: unknown, place) => ({ one, problem: problemOf(one, place) }));
  return {
    objects: checked.flatMap(({ one, problem }) =>
      problem === undefined ? [one as KubernetesObject] : [],
    ),
    problems: checked.flatMap(({ problem }) => problem ?? []),
  };
}

function problemOf(object: unknown, place: number): string | undefined {
  const what = `getAllResources: object ${place + 1}`;
  if (!isJsonObject(object)) return `${what} is ${object === null ? 'null' : typeof object}`;
  const { apiVersion, kind, metadata } = object;
  if (!isText(apiVersion)) return `${what} has no apiVersion`;
  if (!isText(kind)) return `${what} has no kind`;
  if (!isJsonObject(metadata) || !isText(metadata['name']))
    return `${what}, a ${kind}, has no name`;
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

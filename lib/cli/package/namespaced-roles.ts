import { join } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import { buildKustomization } from '../kustomize/build-kustomization.js';
import type { BuiltObject } from '../kustomize/build-kustomization.js';
import type { Json } from '../kustomize/json-values.js';
import { objectAt, textAt } from '../kustomize/json-values.js';
import { namespacesFolder } from '../manifests/role-path.js';
import { exists } from '../project/find-project.js';
import { managerDeployment, managersAmong } from './manager-container.js';

/** The objects of an overlay, and where they came from. */
export interface OverlayObjects {
  /** The project's folder. */
  readonly folder: string;
  /** The overlay, for messages. */
  readonly from: string;
  readonly objects: readonly BuiltObject[];
}

/**
 * The objects of an overlay with the Roles that the operator has in other namespaces, before its
 * Deployment. Kustomizations have them apart: `namespace` puts all into one. An overlay without the
 * operator stays as it is, and so does a catalogue's: there a Role would be one of every namespace.
 */
export async function withNamespacedRoles(source: OverlayObjects): Promise<readonly BuiltObject[]> {
  const { folder, from, objects } = source;
  const path = join(folder, namespacesFolder);
  const isOfCatalogue = objects.some(({ kind }) => kind === 'ClusterServiceVersion');
  if (isOfCatalogue || managersAmong(objects).length === 0) return objects;
  if (!(await exists(join(path, 'kustomization.yaml')))) return objects;
  const { deployment, podSpec } = managerDeployment(objects, from);
  const namespace = textAt(objectAt(deployment, 'metadata'), 'namespace');
  const account = {
    name: textAt(podSpec, 'serviceAccountName'),
    // Who applies an overlay without one, says it.
    ...(namespace !== '' && { namespace }),
  };
  const there = new Set(objects.map(keyOf));
  const roles = (await buildKustomization(path)).filter((object) => !there.has(keyOf(object)));
  for (const role of roles) bindTo(role, account);
  const place = objects.findIndex((object) => object === deployment);
  return objects.toSpliced(place, 0, ...roles);
}

const keyOf = ({ kind, metadata: { namespace = '', name = '' } }: BuiltObject): string =>
  [kind, namespace, name].join('/');

/** An overlay may have the operator elsewhere than `manifests` took for granted. */
function bindTo(role: Json, account: object): void {
  const { subjects } = role;
  if (!Array.isArray(subjects)) return;
  for (const subject of subjects) {
    if (isJsonObject(subject) && subject['kind'] === 'ServiceAccount') {
      Object.assign(subject, account);
    }
  }
}

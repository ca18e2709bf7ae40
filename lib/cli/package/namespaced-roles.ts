import { join } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import { buildKustomization } from '../kustomize/build-kustomization.js';
import type { BuiltObject } from '../kustomize/build-kustomization.js';
import type { Json } from '../kustomize/json-values.js';
import { objectAt, textAt } from '../kustomize/json-values.js';
import { namespacesFolder } from '../manifests/role-path.js';
import { exists } from '../project/find-project.js';
import { managerDeployment, managersAmong } from './manager-container.js';

/** The objects of an overlay and their source. */
export interface OverlayObjects {
  /** The project's folder. */
  readonly folder: string;
  /** The overlay, for messages. */
  readonly from: string;
  readonly objects: readonly BuiltObject[];
}

/**
 * Adds the Roles in other namespaces to the objects of an overlay, before the Deployment. They have a
 * kustomization of their own, since `namespace` puts all objects into one. An overlay without the operator
 * stays unchanged, and so does a catalogue's: there a Role would apply to every namespace.
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
    // Without a namespace here, the user sets it at apply time.
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

/** Binds the role to the account in the overlay, which may differ from the one `manifests` assumed. */
function bindTo(role: Json, account: object): void {
  const { subjects } = role;
  if (!Array.isArray(subjects)) return;
  for (const subject of subjects) {
    if (isJsonObject(subject) && subject['kind'] === 'ServiceAccount') {
      Object.assign(subject, account);
    }
  }
}

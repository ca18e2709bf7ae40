import { join, resolve } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext } from '../command-context.js';
import { buildKustomization } from '../kustomize/build-kustomization.js';
import type { BuiltObject } from '../kustomize/build-kustomization.js';
import { objectAt, textAt } from '../kustomize/json-values.js';
import { findProject } from '../project/find-project.js';
import { managerDeployment, managerImage, managersAmong } from './manager-container.js';
import { movedObject } from './moved-objects.js';
import { withNamespacedRoles } from './namespaced-roles.js';
import { checkNamespaceOption, imageWithTag } from './overlay-names.js';

/** Options of commands that build an overlay of a project. */
export interface OverlayOptions {
  /** In the project, or below it. */
  readonly project: string;
  /** The kustomization, in the project's folder. */
  readonly overlay: string;
  /** The image of the manager. @defaultValue as the kustomizations say */
  readonly image?: string | undefined;
  /** Where all is to be. @defaultValue as the kustomizations say */
  readonly namespace?: string | undefined;
  /** Further entries of the `resources` of the overlay. @defaultValue none */
  readonly resources?: readonly string[] | undefined;
  /** Further entries of its `components`. @defaultValue none */
  readonly components?: readonly string[] | undefined;
}

/** What a project applies to a cluster. */
export interface BuiltOverlay {
  /** The project's folder. */
  readonly folder: string;
  readonly objects: readonly BuiltObject[];
}

/**
 * Builds an overlay of a project, with the operator's Roles in other namespaces.
 * @throws UsageError there can't be such an image or namespace. OperatorError `InvalidConfig`: there is no
 * such project, or its kustomizations can't be built
 */
export async function builtOverlay(
  { project, overlay, ...given }: OverlayOptions,
  { cwd }: Pick<CommandContext, 'cwd'>,
): Promise<BuiltOverlay> {
  const { namespace, resources, components } = given;
  const image = given.image === undefined ? undefined : imageWithTag(given.image);
  if (namespace !== undefined) checkNamespaceOption(namespace);
  const folder = await findProject(resolve(cwd, project));
  const images = image === undefined ? undefined : { [managerImage]: image };
  const path = join(folder, overlay);
  const built = await buildKustomization(path, { images, namespace, resources, components });
  const objects = namespace === undefined ? built : await withMovedTexts(built, path, namespace);
  if (image !== undefined) checkImage(objects, image, overlay);
  return { folder, objects: await withNamespacedRoles({ folder, from: overlay, objects }) };
}

/** Names of Services, in certificates for example, say where they were before. */
async function withMovedTexts(objects: readonly BuiltObject[], path: string, to: string) {
  const [before] = managersAmong(await buildKustomization(path));
  const from = textAt(before && objectAt(before.deployment, 'metadata'), 'namespace');
  return from === '' ? objects : objects.map((object) => movedObject(object, { from, to }));
}

/** An image that went nowhere must not be taken for one that is in the result. */
function checkImage(objects: readonly BuiltObject[], image: string, overlay: string): void {
  const { container } = managerDeployment(objects, overlay);
  if (textAt(container, 'image') === image) return;
  const remedy = `images: [{ name: ${managerImage}, newName: … }]`;
  throw new OperatorError(
    'InvalidConfig',
    `${overlay}: no kustomization replaces the image ${managerImage}: add ${remedy} to that of the manager`,
  );
}

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
  /** The project's folder or one below it. */
  readonly project: string;
  /** Path of the kustomization in the project's folder. */
  readonly overlay: string;
  /** Image of the manager. @defaultValue the kustomizations' */
  readonly image?: string | undefined;
  /** Namespace of all objects. @defaultValue the kustomizations' */
  readonly namespace?: string | undefined;
  /** Further entries of the `resources` of the overlay. @defaultValue none */
  readonly resources?: readonly string[] | undefined;
  /** Further entries of its `components`. @defaultValue none */
  readonly components?: readonly string[] | undefined;
}

/** The objects of a project's overlay. */
export interface BuiltOverlay {
  /** The project's folder. */
  readonly folder: string;
  readonly objects: readonly BuiltObject[];
}

/**
 * Builds an overlay of a project, with the operator's Roles in other namespaces.
 * @throws UsageError invalid image or namespace
 * @throws OperatorError `InvalidConfig`: the project does not exist, or its kustomizations can't be built
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

/** Updates the namespace in texts, such as Service names in certificates. */
async function withMovedTexts(objects: readonly BuiltObject[], path: string, to: string) {
  const [before] = managersAmong(await buildKustomization(path));
  const from = textAt(before && objectAt(before.deployment, 'metadata'), 'namespace');
  return from === '' ? objects : objects.map((object) => movedObject(object, { from, to }));
}

/** Fails if the given image was not used, so that the result does not silently have another. */
function checkImage(objects: readonly BuiltObject[], image: string, overlay: string): void {
  const { container } = managerDeployment(objects, overlay);
  if (textAt(container, 'image') === image) return;
  const remedy = `images: [{ name: ${managerImage}, newName: … }]`;
  throw new OperatorError(
    'InvalidConfig',
    `${overlay}: no kustomization replaces the image ${managerImage}: add ${remedy} to that of the manager`,
  );
}

import { dns1123LabelProblem } from '../../object/names.js';
import type { DeploymentContainer } from './deployment-body.js';
import { plain, refuse } from './new-object.js';
import type { ContainerOptions } from './object-options.js';

/**
 * Makes a container, as a copy of `options`.
 * @throws OperatorError `InvalidObject`: the name is invalid, or the image is missing.
 */
export function newContainer(options: ContainerOptions): DeploymentContainer {
  const { name, image } = options;
  const problem = dns1123LabelProblem(name);
  if (problem !== undefined) refuse(`container ${name}`, `name ${problem}`);
  if (image.trim() === '' || image !== image.trim()) {
    refuse(
      `container ${name}`,
      `image ${JSON.stringify(image)} must be one, without spaces around it`,
    );
  }
  return plain<DeploymentContainer>(options);
}

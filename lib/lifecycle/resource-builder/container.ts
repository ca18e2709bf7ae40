import { dns1123LabelProblem } from '../../object/names.js';
import type { DeploymentContainer } from './deployment-body.js';
import { plain, refuse } from './new-object.js';
import type { ContainerOptions } from './object-options.js';

/**
 * A container of its own: it shares nothing with `options`.
 * @throws OperatorError `InvalidObject`: its name is none, or it has no image.
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

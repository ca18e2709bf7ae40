import { kustomizationError } from './kustomization-error.js';
import type { Resource } from './resource.js';
import { idText, isSameId } from './resource-id.js';
import type { TransformSpecs } from './transform-specs.js';
import { mergedSpecs } from './transform-specs.js';

/** The objects of a kustomization, and the configured fields. */
export class ResourceSet {
  #resources: Resource[] = [];
  #specs: TransformSpecs;

  constructor(specs: TransformSpecs) {
    this.#specs = specs;
  }

  get all(): readonly Resource[] {
    return this.#resources;
  }

  get specs(): TransformSpecs {
    return this.#specs;
  }

  /** Adds objects. @throws OperatorError `InvalidConfig`: duplicate object */
  add(resources: readonly Resource[], file: string): void {
    for (const resource of resources) {
      const { id } = resource;
      if (this.#resources.some((one) => isSameId(one.id, id))) {
        throw kustomizationError(file, `${idText(id)} is there twice`);
      }
      this.#resources.push(resource);
    }
  }

  addSpecs(specs: TransformSpecs): void {
    this.#specs = mergedSpecs(this.#specs, specs);
  }

  remove(resource: Resource): void {
    this.#resources = this.#resources.filter((one) => one !== resource);
  }

  /** @throws OperatorError `InvalidConfig`: two objects have the same identity now */
  checkIds(file: string): void {
    for (const [index, { id }] of this.#resources.entries()) {
      const twin = this.#resources.slice(index + 1).some((other) => isSameId(other.id, id));
      if (twin) throw kustomizationError(file, `two objects have come to be ${idText(id)}`);
    }
  }
}

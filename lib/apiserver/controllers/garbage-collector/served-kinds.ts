import { groupOf } from '../../../object/resource-type.js';
import type { ResourceType } from '../../../object/resource-type.js';
import type { Loopback } from '../../loopback.js';

/** Finds the resource types of kinds. A kind that is not in the list causes a new read of the list. */
export class ServedKinds {
  readonly #loopback: Loopback;
  #types = new Map<string, ResourceType>();

  constructor(loopback: Loopback) {
    this.#loopback = loopback;
  }

  /** Returns the resource type for an owner reference, or undefined if its kind is not served. */
  find(apiVersion: string, kind: string): ResourceType | undefined {
    const key = `${groupOf(apiVersion)}/${kind}`;
    return this.#types.get(key) ?? this.#read().get(key);
  }

  /** Clears the list after a change of a CustomResourceDefinition. */
  reset(): void {
    this.#types = new Map();
  }

  #read(): ReadonlyMap<string, ResourceType> {
    const types = this.#loopback.resourceTypes();
    this.#types = new Map(types.map((type) => [`${type.group}/${type.kind}`, type]));
    return this.#types;
  }
}

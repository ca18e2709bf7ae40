import { groupOf } from '../../../object/resource-type.js';
import type { ResourceType } from '../../../object/resource-type.js';
import type { Loopback } from '../../loopback.js';

/** Finds where a kind is served; the list is read again when a kind is not in it. */
export class ServedKinds {
  readonly #loopback: Loopback;
  #types = new Map<string, ResourceType>();

  constructor(loopback: Loopback) {
    this.#loopback = loopback;
  }

  /** Where the kind of an owner reference is served; undefined when it is not. */
  find(apiVersion: string, kind: string): ResourceType | undefined {
    const key = `${groupOf(apiVersion)}/${kind}`;
    return this.#types.get(key) ?? this.#read().get(key);
  }

  /** Forgets everything: a custom resource definition changed. */
  reset(): void {
    this.#types = new Map();
  }

  #read(): ReadonlyMap<string, ResourceType> {
    const types = this.#loopback.resourceTypes();
    this.#types = new Map(types.map((type) => [`${type.group}/${type.kind}`, type]));
    return this.#types;
  }
}

import { kindKey, servedType, servedTypes } from '../../apply/index.js';
import type { Client } from '../../client/client.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';

/** The kinds of a resource that keeps objects, resolved against the server. */
export class KeptTypes {
  readonly #types: ReadonlyMap<string, TypeReference<KubernetesObject>>;

  constructor(types: readonly TypeReference<KubernetesObject>[]) {
    this.#types = new Map(types.map((type) => [kindKey(type), type]));
  }

  /** Returns every kind that the server knows; the others cannot have objects. */
  served(client: Client): Promise<readonly ResourceType<KubernetesObject>[]> {
    return servedTypes(client, [...this.#types.values()]);
  }

  /**
   * Returns the served type of the kind of `object`.
   * @throws OperatorError `InvalidObject`: the kind is not one of the resource's kinds.
   * @throws OperatorError `UnknownKind`: the server does not know the kind.
   */
  async typeOf(client: Client, object: KubernetesObject): Promise<ResourceType<KubernetesObject>> {
    const { apiVersion, kind } = object;
    const type = this.#types.get(kindKey({ apiVersion, kind }));
    if (type !== undefined && apiVersionOf(type) === apiVersion) return servedType(client, type);
    const kinds = [...this.#types.values()].map((each) => `${apiVersionOf(each)} ${each.kind}`);
    const message = `${describeObject(object)}: ${apiVersion} ${kind} is none of the kinds of this resource (${kinds.join(', ')}); add it to types, or correct it`;
    throw new OperatorError('InvalidObject', message);
  }
}

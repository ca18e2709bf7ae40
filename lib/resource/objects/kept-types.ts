import { kindKey, servedType, servedTypes } from '../../apply/index.js';
import type { Client } from '../../client/client.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';

/** The kinds of a resource that keeps objects, and where they are served. */
export class KeptTypes {
  readonly #types: ReadonlyMap<string, TypeReference<KubernetesObject>>;

  constructor(types: readonly TypeReference<KubernetesObject>[]) {
    this.#types = new Map(types.map((type) => [kindKey(type), type]));
  }

  /** Every kind that the server knows; of the others there can't be any objects. */
  served(client: Client): Promise<readonly ResourceType<KubernetesObject>[]> {
    return servedTypes(client, [...this.#types.values()]);
  }

  /**
   * Where the kind of `object` is served.
   * @throws OperatorError `InvalidObject`: it is none of the kinds.
   * @throws OperatorError `UnknownKind`: the server knows no such kind.
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

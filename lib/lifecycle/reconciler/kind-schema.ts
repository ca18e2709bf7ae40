import { definition, rawDefinition } from '../../crd/openapi/definitions.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOf, versionOf } from '../../object/resource-type.js';
import type { Schema } from '../../object/schema.js';

// Of every kind the metadata are known; of one that is not built in, nothing else.
const metadataOnly: Schema = {
  type: 'object',
  get properties() {
    return { metadata: definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') };
  },
};

/** The schema of a kind: the built-in one, or that of its metadata alone. */
export function kindSchema({ apiVersion, kind }: KubernetesObject): Schema {
  const [group = ''] = groupOf(apiVersion).split('.');
  const name = `io.k8s.api.${group === '' ? 'core' : group}.${versionOf(apiVersion)}.${kind}`;
  const isBuiltIn = !groupOf(apiVersion).includes('.') || groupOf(apiVersion).endsWith('.k8s.io');
  return isBuiltIn && rawDefinition(name) !== undefined ? definition(name) : metadataOnly;
}

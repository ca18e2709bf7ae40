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
  const group = groupOf(apiVersion);
  const name = `${packageOf(group)}.${versionOf(apiVersion)}.${kind}`;
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  if (!isBuiltIn || rawDefinition(name) === undefined) return metadataOnly;
  const schema = definition(name);
  return kind === 'CustomResourceDefinition' ? withWholeSchemas(schema) : schema;
}

function packageOf(group: string): string {
  if (group === 'apiextensions.k8s.io') {
    return 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions';
  }
  if (group === 'apiregistration.k8s.io') {
    return 'io.k8s.kube-aggregator.pkg.apis.apiregistration';
  }
  const [first = ''] = group.split('.');
  return `io.k8s.api.${first === '' ? 'core' : first}`;
}

// The schemas of a custom resource have thousands of paths: they are ours as a whole, or the annotation
// that names each of them would be larger than all annotations may be.
function withWholeSchemas(definitionSchema: Schema): Schema {
  return within(definitionSchema, ['spec', 'versions', '[]', 'schema', 'openAPIV3Schema']);
}

function within(schema: Schema, [next, ...rest]: readonly string[]): Schema {
  if (next === undefined) return { ...schema, 'x-kubernetes-map-type': 'atomic' };
  if (next === '[]') return { ...schema, items: within(schema.items ?? {}, rest) };
  const property = within(schema.properties?.[next] ?? {}, rest);
  return { ...schema, properties: { ...schema.properties, [next]: property } };
}

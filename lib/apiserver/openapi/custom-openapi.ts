import { readDocument } from '../kinds/documents.js';
import type { RawSchema } from '../kinds/documents.js';
import type { ServedKind } from '../kinds/served-kind.js';

type Paths = Readonly<Record<string, unknown>>;

/** Returns the name of a custom kind's definition: `com.example.stable.v1.CronTab`. */
export function customDefinitionName({ type }: ServedKind): string {
  return [...type.group.split('.').reverse(), type.version, type.kind].join('.');
}

const metaPrefix = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1';

/** Returns the definitions of a custom kind and of its list. */
export function customDefinitions(kind: ServedKind): Record<string, RawSchema> {
  const name = customDefinitionName(kind);
  const { group, version, kind: own } = kind.type;
  const schema = (kind.schema() ?? { type: 'object' }) as RawSchema;
  const typeMeta = { apiVersion: { type: 'string' }, kind: { type: 'string' } };
  const metadata = (type: string): RawSchema => ({ allOf: [{ $ref: `${metaPrefix}.${type}` }] });
  const identity = (kindName: string): RawSchema => ({
    'x-kubernetes-group-version-kind': [{ group, kind: kindName, version }],
  });
  const items = { type: 'array', items: { $ref: `#/components/schemas/${name}` } };
  return {
    [name]: {
      ...schema,
      properties: { ...schema.properties, ...typeMeta, metadata: metadata('ObjectMeta') },
      ...identity(own),
    },
    [`${name}List`]: {
      description: `${kind.listKind} is a list of ${own}`,
      type: 'object',
      required: ['items'],
      properties: { ...typeMeta, items, metadata: metadata('ListMeta') },
      ...identity(kind.listKind),
    },
  };
}

interface Template {
  readonly document: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly definition: string;
}

// Built-in kinds with every path that a custom kind may have: custom paths are their renamed
// copies.
const namespaced: Template = {
  document: 'apis/apps/v1',
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  definition: 'io.k8s.api.apps.v1.Deployment',
};
const clusterScoped: Template = {
  document: 'apis/apiregistration.k8s.io/v1',
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  plural: 'apiservices',
  definition: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
};

/**
 * Removes strategic merge patches: kubectl sends the types in the document, and custom resources do
 * not support this one.
 */
function withoutStrategicPatch(key: string, value: unknown): unknown {
  return key === 'application/strategic-merge-patch+json' ? undefined : value;
}

/** Returns the paths of a custom kind. */
export function customPaths(kind: ServedKind): Paths {
  const { group, version, plural, kind: name } = kind.type;
  const template = kind.type.namespaced ? namespaced : clusterScoped;
  const documents = readDocument('paths') as Readonly<Record<string, Paths>>;
  const own = Object.entries(documents[template.document] ?? {}).filter(([path]) => {
    const [, rest] = path.split(`/${template.plural}`);
    if (rest === undefined || path.includes('/watch/')) return false;
    const subresource = /\/\{name\}\/(\w+)$/.exec(rest)?.[1];
    return subresource === undefined || kind.subresources.has(subresource);
  });
  const text = JSON.stringify(Object.fromEntries(own))
    .replaceAll(template.definition, customDefinitionName(kind))
    .replaceAll(`/${template.document}/`, `/apis/${group}/${version}/`)
    .replaceAll(
      `"group":"${template.group}","version":"v1"`,
      `"group":"${group}","version":"${version}"`,
    )
    .replaceAll(template.kind, name)
    .replaceAll(template.plural, plural);
  return JSON.parse(text, withoutStrategicPatch) as Paths;
}

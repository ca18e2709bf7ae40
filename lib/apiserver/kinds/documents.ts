import { unpack } from '../../crd/internal.js';
import { packedDocuments } from '../data/documents.js';

export { definition, rawDefinition } from '../../crd/internal.js';
export type { RawSchema } from '../../crd/internal.js';

// Constants that all servers of the process share. They must never be modified.
const unpacked = new Map<string, unknown>();

/**
 * Returns a document of `data/documents.ts`. The document is unpacked at its first use and shared: never
 * modify it. `scripts/openapi/compact.ts` generates the documents. They are modules, not data files, because
 * a bundle contains only its modules.
 */
export function readDocument(name: keyof typeof packedDocuments): unknown {
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const document = unpack(packedDocuments[name]);
  unpacked.set(name, document);
  return document;
}

/** A group in aggregated discovery (`apidiscovery.k8s.io/v2`). */
interface GroupDiscovery {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly VersionDiscovery[];
}

interface VersionDiscovery {
  readonly version: string;
  readonly freshness?: string;
  readonly resources?: readonly ResourceDiscovery[];
}

/** A kind of a version. */
export interface ResourceDiscovery {
  readonly resource: string;
  readonly responseKind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SubresourceDiscovery[];
}

interface SubresourceDiscovery {
  readonly subresource: string;
  readonly responseKind?: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  };
  readonly verbs: readonly string[];
}

/** The recorded responses of the real server's discovery endpoints. */
interface DiscoveryData {
  readonly version: Readonly<Record<string, string>> & { readonly gitVersion: string };
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
}

/** Returns the built-in groups, versions and kinds. */
export function discoveryData(): DiscoveryData {
  return readDocument('discovery') as DiscoveryData;
}

/** Returns whether a group belongs to Kubernetes itself. */
export function isBuiltinGroup(group: string): boolean {
  builtinGroups ??= new Set(['', ...discoveryData().groups.map(({ metadata }) => metadata.name)]);
  return builtinGroups.has(group);
}

let builtinGroups: ReadonlySet<string | undefined> | undefined;

/** Groups whose Go package is not in `k8s.io/api`. */
const ownPackages: Readonly<Partial<Record<string, string>>> = {
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'apiregistration.k8s.io': 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
};

/** Returns the OpenAPI name of a built-in kind: `io.k8s.api.apps.v1.Deployment`. */
export function definitionName(group: string, version: string, kind: string): string {
  const folder = group === '' ? 'core' : (group.split('.')[0] ?? '');
  const pack = ownPackages[group] ?? `io.k8s.api.${folder}`;
  return `${pack}.${version}.${kind}`;
}

/** Returns the Go name of a definition: `apps/v1.Deployment`. */
export function goTypeName(definition: string): string {
  const [kind = '', version = '', group = ''] = definition.split('.').reverse();
  return `${group}/${version}.${kind}`;
}

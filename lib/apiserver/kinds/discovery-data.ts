import { readDocument } from './documents.js';

/** A group in aggregated discovery (`apidiscovery.k8s.io/v2`). */
export interface GroupDiscovery {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly VersionDiscovery[];
}

/** A version of a group. */
export interface VersionDiscovery {
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

/** A subresource of a kind. */
export interface SubresourceDiscovery {
  readonly subresource: string;
  readonly responseKind?: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  };
  readonly verbs: readonly string[];
}

/** The recorded responses of the real server's discovery endpoints. */
export interface DiscoveryData {
  readonly version: Readonly<Record<string, string>> & { readonly gitVersion: string };
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
}

/** Returns the built-in groups, versions and kinds. */
export function discoveryData(): DiscoveryData {
  return readDocument('discovery') as DiscoveryData;
}

import { ConfigMap, Deployment, Namespace } from 'operator-builder';
import type { Service } from 'operator-builder';
import {
  configMapResource,
  objectsResource,
  secretResource,
  serviceResource,
} from 'operator-builder/resource';
import type { Resource, ResourceContext } from 'operator-builder/resource';
import { domainResource, registrationToken } from './domain-resource.js';
import type { Registry } from './registry.js';
import { credentials, deployment, settings, siteNamespace } from './site-objects.js';
import { chainLabel, nameOf } from './site.js';
import type { Site } from './site.js';
import { StatusResource } from './status-resource.js';

/** Options of a chain. */
export interface ChainOptions {
  readonly registry: Registry;
  /** The name of the only site that it looks after. @defaultValue all */
  readonly site?: string | undefined;
}

/** In what one chain is not as another. */
export interface ChainParts {
  readonly version: 'v1' | 'v2';
  readonly services: (site: Site) => readonly Service[];
  /** Returns the objects that send the mails. */
  readonly mail: (context: ResourceContext, site: Site) => readonly (ConfigMap | Deployment)[];
}

/** Whether a site is the affair of the chain of this version. */
export function isOfChain(version: 'v1' | 'v2', { site: only }: ChainOptions) {
  return (site: Site): boolean =>
    site.metadata.labels?.[chainLabel] === version && (only ?? nameOf(site)) === nameOf(site);
}

/** Returns the sender of a site whose spec names none. */
export function defaultSender({ spec }: Site): string {
  return `mail@${spec.domain}`;
}

/**
 * The resources of a chain, in their order. They have the same names in each chain: what a chain finds
 * under a name and does not want goes, whichever chain has made it.
 */
export function siteResources(
  { registry }: ChainOptions,
  { version, services, mail }: ChainParts,
): readonly Resource<Site>[] {
  return [
    objectsResource({
      name: 'namespace',
      types: [Namespace],
      getDesiredState: (_context, site: Site) => [siteNamespace(site)],
    }),
    domainResource(registry),
    secretResource({
      name: 'credentials',
      getDesiredState: (context, site: Site) => [
        credentials(site, context.need(registrationToken)),
      ],
    }),
    configMapResource({
      name: 'settings',
      getDesiredState: (_context, site: Site) => [
        settings(site, 'pages', { TITLE: `Welcome to ${site.spec.domain}` }),
      ],
    }),
    serviceResource({
      name: 'services',
      getDesiredState: (_context, site: Site) => services(site),
    }),
    // The same in each chain, so that a migration does not touch its pods.
    objectsResource({
      name: 'web',
      types: [Deployment],
      getDesiredState: (_context, site: Site) => [
        deployment(site, { name: 'web', replicas: site.spec.replicas, configMap: 'pages' }),
      ],
    }),
    // What is superfluous goes in the order of the kinds, once what is missing is there: nothing that
    // runs lacks its settings.
    objectsResource({
      name: 'mail',
      types: [Deployment, ConfigMap],
      getDesiredState: (context, site: Site) => mail(context, site),
    }),
    new StatusResource(version),
  ];
}

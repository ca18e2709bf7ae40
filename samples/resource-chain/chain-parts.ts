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
  /** Name of the only site that the chain reconciles. @defaultValue all sites of its version */
  readonly site?: string | undefined;
}

/** The parts that differ between the chains. */
export interface ChainParts {
  readonly version: 'v1' | 'v2';
  readonly services: (site: Site) => readonly Service[];
  /** Returns the objects that send the mails. */
  readonly mail: (context: ResourceContext, site: Site) => readonly (ConfigMap | Deployment)[];
}

/** Returns a predicate: whether the chain of this version reconciles a site. */
export function isOfChain(version: 'v1' | 'v2', { site: only }: ChainOptions) {
  return (site: Site): boolean =>
    site.metadata.labels?.[chainLabel] === version && (only ?? nameOf(site)) === nameOf(site);
}

/** Returns the default sender address of a site. */
export function defaultSender({ spec }: Site): string {
  return `mail@${spec.domain}`;
}

/**
 * Returns the resources of a chain, in the order in which they are reconciled. All chains use the same resource
 * names: a resource deletes the objects of its name that its chain does not desire, including those of another chain.
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
    // This Deployment is the same in each chain, so that a migration does not replace its pods.
    objectsResource({
      name: 'web',
      types: [Deployment],
      getDesiredState: (_context, site: Site) => [
        deployment(site, { name: 'web', replicas: site.spec.replicas, configMap: 'pages' }),
      ],
    }),
    // Obsolete objects are deleted in the order of `types`, after missing ones are created. So a running
    // Deployment always has its ConfigMap.
    objectsResource({
      name: 'mail',
      types: [Deployment, ConfigMap],
      getDesiredState: (context, site: Site) => mail(context, site),
    }),
    new StatusResource(version),
  ];
}

import { ResourceSet, withRetry, wrap } from 'operator-builder/resource';
import { defaultSender, isOfChain, siteResources } from './chain-parts.js';
import type { ChainOptions } from './chain-parts.js';
import { deployment, service, settings } from './site-objects.js';
import type { Site } from './site.js';

/** The first chain: one Deployment receives mails and sends them. */
export function chainV1(options: ChainOptions): ResourceSet<Site> {
  const resources = siteResources(options, {
    version: 'v1',
    services: (site) => [service(site, 'web')],
    mail: (_context, site) => [
      settings(site, 'mailer', { MAIL_FROM: site.spec.mailFrom ?? defaultSender(site) }),
      deployment(site, { name: 'mailer', replicas: 1, configMap: 'mailer', signs: true }),
    ],
  });
  return new ResourceSet({
    name: 'v1',
    handles: isOfChain('v1', options),
    resources: wrap(resources, withRetry),
  });
}

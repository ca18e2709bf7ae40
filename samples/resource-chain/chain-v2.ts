import { ResourceSet, contextKey, withRetry, wrap } from 'operator-builder/resource';
import { defaultSender, isOfChain, siteResources } from './chain-parts.js';
import type { ChainOptions } from './chain-parts.js';
import { deployment, service, settings } from './site-objects.js';
import type { MailSpec, Site } from './site.js';

/** The site's mail settings, with the defaults filled in. */
const mailSpec = contextKey<MailSpec>('how mails are sent');

/**
 * The second chain: one Deployment receives mails and another sends them. Each has its own settings, and a
 * Service connects them.
 */
export function chainV2(options: ChainOptions): ResourceSet<Site> {
  const resources = siteResources(options, {
    version: 'v2',
    services: (site) => [service(site, 'web'), service(site, 'mail-queue')],
    mail: (context, site) => {
      const { from, queueLimit } = context.need(mailSpec);
      return [
        settings(site, 'mail-queue', { QUEUE_LIMIT: String(queueLimit) }),
        settings(site, 'mail-sender', { MAIL_FROM: from }),
        deployment(site, { name: 'mail-queue', replicas: 1, configMap: 'mail-queue' }),
        deployment(site, {
          ...{ name: 'mail-sender', replicas: 1 },
          ...{ configMap: 'mail-sender', signs: true },
        }),
      ];
    },
  });
  return new ResourceSet({
    name: 'v2',
    handles: isOfChain('v2', options),
    initContext: (context, site) => {
      const from = site.spec.mailFrom ?? defaultSender(site);
      context.set(mailSpec, site.spec.mail ?? { from, queueLimit: 100 });
    },
    resources: wrap(resources, withRetry),
  });
}

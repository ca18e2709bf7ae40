import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf, ValueOf } from 'operator-builder/crd';

const mail = s.object({
  from: s.string({ description: 'The address that mails come from.' }),
  queueLimit: s.integer({ format: 'int32', minimum: 1, description: 'How many mails may wait.' }),
});

const spec = s.object({
  domain: s.string({
    description: 'Registered for the site, and given back when it is deleted.',
    rules: [{ rule: 'self == oldSelf', message: 'a site keeps its domain' }],
  }),
  replicas: s.integer({ format: 'int32', minimum: 0, description: 'How many pods serve it.' }),
  mailFrom: s.optional(s.string({ description: 'Of chain v1: the address that mails come from.' })),
  mail: s.optional(mail),
});

const status = s.object({
  observedGeneration: s.optional(s.integer({ format: 'int64' })),
  chain: s.optional(s.string({ description: 'The chain that has brought it here.' })),
  ready: s.optional(s.string({ description: 'Deployments that are rolled out, of all: 2/3.' })),
  conditions: s.conditions(),
});

/** A site: a namespace with a web server for its pages and a mail sender. */
export const Site = defineResource({
  group: 'sites.example.com',
  kind: 'Site',
  scope: 'Cluster',
  versions: [{ name: 'v1', schema: s.object({ spec }), status }],
  printerColumns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domain' },
    { name: 'Chain', type: 'string', jsonPath: '.status.chain' },
    { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
  ],
});

/** A site: a namespace with a web server for its pages and a mail sender. */
export type Site = ObjectOf<typeof Site>;
/** Mail settings of a site for chain v2. */
export type MailSpec = ValueOf<typeof mail>;

/** Label that selects the chain of a site: `v1` or `v2`. Without it, no chain reconciles the site. */
export const chainLabel = 'sites.example.com/chain';

/** Returns the name of a site; every object from the server has one. */
export function nameOf({ metadata: { name = '' } }: Site): string {
  return name;
}

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

/** A site: its own namespace, with a web server for the pages and a sender of mails. */
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

/** A site: its own namespace, with a web server for the pages and a sender of mails. */
export type Site = ObjectOf<typeof Site>;
/** How a site sends mails, as chain v2 has it. */
export type MailSpec = ValueOf<typeof mail>;

/** Says which chain a site is reconciled by: `v1` or `v2`. One without it is left alone. */
export const chainLabel = 'sites.example.com/chain';

/** The name of a site; the server has given every object one. */
export function nameOf({ metadata: { name = '' } }: Site): string {
  return name;
}

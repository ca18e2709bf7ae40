import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli } from '../cli.js';
import type { CliResult } from '../cli.js';
import { makeProject } from './project.js';

/** Runs `create api` or `create webhook` for a foreign kind. */
export function createForeign(
  what: 'api' | 'webhook',
  [folder, group, version, kind]: readonly [string, string, string, string],
  ...more: readonly string[]
): Promise<CliResult> {
  const named = ['--group', group, '--version', version, '--kind', kind];
  return cli(['create', what, ...named, '-C', folder, ...more]);
}

/** CRD of another operator. */
export const issuerDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'issuers.certs.example.io' },
  spec: {
    ...{ group: 'certs.example.io', scope: 'Cluster' },
    names: { kind: 'Issuer', plural: 'issuers', singular: 'issuer', listKind: 'IssuerList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['server', 'mode'],
                properties: {
                  server: { type: 'string', pattern: '^https://.+$' },
                  mode: { type: 'string', enum: ['fast', 'safe'] },
                  'dns-names': { type: 'array', items: { type: 'string' } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Creates a project with controllers and webhooks of foreign kinds. */
export async function makeForeignProject(folder: string): Promise<readonly CliResult[]> {
  await makeProject(folder);
  const file = join(folder, 'issuers.yaml');
  await writeFile(file, JSON.stringify(issuerDefinition));
  const results: CliResult[] = [];
  for (const [what, names, ...flags] of [
    ['api', ['apps', 'v1', 'Deployment'], '--no-resource'],
    ['api', ['certs.example.io', 'v1', 'Issuer'], '--no-resource', '--crd-file', file],
    ['api', ['open.example.io', 'v1beta1', 'Widget'], '--no-resource'],
    ['webhook', ['core', 'v1', 'Pod'], '--defaulting', '--validation'],
    ['webhook', ['apps', 'v1', 'Deployment'], '--defaulting', '--validation'],
    ['webhook', ['certs.example.io', 'v1', 'Issuer'], '--validation'],
  ] as const) {
    results.push(await createForeign(what, [folder, ...names], ...flags));
  }
  return results;
}

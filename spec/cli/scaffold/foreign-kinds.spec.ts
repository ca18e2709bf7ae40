import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { builtInContent } from '../../../lib/cli/scaffold/built-in-kinds.js';
import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import * as kinds from '../../../lib/object/kinds.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { apiVersionOf } from '../../../lib/object/resource-type.js';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { makeProject, textsIn } from './project.js';

const fresh = { code: 0, stdout: 'The manifests are up to date.\n', stderr: '' };
const done = { code: 0, stderr: '' };

function create(
  what: 'api' | 'webhook',
  [folder, group, version, kind]: readonly [string, string, string, string],
  ...more: readonly string[]
): Promise<CliResult> {
  const named = ['--group', group, '--version', version, '--kind', kind];
  return cli(['create', what, ...named, '-C', folder, ...more]);
}

const definition = {
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

describe('Controllers and webhooks of kinds that others define', () => {
  const file = scratchDirectory();

  it('are made with tests that succeed, roles that are fresh, and webhooks that spare other namespaces', async () => {
    const folder = file('whole');
    await makeProject(folder);
    await writeFile(file('issuers.yaml'), JSON.stringify(definition));
    const crd = ['--crd-file', file('issuers.yaml')];
    for (const result of [
      await create('api', [folder, 'apps', 'v1', 'Deployment'], '--no-resource'),
      await create('api', [folder, 'certs.example.io', 'v1', 'Issuer'], '--no-resource', ...crd),
      await create('api', [folder, 'open.example.io', 'v1beta1', 'Widget'], '--no-resource'),
      await create('webhook', [folder, 'core', 'v1', 'Pod'], '--defaulting', '--validation'),
      await create('webhook', [folder, 'certs.example.io', 'v1', 'Issuer'], '--validation'),
    ]) {
      expect(result).to.include(done);
    }
    linkPackages(folder);
    expect(await cli(['manifests', '--project', folder, '--check'])).to.deep.equal(fresh);
    const texts = await textsIn(folder);
    const project = parse(texts['PROJECT'] ?? '') as { readonly resources: readonly object[] };
    expect(project.resources).to.deep.include({
      ...{ group: 'core', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' },
      ...{ external: true, webhooks: { defaulting: true, validation: true, webhookVersion: 'v1' } },
    });
    expect(texts['src/api/v1/issuer.ts'])
      .to.include("readonly mode: 'fast' | 'safe';")
      .and.include("readonly 'dns-names'?: readonly string[];")
      .and.include('namespaced: false');
    expect(texts['src/controllers/deployment-controller.ts']).to.match(
      /^import \{[^}]*\bDeployment\b[^}]*\} from 'operator-builder';\n/,
    );
    const all = Object.entries(texts).filter(([path]) => !path.startsWith('node_modules'));
    expect(all.flat().join('\n')).not.to.match(
      /kind-?name|groupname|v9[89]alpha|builder:(?:if|end)/i,
    );
    const tests = Object.keys(texts).filter((path) => path.endsWith('.test.ts'));
    const code = tests.map((name) => `import './${name}';`).join(' ');
    const reporting = ['--test-reporter', 'tap', '--input-type', 'module', '-e', code];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', ...reporting],
      { cwd: folder },
    );
    expect(stdout).to.include('# pass 6').and.include('# fail 0');
  });

  it('are shown by graph', async () => {
    const folder = file('graph');
    await makeProject(folder);
    await create('api', [folder, 'apps', 'v1', 'Deployment'], '--no-resource');
    linkPackages(folder);
    const { code, stdout } = await cli(['graph', '--project', folder]);
    expect(code).to.equal(0);
    expect(stdout).to.include('Deployment');
  });

  for (const [what, names, flags, says] of [
    [
      'a kind that is neither built in nor has a whole group',
      ['apps', 'v1', 'Nope'],
      [],
      'or give the whole group',
    ],
    [
      'a style',
      ['apps', 'v1', 'Deployment'],
      ['--style', 'lifecycle'],
      'leave it out for Deployment',
    ],
    [
      'a definition of another kind',
      ['a.example.io', 'v1', 'Issuer'],
      ['--crd-file', 'other.yaml'],
      'has no CustomResourceDefinition with Issuer v1 of a.example.io',
    ],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const folder = file(`refused-${names[2]}-${flags.length}`);
      await makeProject(folder);
      await writeFile(file('other.yaml'), JSON.stringify(definition));
      const given = flags.map((flag) => (flag === 'other.yaml' ? file(flag) : flag));
      const { code, stderr } = await create('api', [folder, ...names], '--no-resource', ...given);
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
    });
  }

  it('refuse a conversion, which is for those who define the kind', async () => {
    await makeProject(file('conversion'));
    const pod = [file('conversion'), 'core', 'v1', 'Pod'] as const;
    const { stderr } = await create('webhook', pod, '--conversion');
    expect(stderr).to.include('--conversion: others define Pod');
  });

  it('have an object to test with that the API server accepts, of each built-in kind', async () => {
    const cluster = await EmbeddedCluster.start();
    try {
      const client = cluster.client();
      for (const type of Object.values(kinds) as readonly ResourceType[]) {
        if (type.kind === 'CustomResourceDefinition') continue;
        const { kind, namespaced } = type;
        const metadata = { name: 'sample', ...(namespaced && { namespace: 'default' }) };
        const object = { apiVersion: apiVersionOf(type), kind, metadata, ...builtInContent(kind) };
        const made = await client.create(object, { dryRun: true });
        expect(made.kind, kind).to.equal(kind);
      }
    } finally {
      await cluster.stop();
    }
  });
});

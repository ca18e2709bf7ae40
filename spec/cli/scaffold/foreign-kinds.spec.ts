import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { parse } from 'yaml';
import { builtInContent } from '../../../lib/cli/scaffold/api-values.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { builtinKinds } from '../../../lib/apiserver/internal.js';
import type { CustomResourceDefinition } from '../../../lib/object/index.js';
import { apiVersionOf } from '../../../lib/object/resource-type.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createForeign, issuerDefinition, makeForeignProject } from './foreign-project.js';
import { makeProject, textsIn } from './project.js';

const fresh = { code: 0, stdout: 'The manifests are up to date.\n', stderr: '' };
const done = { code: 0, stderr: '' };

describe('Controllers and webhooks of foreign kinds', () => {
  const file = scratchDirectory();

  it('are created with TypeScript types of the fields, and with up-to-date manifests', async () => {
    const folder = file('whole');
    for (const result of await makeForeignProject(folder)) expect(result).to.include(done);
    linkPackages(folder);
    expect(await cli(['manifests', '--project', folder, '--check'])).to.deep.equal(fresh);
    const texts = await textsIn(folder);
    const project = parse(texts['PROJECT'] ?? '') as { readonly resources: readonly object[] };
    expect(project.resources).to.deep.include({
      ...{ group: 'core', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' },
      ...{ external: true, webhooks: { defaulting: true, validation: true, webhookVersion: 'v1' } },
    });
    expect(texts['src/api/v1/issuer.ts'])
      .to.include("  mode: 'fast' | 'safe';")
      .and.include("  'dns-names'?: string[];")
      .and.include('readonly spec?: IssuerSpec;')
      .and.include('namespaced: false');
    expect(texts['src/controllers/deployment-controller.ts']).to.match(
      /^import \{[^}]*\bDeployment\b[^}]*\} from 'operator-builder';\n/,
    );
    const all = Object.entries(texts).filter(([path]) => !path.startsWith('node_modules'));
    expect(all.flat().join('\n')).not.to.match(
      /kind-?name|groupname|v9[89]alpha|builder:(?:if|end)/i,
    );
  });

  it('have the style reconciles, with or without --style reconciles', async () => {
    const texts: (string | undefined)[] = [];
    for (const flags of [[], ['--style', 'reconciles']]) {
      const folder = file(`style${flags.length}`);
      await makeProject(folder);
      const named = [folder, 'apps', 'v1', 'Deployment'] as const;
      expect(await createForeign('api', named, '--no-resource', ...flags)).to.include(done);
      texts.push((await textsIn(folder))['src/controllers/deployment-controller.ts']);
    }
    expect(texts[0]).to.include('.reconciles(');
    expect(texts[1]).to.equal(texts[0]);
  });

  it('are drawn by graph', async () => {
    const folder = file('graph');
    await makeProject(folder);
    await createForeign('api', [folder, 'apps', 'v1', 'Deployment'], '--no-resource');
    linkPackages(folder);
    const { code, stdout } = await cli(['graph', '--project', folder]);
    expect(code).to.equal(0);
    expect(stdout).to.include('Deployment');
  });

  it('have tests whose server accepts a kind without fields, also in a group of Kubernetes', async () => {
    const folder = file('gateway');
    await makeProject(folder);
    const named = [folder, 'gateway.networking.k8s.io', 'v1', 'Gateway'] as const;
    expect(await createForeign('api', named, '--no-resource')).to.include(done);
    const text = await readFile(join(folder, 'test/crds/gateway.json'), 'utf8');
    const cluster = await EmbeddedCluster.start({
      crds: [JSON.parse(text) as CustomResourceDefinition],
    });
    await cluster.stop();
  });

  it('have types in the format of Prettier, also for unusual names and lists of objects', async () => {
    const folder = file('odd');
    await makeProject(folder);
    const mode = { type: 'string', enum: ["it's", 'a|b', 'c\\d'] };
    const properties = {
      ...{ mode, modes: { type: 'array', items: mode }, "it's": { type: 'string' } },
      rules: { type: 'array', items: { type: 'object', properties: { mode } } },
      maps: { type: 'array', items: { type: 'object', additionalProperties: mode } },
      none: { type: 'array', items: { type: 'object', nullable: true, properties: { mode } } },
    };
    const definition = structuredClone(issuerDefinition) as unknown as CustomResourceDefinition;
    const [version] = definition.spec.versions;
    const openAPIV3Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties } },
    };
    Object.assign(version ?? {}, { schema: { openAPIV3Schema } });
    await writeFile(file('odd.yaml'), JSON.stringify(definition));
    const named = [folder, 'certs.example.io', 'v1', 'Issuer'] as const;
    const made = await createForeign('api', named, '--no-resource', '--crd-file', file('odd.yaml'));
    expect(made).to.include(done);
    const text = await readFile(join(folder, 'src/api/v1/issuer.ts'), 'utf8');
    const options = { singleQuote: true, printWidth: 100, parser: 'typescript' };
    expect(text).to.equal(await format(text, options));
    expect(text)
      .to.include(`  mode?: "it's" | 'a|b' | 'c\\\\d';`)
      .and.include(`  modes?: ("it's" | `)
      .and.include('  none?: (IssuerSpecNone | null)[];');
  });

  it('take the definition from a file with other objects, even if these have no names', async () => {
    const folder = file('bundle');
    await makeProject(folder);
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'setup-' } };
    const bundle = [job, { apiVersion: 'v1', kind: 'Secret' }, issuerDefinition];
    await writeFile(file('all.yaml'), bundle.map((one) => JSON.stringify(one)).join('\n---\n'));
    const named = [folder, 'certs.example.io', 'v1', 'Issuer'] as const;
    const made = await createForeign('api', named, '--no-resource', '--crd-file', file('all.yaml'));
    expect(made).to.include(done);
  });

  it('let later commands write files after the version was removed from their definition', async () => {
    const folder = file('newer');
    await makeForeignProject(folder);
    const path = join(folder, 'test/crds/issuer.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"name": "v1"', '"name": "v2"'));
    const made = await createForeign('api', [folder, 'shop', 'v1', 'Shop']);
    expect(made).to.include(done);
    await writeFile(path, '{');
    const other = await createForeign('api', [folder, 'shop', 'v1', 'Pot']);
    expect(other.code).to.equal(1);
    expect(other.stdout).to.include('created src/api/v1/pot.ts');
    expect(other.stderr)
      .to.include('error: the files were written, but the record for upgrade-project was not')
      .and.include(path);
  });

  for (const [what, names, flags, says] of [
    [
      'an unknown kind without a complete group',
      ['apps', 'v1', 'Nope'],
      [],
      'or pass the full group',
    ],
    [
      'another style',
      ['apps', 'v1', 'Deployment'],
      ['--style', 'lifecycle'],
      'not possible for kinds of other operators and of Kubernetes, such as Deployment; pass --style reconciles, or leave it out',
    ],
    [
      'a definition file without the kind',
      ['a.example.io', 'v1', 'Issuer'],
      ['--crd-file', 'other.yaml'],
      'has no CustomResourceDefinition with Issuer v1 of a.example.io',
    ],
    [
      'a definition file of a built-in kind',
      ['apps', 'v1', 'Deployment'],
      ['--crd-file', 'other.yaml'],
      '--crd-file: Deployment is not a kind of another operator; leave it out',
    ],
    [
      'a definition file of a new kind',
      ['shop', 'v1', 'Shop'],
      ['--resource=true', '--crd-file', 'other.yaml'],
      '--crd-file: only for kinds of other operators; pass --no-resource, too',
    ],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const folder = file(`refused-${names[2]}-${flags.length}`);
      await makeProject(folder);
      await writeFile(file('other.yaml'), JSON.stringify(issuerDefinition));
      const given = flags.map((flag) => (flag === 'other.yaml' ? file(flag) : flag));
      const { code, stderr } = await createForeign(
        'api',
        [folder, ...names],
        '--no-resource',
        ...given,
      );
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
    });
  }

  it('refuse a definition file with an invalid plural, and write nothing', async () => {
    const folder = file('plural');
    await makeProject(folder);
    const before = await textsIn(folder);
    const { spec } = issuerDefinition;
    const names = { ...spec.names, plural: '../issuers' };
    const path = file('plural.json');
    await writeFile(path, JSON.stringify({ ...issuerDefinition, spec: { ...spec, names } }));
    const given = [folder, 'certs.example.io', 'v1', 'Issuer'] as const;
    const made = await createForeign('api', given, '--no-resource', '--crd-file', path);
    expect(made.code).to.equal(1);
    expect(made.stderr).to.include(`--crd-file: ${path}: plural: "../issuers" must be`);
    expect(await textsIn(folder)).to.deep.equal(before);
  });

  it('refuse a conversion, which only the owner of the kind can add', async () => {
    await makeProject(file('conversion'));
    const pod = [file('conversion'), 'core', 'v1', 'Pod'] as const;
    const { stderr } = await createForeign('webhook', pod, '--conversion');
    expect(stderr).to.include(
      '--conversion: not possible for kinds of other operators and of Kubernetes, such as Pod',
    );
  });

  it('have a valid sample object for each kind of Kubernetes that can be watched', async () => {
    // The names of the first two follow from their content; the third needs a signed request.
    const special = ['CustomResourceDefinition', 'APIService', 'CertificateSigningRequest'];
    const cluster = await EmbeddedCluster.start();
    try {
      const client = cluster.client();
      const types = builtinKinds().filter(({ verbs }) => verbs.includes('watch'));
      for (const { type } of types) {
        const { group, kind, namespaced } = type;
        if (special.includes(kind)) continue;
        const metadata = { name: 'sample', ...(namespaced && { namespace: 'default' }) };
        const content = builtInContent({ group: group === '' ? 'core' : group, kind });
        const object = { apiVersion: apiVersionOf(type), kind, metadata, ...content };
        const made = await client.create(object, { dryRun: true });
        expect(made.kind, kind).to.equal(kind);
      }
    } finally {
      await cluster.stop();
    }
  });

  for (const [kind, field] of [
    ['ResourceQuota', 'spec?: ResourceQuotaSpec;'],
    ['Endpoints', 'subsets?: EndpointsSubsets[];'],
  ] as const) {
    it(`get types for a kind of Kubernetes without a constant in the package: ${kind}`, async () => {
      const folder = file(`constant-${kind}`);
      await makeProject(folder);
      const named = [folder, 'core', 'v1', kind] as const;
      expect(await createForeign('api', named, '--no-resource')).to.include(done);
      expect(await createForeign('webhook', named, '--validation')).to.include(done);
      const texts = await textsIn(folder);
      const name = kindFile(kind);
      const typed = texts[`src/api/v1/${name}.ts`] ?? '';
      expect(typed).to.include(field).and.include(`export const ${kind}: ResourceType<${kind}>`);
      const options = { singleQuote: true, printWidth: 100, parser: 'typescript' };
      expect(typed).to.equal(await format(typed, options));
      expect(texts[`src/controllers/${name}-controller.ts`]).to.include(`/api/v1/${name}.js`);
      expect(texts[`test/${name}-controller.test.ts`]).to.include('EmbeddedCluster.start()');
      expect(texts).not.to.have.property(`test/crds/${name}.json`);
      linkPackages(folder);
      expect(await cli(['manifests', '--project', folder, '--check'])).to.deep.equal(fresh);
    });
  }

  it('have types even if only a webhook needs them', async () => {
    const folder = file('only-webhook');
    await makeProject(folder);
    const named = [folder, 'scheduling.k8s.io', 'v1', 'PriorityClass'] as const;
    expect(await createForeign('webhook', named, '--validation')).to.include(done);
    const typed = (await textsIn(folder))['src/api/v1/priority-class.ts'] ?? '';
    expect(typed)
      .to.include('namespaced: false')
      .and.match(/^ {2}value\?: number;$/m);
  });
});

function kindFile(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

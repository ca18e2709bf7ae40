import { expect } from 'chai';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { isSampled } from '../../sample.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, createWebhook, makeProject, testTexts, textsIn } from './project.js';

const fresh = { code: 0, stdout: 'The manifests are up to date.\n', stderr: '' };
const twoVersions = [['Shop'], ['Shop', 'v1']] as const;
const manifests = 'config/webhook/manifests.yaml';

interface WebhookConfiguration {
  readonly kind: string;
  readonly webhooks: readonly { readonly name: string; readonly failurePolicy: string }[];
}

/** Formats configurations as `MutatingWebhookConfiguration: a b`. */
function namesIn(text = ''): readonly string[] {
  const documents = parseAllDocuments(text);
  const configurations = documents.map((one) => one.toJS() as WebhookConfiguration);
  return configurations.map(
    ({ kind, webhooks }) => `${kind}: ${webhooks.map(({ name }) => name).join(' ')}`,
  );
}

describe('operator-builder create webhook', () => {
  const file = scratchDirectory();

  async function edit(path: string, change: (text: string) => string): Promise<void> {
    const text = await readFile(path, 'utf8');
    const changed = change(text);
    expect(changed).not.to.equal(text);
    await writeFile(path, changed);
  }

  // The specs of `create api` run the tests of projects with webhooks, too.
  it('keeps manifests up to date in each step', async () => {
    await makeProject(file('whole'), ...twoVersions, ['Fleet', 'v1', '--no-namespaced']);
    linkPackages(file('whole'));
    const steps = [
      ['Shop', 'v1alpha1', '--defaulting'],
      ['Fleet', 'v1', '--validation', '--defaulting'],
      ['Shop', 'v1', '--validation'],
      ['Shop', 'v1alpha1', '--validation', '--conversion'],
      ['Shop', 'v1', '--defaulting'],
    ] as const;
    for (const args of steps) {
      const [kind, version, ...flags] = args;
      const { code, stderr } = await createWebhook(file('whole'), kind, version, ...flags);
      expect({ code, stderr }, args.join(' ')).to.deep.equal({ code: 0, stderr: '' });
      if (isSampled && args !== steps.at(-1)) continue;
      const checked = await cli(['manifests', '--project', file('whole'), '--check']);
      expect(checked, args.join(' ')).to.deep.equal(fresh);
    }
    const tests = Object.keys(await testTexts(file('whole')));
    expect(tests.filter((name) => !name.includes('controller'))).to.deep.equal([
      ...['fleet-v1-webhook.test.ts', 'shop-conversion.test.ts'],
      ...['shop-v1-webhook.test.ts', 'shop-v1alpha1-webhook.test.ts'],
    ]);
    const all = Object.entries(await textsIn(file('whole', 'src')))
      .flat()
      .join('\n');
    expect(all).not.to.match(/kind-?name|groupname|v9[89]alpha|@first|@later|builder:(?:if|end)/i);
  });

  it('adds webhooks to operator, PROJECT, kustomizations and roles', async () => {
    await makeProject(file('all'), ...twoVersions);
    const flags = ['--defaulting', '--validation', '--conversion'];
    const { stdout } = await createWebhook(file('all'), 'Shop', 'v1alpha1', ...flags);
    expect(stdout).to.include('created src/webhooks/v1alpha1/shop-webhook.ts');
    const texts = await textsIn(file('all'));
    expect(texts['src/operator.ts'])
      .to.match(/webhooks: \[\n {4}\.\.\.shopV1alpha1Webhooks,\n {4}conversionWebhook\(Shop\),\n/)
      .and.match(/import \{ Operator, conversionWebhook \} from 'operator-builder';\n/);
    expect(texts['src/operator.ts']?.match(/import \{ Shop \}/g)).to.have.length(1);
    const project = parse(texts['PROJECT'] ?? '') as { resources: { webhooks?: object }[] };
    expect(project.resources.map(({ webhooks }) => webhooks)).to.deep.equal([
      { defaulting: true, validation: true, conversion: true, webhookVersion: 'v1' },
      undefined,
    ]);
    const whole = parse(texts['config/default/kustomization.yaml'] ?? '') as object;
    expect(whole).to.have.property('resources').that.includes('../webhook');
    expect(whole)
      .to.have.property('patches')
      .that.deep.equals([{ path: 'conversion_in_shop.example.com_shops.yaml' }]);
    expect(namesIn(texts[manifests])).to.deep.equal([
      'MutatingWebhookConfiguration: mshop.shop.example.com',
      'ValidatingWebhookConfiguration: vshop.shop.example.com',
    ]);
    expect(texts['config/rbac/role.yaml']).to.include('resourceNames: [shops.shop.example.com]');
    expect(texts['config/rbac/leader_election_role.yaml']).to.include(
      'resourceNames: [shops-webhook-certificates]',
    );
    expect(texts['config/manager/manager.yaml']).to.include('containerPort: 9443');
  });

  it('generates tests with a minimal valid object if the sample does not match the schema', async () => {
    await makeProject(file('stale'), ['Shop', 'v1', '--no-controller']);
    const schema = /const spec = s\.object\(\{.*?\n\}\);/s;
    const own =
      "const spec = s.object({ engine: s.string({ enum: ['fast'] }), size: s.integer({ minimum: 3 }) });";
    await edit(file('stale/src/api/v1/shop.ts'), (text) => text.replace(schema, own));
    linkPackages(file('stale'));
    const { stderr } = await createWebhook(file('stale'), 'Shop', 'v1', '--validation');
    expect(stderr).to.equal('');
    const text = await readFile(file('stale/test/shop-v1-webhook.test.ts'), 'utf8');
    expect(text).to.match(
      /^const content: object = \{\n {2}spec: \{\n {4}engine: 'fast',\n {4}size: 3,\n {2}\},\n\};$/m,
    );
  });

  it('keeps edits in existing webhooks', async () => {
    await makeProject(file('own'), ...twoVersions, ['Pot', 'v1']);
    await createWebhook(file('own'), 'Pot', 'v1', '--defaulting');
    const webhook = file('own/src/webhooks/v1/pot-webhook.ts');
    await edit(webhook, (text) => text.replace("operation !== 'CREATE'", 'false /* mine */'));
    // The file is as if `manifests` had written it for a webhook with another failure policy.
    await edit(file('own', manifests), (text) => text.replace('Policy: Fail', 'Policy: Ignore'));
    await edit(file('own/config/webhook/service.yaml'), (text) => `# mine\n${text}`);
    for (const [kind, version, flag] of [
      ['Pot', 'v1', '--validation'],
      ['Shop', 'v1alpha1', '--defaulting'],
    ] as const) {
      expect(await createWebhook(file('own'), kind, version, flag)).to.include({
        code: 0,
        stderr: '',
      });
    }
    const code = await readFile(webhook, 'utf8');
    expect(code).to.include('false /* mine */').and.include('validatingWebhook(Pot, (');
    expect(code.match(/ from 'operator-builder';/g)).to.have.length(1);
    const texts = await textsIn(file('own'));
    expect(texts['config/webhook/service.yaml']).to.match(/^# mine\n/);
    expect(texts['src/operator.ts']?.match(/\.\.\.potV1Webhooks/g)).to.have.length(1);
    expect(namesIn(texts[manifests])).to.deep.equal([
      'MutatingWebhookConfiguration: mpot.shop.example.com mshop.shop.example.com',
      'ValidatingWebhookConfiguration: vpot.shop.example.com',
    ]);
    expect(texts[manifests]?.match(/failurePolicy: \w+/g)).to.deep.equal([
      ...['failurePolicy: Ignore', 'failurePolicy: Fail', 'failurePolicy: Fail'],
    ]);
  });

  it('converts between all versions, also those that are added later', async () => {
    await makeProject(file('spokes'), ...twoVersions, ['Shop', 'v2']);
    const made = await createWebhook(file('spokes'), 'Shop', 'v1', '--conversion');
    expect(made).to.include({ code: 0 });
    expect(made.stdout).not.to.include(manifests);
    await createApi(file('spokes'), 'Shop', 'v3');
    const text = await readFile(file('spokes/src/api/v1alpha1/shop.ts'), 'utf8');
    expect(text).to.include("    hub: 'v1alpha1',\n    spokes: {\n      v1: {");
    expect([...text.matchAll(/^ {6}(\w+): \{$/gm)].map(([, name]) => name)).to.deep.equal([
      ...['v1', 'v2', 'v3'],
    ]);
    linkPackages(file('spokes'));
    // Loads the operator, which refuses a version without a conversion.
    const checked = await cli(['manifests', '--project', file('spokes'), '--check']);
    expect(checked).to.deep.equal(fresh);
    const list = file('spokes/config/webhook/kustomization.yaml');
    expect(parse(await readFile(list, 'utf8')))
      .to.have.property('resources')
      .that.deep.equals(['service.yaml']);
    // The first admission webhook adds its manifests.
    await createWebhook(file('spokes'), 'Shop', 'v2', '--validation');
    expect(parse(await readFile(list, 'utf8')))
      .to.have.property('resources')
      .that.deep.equals(['service.yaml', 'manifests.yaml']);
    expect(namesIn(await readFile(file('spokes', manifests), 'utf8'))).to.deep.equal([
      'ValidatingWebhookConfiguration: vshop-v2.shop.example.com',
    ]);
  });

  it('removes the match policies when a further version has no webhooks, unless the code sets them', async () => {
    const folder = file('further');
    await makeProject(folder, ...twoVersions);
    for (const version of ['v1alpha1', 'v1']) {
      await createWebhook(folder, 'Shop', version, '--validation');
    }
    await createWebhook(folder, 'Shop', 'v1', '--conversion');
    const policies = async (): Promise<unknown> =>
      (await readFile(file('further', manifests), 'utf8')).match(/matchPolicy: \w+/g);
    expect(await policies()).to.deep.equal(['matchPolicy: Exact', 'matchPolicy: Exact']);
    expect((await createApi(folder, 'Shop', 'v2')).stderr).to.equal('');
    linkPackages(folder);
    expect(await cli(['manifests', '--project', folder, '--check'])).to.deep.equal(fresh);
    expect(await policies()).to.equal(null);
    // A policy set in code is kept.
    await edit(file('further', manifests), (text) => `${text}    matchPolicy: Exact\n`);
    expect((await createApi(folder, 'Shop', 'v3')).stderr).to.equal('');
    expect(await policies()).to.deep.equal(['matchPolicy: Exact']);
  });

  it('prints the lines to add if a marker is missing, and writes nothing', async () => {
    await makeProject(file('markers'), ...twoVersions);
    const paths = ['src/operator.ts', 'config/manager/manager.yaml'];
    for (const path of paths) {
      await edit(file('markers', path), (text) => text.replace(/.*scaffold:(?!res|im|v).*\n/g, ''));
    }
    const before = await textsIn(file('markers'));
    const flags = ['--validation', '--conversion'];
    const { code, stderr } = await createWebhook(file('markers'), 'Shop', 'v1', ...flags);
    expect(code).to.equal(1);
    for (const path of paths) expect(stderr).to.include(`${path} has lost markers`);
    expect(stderr)
      .to.include('+    ...shopV1Webhooks,\n')
      .and.include('+              containerPort: 9443\n')
      .and.include('Nothing was written.');
    expect(await textsIn(file('markers'))).to.deep.equal(before);
  });

  it('adds a conversion to the kind of the tutorial, because the code in the tutorial has all markers', async () => {
    const folder = file('tutorial');
    const kind = ['--group', 'alnair', '--kind', 'AlnairPod', '-C', folder];
    const init = ['init', '--domain', 'centaurusinfra.io', '--name', 'alnair', '-C', folder];
    expect(await cli(init)).to.include({ code: 0 });
    await cli(['create', 'api', ...kind, '--version', 'v1alpha1']);
    const path = 'src/api/v1alpha1/alnair-pod.ts';
    const page = await readFile('docs/tutorial.md', 'utf8');
    const [, text = ''] =
      /^```ts file=src\/api\/v1alpha1\/alnair-pod\.ts\n(.*?)^```$/ms.exec(page) ?? [];
    const markersIn = (code: string): unknown => code.match(/operator-builder:scaffold:\w+/g);
    await edit(join(folder, path), (made) => {
      expect(markersIn(text)).to.deep.equal(markersIn(made));
      return text;
    });
    for (const args of [
      ['create', 'api', ...kind, '--version', 'v1beta1'],
      ['create', 'webhook', ...kind, '--version', 'v1alpha1', '--conversion'],
    ]) {
      expect(await cli(args), args.join(' ')).to.include({ code: 0, stderr: '' });
    }
    expect(await readFile(join(folder, path), 'utf8')).to.include("hub: 'v1alpha1'");
  });

  it('writes nothing with --dry-run, and overwrites code only with --force', async () => {
    await makeProject(file('forced'), ['Shop']);
    const bare = await textsIn(file('forced'));
    const args = ['Shop', 'v1alpha1', '--defaulting'] as const;
    const dry = await createWebhook(file('forced'), ...args, '--dry-run');
    expect(dry.stdout)
      .to.include('would create src/webhooks/v1alpha1/shop-webhook.ts')
      .and.include('  +     ...shopV1alpha1Webhooks,');
    expect(await textsIn(file('forced'))).to.deep.equal(bare);
    await createWebhook(file('forced'), ...args, '--validation');
    const made = await textsIn(file('forced'));
    await writeFile(file('forced/src/webhooks/v1alpha1/shop-webhook.ts'), 'mine');
    const again = await createWebhook(file('forced'), ...args);
    expect(again.stderr).to.equal(
      'error: Shop v1alpha1 already has defaulting; --force overwrites its code\n',
    );
    const { code, stdout } = await createWebhook(file('forced'), ...args, '--force');
    expect(code).to.equal(0);
    expect(stdout).to.include('overwrote src/webhooks/v1alpha1/shop-webhook.ts');
    // Includes the validation, which this call does not request.
    expect(await textsIn(file('forced'))).to.deep.equal(made);
  });

  it('keeps the webhooks of a kind in PROJECT when the kind is created again', async () => {
    await makeProject(file('anew'), ['Shop']);
    await createWebhook(file('anew'), 'Shop', 'v1alpha1', '--validation');
    const before = await readFile(file('anew/PROJECT'), 'utf8');
    expect((await createApi(file('anew'), 'Shop', 'v1alpha1', '--force')).code).to.equal(0);
    expect(await readFile(file('anew/PROJECT'), 'utf8')).to.equal(before);
  });

  it('keeps comments and line endings of PROJECT, also in the entry that it changes', async () => {
    await makeProject(file('comments'), ['Shop']);
    await createWebhook(file('comments'), 'Shop', 'v1alpha1', '--validation');
    await edit(file('comments/PROJECT'), (text) => {
      const commented = text
        .replace('    plural: shops\n', '    # Irregular.\n    plural: shops # not shoppes\n')
        .replace('      validation: true\n', '      # Prices.\n      validation: true # now\n');
      return commented.replaceAll('\n', '\r\n');
    });
    const before = await readFile(file('comments/PROJECT'), 'utf8');
    const { code } = await createWebhook(file('comments'), 'Shop', 'v1alpha1', '--defaulting');
    expect(code).to.equal(0);
    const after = await readFile(file('comments/PROJECT'), 'utf8');
    expect(after.replace('      defaulting: true\r\n', '')).to.equal(before);
    expect(after).not.to.equal(before);
  });

  describe('refuses', () => {
    before(async () => {
      await makeProject(file('bad'), ...twoVersions, ['Pot', 'v1']);
      await createWebhook(file('bad'), 'Shop', 'v1', '--conversion');
    });

    for (const [what, [kind, version, ...flags], says] of [
      [
        'a call without a webhook type',
        ['Shop', 'v1'],
        'at least one of --defaulting, --validation, --conversion',
      ],
      [
        'a missing kind',
        ['Other', 'v1', '--validation'],
        'error: the project has no Other v1 of shop, but Shop v1alpha1 of shop, Shop v1 of shop, ' +
          'Pot v1 of shop; create it first: ' +
          'operator-builder create api --group shop --version v1 --kind Other\n',
      ],
      [
        'a missing version',
        ['Pot', 'v2', '--validation'],
        'has no Pot v2 of shop, but Pot v1 of shop;',
      ],
      [
        'a conversion of a single version',
        ['Pot', 'v1', '--conversion'],
        'Pot has only one version',
      ],
      [
        'a second conversion',
        ['Shop', 'v1alpha1', '--conversion'],
        'Shop v1alpha1 already has conversion',
      ],
    ] as const) {
      it(what, async () => {
        const before = await textsIn(file('bad'));
        const { code, stderr } = await createWebhook(file('bad'), kind, version, ...flags);
        expect(code).to.equal(1);
        expect(stderr).to.include(says);
        expect(await textsIn(file('bad'))).to.deep.equal(before);
      });
    }

    it('a kind in the wrong group, and names the right group', async () => {
      const args = ['--group', 'fleet', '--version', 'v1', '--kind', 'Pot', '--validation'];
      const { code, stderr } = await cli(['create', 'webhook', ...args, '-C', file('bad')]);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        'error: --group: the project has Pot in shop, not in fleet; pass --group shop\n',
      );
    });

    it('a kind whose schema file was moved, because the webhooks would import it', async () => {
      await makeProject(file('moved'), ['Shop']);
      await rename(file('moved/src/api'), file('moved/src/apis'));
      const before = await textsIn(file('moved'));
      const made = await createWebhook(file('moved'), 'Shop', 'v1alpha1', '--validation');
      expect(made).to.include({ code: 1, stdout: '' });
      expect(made.stderr)
        .to.include(
          'src/api/v1alpha1/shop.ts does not exist, but the webhooks import it; restore it',
        )
        .and.include('Nothing was written.');
      expect(await textsIn(file('moved'))).to.deep.equal(before);
    });

    it('webhooks for a version whose webhooks receive the new storage version', async () => {
      await makeProject(file('stored'), ...twoVersions);
      linkPackages(file('stored'));
      await createWebhook(file('stored'), 'Shop', 'v1alpha1', '--validation');
      await edit(file('stored/src/api/v1alpha1/shop.ts'), (text) =>
        text.replace('storage: true, ', '').replace(/ shopV1,/, ' { ...shopV1, storage: true },'),
      );
      const why =
        'Shop is stored in v1, so the webhooks in src/webhooks/v1alpha1/shop-webhook.ts receive v1';
      const first = await createWebhook(file('stored'), 'Shop', 'v1alpha1', '--defaulting');
      expect(first.stderr).to.equal(`error: --version v1alpha1: ${why}; pass --version v1\n`);
      const { stderr } = await createWebhook(file('stored'), 'Shop', 'v1', '--validation');
      expect(stderr).to.equal(`error: --version v1: ${why} already; change validation there\n`);
      const other = await createWebhook(file('stored'), 'Shop', 'v1', '--defaulting');
      expect(other).to.include({ code: 0, stderr: '' });
      await cli(['manifests', '--project', file('stored')]);
      expect(namesIn(await readFile(file('stored', manifests), 'utf8'))).to.deep.equal([
        'MutatingWebhookConfiguration: mshop-v1.shop.example.com',
        'ValidatingWebhookConfiguration: vshop.shop.example.com',
      ]);
    });

    it('to overwrite a file that it did not generate', async () => {
      await writeFile(file('bad', manifests), 'kind: Mine\n');
      const { code, stderr } = await createWebhook(file('bad'), 'Pot', 'v1', '--validation');
      expect(code).to.equal(1);
      expect(stderr).to.include(`(--force overwrites them): ${manifests}`);
      await writeFile(file('bad', manifests), '# Generated by `operator-builder manifests`\na: [');
      const broken = await createWebhook(file('bad'), 'Pot', 'v1', '--validation');
      expect(broken.stderr).to.include(`${manifests} can't be read: `);
      await rm(file('bad', manifests));
    });

    it('a PROJECT with YAML aliases, because a change could change several entries', async () => {
      await makeProject(file('alias'), ['Shop']);
      await edit(file('alias/PROJECT'), (text) =>
        text.replace('kind: Shop', 'kind: &kind Shop').concat('    note: *kind\n'),
      );
      const { code, stderr } = await createWebhook(
        file('alias'),
        'Shop',
        'v1alpha1',
        '--validation',
      );
      expect(code).to.equal(1);
      expect(stderr).to.include("PROJECT can't be used: it has an alias, write its value instead");
    });

    it('a PROJECT with invalid webhooks', async () => {
      await edit(file('bad/PROJECT'), (text) => text.replace('conversion: true', 'conversion: 1'));
      const { stderr } = await createWebhook(file('bad'), 'Pot', 'v1', '--validation');
      expect(stderr).to.include('resources[1].webhooks.conversion: want true or false, got 1');
    });
  });
});

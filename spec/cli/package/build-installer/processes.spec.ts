import { expect } from 'chai';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../../../../lib/testing/index.js';
import { cli, scratchDirectory, startCli } from '../../cli.js';
import { createWebhook, holdTo, makeProject } from '../../scaffold/project.js';

interface Applied {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly object[];
}

describe('operator-builder build-installer', () => {
  const file = scratchDirectory();
  const shops = ['--project', 'shops'];

  before(() => makeProject(file('shops'), ['Shop']));

  const run = (...args: readonly string[]) =>
    cli(['build-installer', ...shops, ...args], { cwd: file() });

  const objectsOf = (text: string): readonly Applied[] =>
    parseAllDocuments(text).map((document) => document.toJS() as Applied);

  it('writes one file with all objects, dependencies first', async () => {
    const { code, stdout } = await run();
    expect([code, stdout]).to.deep.equal([
      0,
      'wrote shops/dist/install.yaml: 18 objects\n\nNext:\n  kubectl apply --server-side -f shops/dist/install.yaml\n',
    ]);
    const objects = objectsOf(await readFile(file('shops/dist/install.yaml'), 'utf8'));
    expect(objects.map(({ kind }) => kind)).to.deep.equal([
      ...['Namespace', 'CustomResourceDefinition', 'ServiceAccount', 'Role', 'Role'],
      ...Array.from({ length: 6 }, () => 'ClusterRole'),
      ...['RoleBinding', 'RoleBinding', 'ClusterRoleBinding', 'ClusterRoleBinding'],
      ...['Service', 'Deployment', 'PodDisruptionBudget'],
    ]);
    const names = objects.map(({ metadata }) => metadata.name);
    expect(names).to.include('shops-controller-manager').and.include('shops.shop.example.com');
  });

  it('sets an image that replaces the one in config/manager', async () => {
    const image = 'localhost:5000/a/b:v2@sha256:0123';
    const { stdout } = await run('--image', image, '--out', '-');
    expect(stdout).to.include(`image: ${image}\n`).and.not.include('registry.example');
  });

  it('adds the tag latest to an image without a tag', async () => {
    const { stdout } = await run('--image', 'host/a', '--out', '-');
    expect(stdout).to.include('image: host/a:latest\n');
  });

  it('writes to an absolute path', async () => {
    const path = file('elsewhere/install.yaml');
    expect(await run('--out', path)).to.include({ code: 0 });
    expect(await readFile(path, 'utf8')).to.include('kind: Deployment');
  });

  for (const [args, message] of [
    [['--image', ''], '--image: want an image, such as registry.example/shop:1.2.0, got ""'],
    [
      ['--image', 'a b:1'],
      '--image: want an image, such as registry.example/shop:1.2.0, got "a b:1"',
    ],
    [['--namespace', 'Shops_1'], '--namespace: '],
  ] as const) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, stderr } = await run(...args);
      expect(code).to.equal(1);
      expect(stderr).to.include(`error: ${message}`);
    });
  }

  it('sets the image of the operator and its init containers, even if no kustomization sets an image', async () => {
    await makeProject(file('fixed'));
    const manager = file('fixed/config/manager/manager.yaml');
    const text = await readFile(manager, 'utf8');
    const init = 'initContainers: [{ name: first, image: "controller:latest" }]\n      containers:';
    await writeFile(manager, text.replace('containers:', init));
    await writeFile(file('fixed/config/manager/kustomization.yaml'), 'resources: [manager.yaml]\n');
    const args = ['--project', 'fixed', '--image', 'a:b', '--out', '-'];
    const { code, stdout } = await cli(['build-installer', ...args], { cwd: file() });
    expect([code, stdout.match(/image: .*/g)]).to.deep.equal([0, ['image: a:b', 'image: a:b']]);
  });

  it('refuses an image for an overlay without the operator', async () => {
    const { code, stderr } = await run('--image', 'a:b', '--overlay', 'config/crd');
    expect([code, stderr]).to.deep.equal([
      1,
      'error: config/crd has no Deployment with a container named manager; want exactly one\n',
    ]);
  });

  it('reports a missing kubectl', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = file('no-programs');
    try {
      const { code, stderr } = await run();
      expect(code).to.equal(1);
      expect(stderr).to.include('kubectl is not on the PATH; install kubectl');
    } finally {
      process.env['PATH'] = PATH;
    }
  });

  it('leaves no files when it is interrupted', async () => {
    const before = await readdir(file('shops/config'));
    await mkdir(file('slow'));
    await writeFile(file('slow/kubectl'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const { PATH } = process.env;
    process.env['PATH'] = `${file('slow')}:${PATH ?? ''}`;
    try {
      const args = ['build-installer', ...shops, '-n', 'elsewhere', '--out', '-'];
      const running = startCli(args, { cwd: file() });
      await eventually(async () => expect(await readdir(file('shops/config'))).not.to.eql(before));
      running.stop();
      const stopped = { code: 130, stdout: '', stderr: 'error: stopped: nothing was written\n' };
      expect(await running.ended).to.deep.equal(stopped);
    } finally {
      process.env['PATH'] = PATH;
    }
    expect(await readdir(file('shops/config'))).to.deep.equal(before);
  });

  it('leaves no files when it builds an overlay for another namespace', async () => {
    const before = await readdir(file('shops/config'));
    expect(await run('-n', 'elsewhere', '--out', '-')).to.include({ code: 0 });
    expect(await readdir(file('shops/config'))).to.deep.equal(before);
  });

  it('sets the namespace, also in names and references', async () => {
    const { stdout } = await run('-n', 'elsewhere', '--out', '-');
    expect(stdout).to.include('namespace: elsewhere\n').and.not.include('shops-system');
    const [first] = objectsOf(stdout);
    expect(first).to.deep.include({ kind: 'Namespace' });
    expect(first?.metadata.name).to.equal('elsewhere');
  });

  it('includes roles in other namespaces for the ServiceAccount of the operator', async () => {
    await makeProject(file('held'), ['Shop']);
    await holdTo(file('held'), 'tenants');
    const held = async (...args: readonly string[]): Promise<readonly Applied[]> => {
      const { stdout } = await cli(
        ['build-installer', '--project', 'held', '--out', '-', ...args],
        { cwd: file() },
      );
      return objectsOf(stdout);
    };
    const objects = await held('-n', 'elsewhere');
    const there = objects.filter(({ metadata }) => metadata.namespace === 'tenants');
    expect(there.map(({ kind }) => kind)).to.deep.equal(['Role', 'RoleBinding']);
    expect(there[1]?.subjects).to.deep.equal([
      { kind: 'ServiceAccount', name: 'shops-controller-manager', namespace: 'elsewhere' },
    ]);
    // The Deployment comes last: an operator that starts before its roles exist would report missing permissions.
    const last = objects.filter(({ kind }) => kind !== 'PodDisruptionBudget').at(-1);
    expect(last).to.include({ kind: 'Deployment' });
    expect(await held('--overlay', 'config/crd')).to.have.length(1);
    const both = { resources: ['../default', '../namespaces'] };
    await mkdir(file('held/config/both'));
    await writeFile(file('held/config/both/kustomization.yaml'), JSON.stringify(both));
    expect(await held('--overlay', 'config/both')).to.have.length(objects.length);
  });

  it('omits roles in other namespaces from an OLM catalogue', async () => {
    const named = ['--domain', 'example.com', '--name', 'shops', '-C', file('listed')];
    await cli(['init', ...named, '--with', 'olm']);
    await holdTo(file('listed'), 'tenants');
    const args = ['--project', 'listed', '--overlay', 'config/manifests', '--out', '-'];
    const { stdout } = await cli(['build-installer', ...args], { cwd: file() });
    expect(stdout).to.include('kind: ClusterServiceVersion').and.not.include('tenants');
  });

  it('does not replace API versions, images and subresources that begin with the name of the namespace', async () => {
    await makeProject(file('apps'), ['Shop']);
    const images = file('apps/config/manager/kustomization.yaml');
    const named = (await readFile(images, 'utf8')).replace(/newName: .*/, 'newName: shops/shop');
    await writeFile(images, named);
    for (const namespace of ['apps', 'shops']) {
      const overlay = file('apps/config/default/kustomization.yaml');
      const text = await readFile(overlay, 'utf8');
      await writeFile(overlay, text.replace(/^namespace: .*/m, `namespace: ${namespace}`));
      const args = ['--project', 'apps', '-n', 'elsewhere', '--out', '-'];
      const { stdout } = await cli(['build-installer', ...args], { cwd: file() });
      expect(stdout)
        .to.include('apiVersion: apps/v1\n')
        .and.include('image: shops/shop:0.1.0\n')
        .and.include('- shops/status\n')
        .and.not.include('elsewhere/');
      const chart = await cli(['helm', '--project', 'apps'], { cwd: file() });
      expect(chart).to.include({ code: 0, stderr: '' });
      const templates = file('apps/charts/shops/templates');
      for (const name of ['deployment-controller-manager', 'clusterrole-manager-role']) {
        const template = await readFile(`${templates}/${name}.yaml`, 'utf8');
        expect(template).not.to.include('{{ .Release.Namespace }}/');
      }
    }
  });

  it('sets the namespace in the webhook certificate of cert-manager', async () => {
    await makeProject(file('trusted'), ['Shop']);
    const made = await createWebhook(file('trusted'), 'Shop', 'v1alpha1', '--validation');
    expect(made).to.include({ code: 0 });
    const overlay = file('trusted/config/default/kustomization.yaml');
    const text = await readFile(overlay, 'utf8');
    await writeFile(overlay, text.replace('components:\n', 'components:\n  - ../certmanager\n'));
    const args = ['--project', 'trusted', '-n', 'elsewhere', '--out', '-'];
    const { stdout } = await cli(['build-installer', ...args], { cwd: file() });
    expect(stdout)
      .to.include('- shops-webhook-service.elsewhere.svc.cluster.local\n')
      .and.include('cert-manager.io/inject-ca-from: elsewhere/shops-serving-cert\n')
      .and.not.include('shops-system');
  });

  it('prints file and objects as JSON', async () => {
    const { stdout } = await run(
      '--overlay',
      'config/crd',
      '--out',
      'crd.yaml',
      '--output',
      'json',
    );
    expect(JSON.parse(stdout)).to.deep.equal({
      file: file('shops/crd.yaml'),
      objects: [{ kind: 'CustomResourceDefinition', name: 'shops.shop.example.com' }],
    });
  });

  for (const [problem, args, message] of [
    [
      'a missing overlay',
      ['--overlay', 'config/none'],
      "config/none can't be read: there is no such file or directory",
    ],
    ['a directory without a kustomization', ['--overlay', 'src'], 'unable to find one of '],
    ['a file that cannot be written', ['--out', 'package.json/x'], "can't be written: "],
  ] as const) {
    it(`reports ${problem}`, async () => {
      const { code, stderr } = await run(...args);
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/^error: /)
        .and.include(message);
    });
  }

  it('reports a missing project', async () => {
    const { code, stderr } = await cli(['build-installer'], { cwd: '/' });
    expect([code, stderr]).to.satisfy(([, text]: [number, string]) =>
      text.includes('operator-builder init'),
    );
  });
});

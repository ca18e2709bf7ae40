import { expect } from 'chai';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { simulateKubectl, writeObjects, writeText } from './simulated-kubectl.js';

type Fields = Readonly<Record<string, unknown>>;

const metadata = { name: 'shops-manager', namespace: 'shops-system' };

function deployment(pod: Fields = {}, place: Fields = metadata): object {
  const containers = [{ name: 'manager', image: 'shops:1.2.0' }];
  const spec = { serviceAccountName: 'shops-manager', containers, ...pod };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: place,
    spec: { template: { spec } },
  };
}

const box = (name: string, more: object = {}): object => ({
  ...{ apiVersion: 'shops-system/v1', kind: 'Box', metadata: { name, namespace: 'shops-system' } },
  ...more,
});

describe('operator-builder build-installer with simulated manifests', () => {
  const file = scratchDirectory();
  simulateKubectl(file);
  let folder = '';
  let count = 0;

  beforeEach(async () => {
    folder = file(`project-${count++}`);
    await writeText(`${folder}/PROJECT`, '');
  });

  const write = (path: string, ...objects: readonly object[]): Promise<void> =>
    writeObjects(`${folder}/${path}`, objects);
  const build = (...args: readonly string[]): Promise<CliResult> =>
    cli(['build-installer', '--project', folder, ...args], { cwd: file() });
  const built = async (...args: readonly string[]): Promise<readonly Fields[]> => {
    const { code, stdout, stderr } = await build(...args, '--out', '-');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return parseAllDocuments(stdout).map((document) => document.toJS() as Fields);
  };
  const problemOf = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await build(...args, '--out', '-');
    expect(code).to.equal(1);
    return stderr;
  };

  it('writes the objects to a file in a new folder, and names the next command', async () => {
    await write('config/default', deployment(), box('a'));
    expect(await build('--out', 'new/all.yaml')).to.deep.equal({
      code: 0,
      stdout: `wrote ${folder.slice(file().length + 1)}/new/all.yaml: 2 objects\n\nNext:\n  kubectl apply --server-side -f ${folder.slice(file().length + 1)}/new/all.yaml\n`,
      stderr: '',
    });
    const { stdout } = await build('--out', '-');
    expect(await readFile(`${folder}/new/all.yaml`, 'utf8')).to.equal(stdout);
    const json = await build('--out', 'new/all.yaml', '--output', 'json');
    const objects = [
      { kind: 'Deployment', namespace: 'shops-system', name: 'shops-manager' },
      { kind: 'Box', namespace: 'shops-system', name: 'a' },
    ];
    const said = { file: `${folder}/new/all.yaml`, objects };
    expect(json.stdout).to.equal(`${JSON.stringify(said, undefined, 2)}\n`);
  });

  it('reports a file that it cannot write', async () => {
    await write('config/default', box('a'));
    const { code, stdout, stderr } = await build('--out', 'PROJECT/all.yaml');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/^error: .*\/PROJECT\/all\.yaml can't be written: /);
  });

  it('sets the image of each container that has the image of the operator', async () => {
    const containers = [
      { name: 'manager', image: 'shops:1.2.0' },
      { name: 'proxy', image: 'proxy:1' },
    ];
    const initContainers = [{ name: 'first', image: 'shops:1.2.0' }];
    const job = { spec: { template: { spec: { containers: [{ image: 'shops:1.2.0' }] } } } };
    await write('config/default', deployment({ containers, initContainers }), box('a', job));
    const [manager, other] = await built('--image', 'host:5000/shops:2.0.0');
    const pod = { serviceAccountName: 'shops-manager' };
    expect(manager?.['spec']).to.deep.equal({
      template: {
        spec: {
          ...pod,
          containers: [{ ...containers[0], image: 'host:5000/shops:2.0.0' }, containers[1]],
          initContainers: [{ name: 'first', image: 'host:5000/shops:2.0.0' }],
        },
      },
    });
    expect(other?.['spec']).to.deep.equal({
      template: { spec: { containers: [{ image: 'host:5000/shops:2.0.0' }] } },
    });
  });

  for (const [image, wanted] of [
    ['shops', 'shops:latest'],
    ['host:5000/a/shops', 'host:5000/a/shops:latest'],
    ['shops:2', 'shops:2'],
    ['shops@sha256:0a', 'shops@sha256:0a'],
    ['shops:2@sha256:0a', 'shops:2@sha256:0a'],
  ] as const) {
    it(`sets the image ${image}`, async () => {
      await write('config/default', deployment());
      const [manager] = await built('--image', image);
      expect(manager).to.have.nested.property('spec.template.spec.containers[0].image', wanted);
    });
  }

  for (const image of ['', 'a b', 'shops:$']) {
    it(`refuses the image ${JSON.stringify(image)}`, async () => {
      expect(await problemOf('--image', image)).to.equal(
        `error: --image: want an image, such as registry.example/shop:1.2.0, got ${JSON.stringify(image)}\n`,
      );
    });
  }

  it('refuses an overlay with no operator, or with several', async () => {
    await write('config/default', box('a'));
    const want = 'with a container named manager; want exactly one\n';
    expect(await problemOf('--image', 'a')).to.equal(
      `error: config/default has no Deployment ${want}`,
    );
    await write('config/default', deployment(), deployment());
    expect(await problemOf('--image', 'a')).to.equal(
      `error: config/default has several Deployments ${want}`,
    );
  });

  it('replaces the namespace in all texts, except schemas, API versions, images and resources of rules', async () => {
    const texts = {
      items: ['shops-system/a', 'b.shops-system.svc', 'b.shops-system.svc.cluster.local', 1],
      others: ['x/shops-system/a', 'b.shops-system.svcs', 'shops-system', 'shops-systems/a'],
      rules: [{ resources: ['shops-system/status'], image: 'shops-system/shop' }],
      none: null,
    };
    const crd = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'shops', annotations: { from: 'shops-system/a' } },
      spec: { description: 'shops-system/a' },
    };
    await write('config/default', deployment(), box('a', texts), crd);
    const [, moved, definition] = await built('--namespace', 'else');
    const place = { metadata: { name: 'a', namespace: 'shops-system' } };
    expect(moved).to.deep.equal({
      ...{ apiVersion: 'shops-system/v1', kind: 'Box', ...place, ...texts },
      items: ['else/a', 'b.else.svc', 'b.else.svc.cluster.local', 1],
    });
    expect(definition).to.deep.equal({
      ...crd,
      metadata: { name: 'shops', annotations: { from: 'else/a' } },
    });
  });

  it('does not replace the namespace in texts of an overlay without the operator, or without a namespace', async () => {
    const texts = { items: ['shops-system/a', '/a'] };
    for (const first of [box('b'), deployment({}, { name: 'shops-manager' })]) {
      await write('config/default', first, box('a', texts));
      const [, same] = await built('-n', 'else');
      expect(same).to.deep.include(texts);
    }
  });

  it('passes the namespace to kustomize in a copy of the kustomization, and deletes the copy', async () => {
    const script = `#!/bin/sh\ncat "$2/kustomization.yaml" >> "${folder}/asked"\nprintf '\\n%s\\n' "$2" >> "${folder}/asked"\necho 'kind: Box'\necho 'apiVersion: v1'\necho 'metadata: { name: a }'\n`;
    const kubectl = file('programs/kubectl');
    const before = await readFile(kubectl, 'utf8');
    await writeObjects(`${folder}/config/default`, [], {
      ...{ namespace: 'shops-system', resources: ['../a', 1], components: ['../b'], images: [] },
    });
    await writeFile(kubectl, script);
    try {
      await built('-n', 'else');
    } finally {
      await writeFile(kubectl, before);
    }
    const [asked = '', place] = (await readFile(`${folder}/asked`, 'utf8')).split('\n');
    expect(JSON.parse(asked)).to.deep.equal({
      ...{ namespace: 'else', resources: ['../a'], components: ['../b'], images: [] },
    });
    expect(place).to.match(new RegExp(`^${folder}/config/\\.default-\\w+$`));
    expect(await readdir(`${folder}/config`)).to.deep.equal(['default']);
  });

  for (const name of ['kustomization.yml', 'Kustomization']) {
    it(`reads a kustomization from a file ${name}`, async () => {
      await write('config/default', deployment());
      await rm(`${folder}/config/default/kustomization.yaml`);
      await writeText(`${folder}/config/default/${name}`, 'resources: [../part]\n');
      await write('config/part', box('a'));
      expect(await built('-n', 'else')).to.have.length(2);
    });
  }

  it('with --namespace, accepts an empty kustomization, and refuses a folder without a kustomization', async () => {
    await write('config/default', deployment());
    await writeText(`${folder}/config/default/kustomization.yaml`, '');
    expect(await built('-n', 'else')).to.have.length(1);
    await rm(`${folder}/config/default/kustomization.yaml`);
    expect(await problemOf('-n', 'else')).to.equal(
      `error: ${folder}/config/default: no kustomization.yaml found\n`,
    );
  });

  it('refuses an invalid namespace', async () => {
    expect(await problemOf('-n', 'Else')).to.match(/^error: --namespace: "Else" /);
  });

  describe('adds to the overlay the roles in other namespaces', () => {
    const role = (kind: string, more: object = {}): object => ({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind },
      ...{ metadata: { name: 'shops', namespace: 'tenants' }, ...more },
    });
    const binding = role('RoleBinding', {
      subjects: [
        { kind: 'ServiceAccount', name: 'old', namespace: 'old' },
        { kind: 'User', name: 'old' },
      ],
    });
    const kindsOf = (objects: readonly Fields[]): readonly unknown[] =>
      objects.map(({ kind }) => kind);

    it('before the Deployment, and bound to the ServiceAccount of the operator', async () => {
      await write('config/default', box('a'), deployment(), box('b'));
      await write('config/namespaces', role('Role'), binding);
      const objects = await built();
      expect(kindsOf(objects)).to.deep.equal(['Box', 'Role', 'RoleBinding', 'Deployment', 'Box']);
      expect(objects[2]?.['subjects']).to.deep.equal([
        { kind: 'ServiceAccount', name: 'shops-manager', namespace: 'shops-system' },
        { kind: 'User', name: 'old' },
      ]);
    });

    it('and keeps the namespace of the ServiceAccount in their bindings if the overlay has no namespace', async () => {
      await write('config/default', deployment({}, { name: 'shops-manager' }));
      await write('config/namespaces', binding);
      const [bound] = await built();
      expect(bound).to.have.deep.nested.property('subjects[0]', {
        ...{ kind: 'ServiceAccount', name: 'shops-manager', namespace: 'old' },
      });
    });

    it('but only the roles that the overlay lacks', async () => {
      const other = role('Role', { metadata: { name: 'shops', namespace: 'others' } });
      await write('config/default', role('Role'), deployment());
      await write('config/namespaces', role('Role'), other, binding);
      expect(kindsOf(await built())).to.deep.equal(['Role', 'Role', 'RoleBinding', 'Deployment']);
    });

    it('but not to an overlay without the operator, and not to an OLM bundle', async () => {
      await write('config/namespaces', role('Role'));
      await write('config/default', box('a'));
      expect(kindsOf(await built())).to.deep.equal(['Box']);
      const bundle = { apiVersion: 'a/v1', kind: 'ClusterServiceVersion', metadata: { name: 'a' } };
      await write('config/default', deployment(), bundle);
      expect(kindsOf(await built())).to.deep.equal(['Deployment', 'ClusterServiceVersion']);
    });
  });

  for (const [what, says, reason] of [
    ['an error', 'error: no such file in FOLDER\n', 'no such file in FOLDER'],
    ['a log line', '2026/01/01 well-defined vars err=bad patch\n', 'bad patch'],
    ['no text', '', `Command failed: kubectl kustomize FOLDER`],
  ] as const) {
    it(`reports a failed kustomization whose output is ${what}, with the folder of the overlay`, async () => {
      const place = `${folder}/config/default`;
      await write('config/default', deployment());
      await writeText(`${place}/failure`, says);
      const wanted = reason.replace('FOLDER', place);
      expect((await problemOf()).trimEnd()).to.equal(
        `error: ${place}: kubectl kustomize: ${wanted}`,
      );
      if (says === '') return;
      expect((await problemOf('-n', 'else')).trimEnd()).to.equal(
        `error: ${place}: kubectl kustomize: ${wanted}`,
      );
    });
  }

  it('reports a missing overlay, and a missing kubectl', async () => {
    const overlay = `${folder}/config/default`;
    expect(await problemOf()).to.equal(
      `error: ${overlay} can't be read: there is no such file or directory\n`,
    );
    await write('config/default', deployment());
    const { PATH } = process.env;
    process.env['PATH'] = file('none');
    try {
      expect(await problemOf()).to.equal(
        `error: ${overlay}: kubectl kustomize: kubectl is not on the PATH; install kubectl, which builds kustomizations\n`,
      );
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});

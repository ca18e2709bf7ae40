import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  ViewApiServer,
  createToken,
  generateKeys,
  writeViewKubeConfig,
} from '../../lib/declarative/api-server/index.js';
import type { KeyFiles, TokenClaims } from '../../lib/declarative/api-server/index.js';
import { Group } from '../../lib/declarative/operator/index.js';
import { loadOperators } from '../../lib/declarative/spec/load-operator.js';
import { DeclarativeManager, Views } from '../../lib/declarative/views/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { clusterTarget } from './cluster-target.js';
import { eventually } from './control-plane/eventually.js';
import { Kubectl } from './kubectl.js';

const group = 'shop.view.dcontroller.io';
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

function healthView(name: string, more: object = {}): UnstructuredObject {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: `${group}/v1alpha1`, kind: 'HealthView', metadata, ...more };
}

/** Returns the name in a line of a table. */
function shownName(line: string | undefined): string | undefined {
  return line?.split(/\s+/)[0];
}

describe('views of a declarative operator in kubectl', () => {
  let folder: string;
  let files: KeyFiles;
  let views: Views;
  let opened: { close(): Promise<void> }[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'declarative-views-'));
    files = await generateKeys({ directory: join(folder, 'keys') });
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    opened = [];
    views = await Views.start();
    await views.ensure('shop', 'HealthView');
    await views.client.create(healthView('web', { pods: [{ ready: true }] }));
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await views.stop();
  });

  async function started(server: ViewApiServer): Promise<string> {
    server.attach(views);
    await server.start();
    opened.push({ close: () => server.stop() });
    return server.url;
  }

  async function overHttp(): Promise<Kubectl> {
    const server = await started(new ViewApiServer({ port: 0 }));
    return kubectl((path) => writeViewKubeConfig(path, { server }));
  }

  async function overHttps(claims: Partial<TokenClaims> = {}, shown?: string): Promise<Kubectl> {
    const read = (path: string): Promise<string> => readFile(path, 'utf8');
    const [certificate, privateKey] = [await read(files.certificate), await read(files.privateKey)];
    const tokenKey = await read(files.tokenKey);
    const tls = { certificate, privateKey };
    const server = await started(new ViewApiServer({ port: 0, tls, tokenKey }));
    const all = { username: 'alice', namespaces: ['default'], rules: [everything], ...claims };
    const token = shown ?? (await createToken(all, await read(files.signingKey)));
    return kubectl((path) => writeViewKubeConfig(path, { server, certificate, token }));
  }

  async function kubectl(write: (path: string) => Promise<void>): Promise<Kubectl> {
    const made = await Kubectl.create(write);
    opened.push(made);
    return made;
  }

  for (const [protocol, open] of [
    ['HTTP', overHttp],
    ['HTTPS', overHttps],
  ] as const) {
    describe(`over ${protocol}`, () => {
      it('are listed by api-resources, get and describe', async () => {
        const it = await open();
        const resources = await it.print(['api-resources', '--no-headers']);
        expect(resources.trim().split('\n')).to.have.lengthOf(1);
        expect(resources).to.match(
          /^healthview .* shop\.view\.dcontroller\.io\/v1alpha1 .*HealthView/,
        );
        const table = (await it.print(['get', 'healthview'])).trim().split('\n');
        expect(table.map(shownName)).to.deep.equal(['NAME', 'web']);
        const object = parse(await it.print(['get', 'healthview', 'web', '-o', 'yaml'])) as object;
        expect(object).to.deep.include({ kind: 'HealthView', pods: [{ ready: true }] });
        const described = await it.print(['describe', 'healthview', 'web']);
        expect(described)
          .to.match(/Name: +web\n/)
          .and.to.match(/Pods:\n +Ready: +true\n/);
        expect(await it.print(['explain', 'healthview'])).to.match(/KIND: +HealthView/);
      });

      it('can be watched while they change', async () => {
        const it = await open();
        const lines = it.follow(['get', 'healthview', '--watch', '--no-headers']);
        expect(shownName(await lines.next())).to.equal('web');
        await views.client.create(healthView('late'));
        expect(shownName(await lines.next())).to.equal('late');
        await lines.stop();
      });

      it('can be applied, patched, labelled and deleted', async () => {
        const it = await open();
        const apply = (value: number, ...more: string[]): Promise<string> =>
          it.print(['apply', '-f', '-', ...more], JSON.stringify(healthView('mine', { value })));
        const name = `healthview.${group}/mine`;
        expect(await apply(1)).to.equal(`${name} created\n`);
        expect(await apply(2)).to.equal(`${name} configured\n`);
        expect(await apply(2)).to.equal(`${name} unchanged\n`);
        expect(await apply(3, '--server-side', '--force-conflicts')).to.contain(
          'serverside-applied',
        );
        await it.print(['label', 'healthview', 'mine', 'x=y']);
        await it.print(['patch', 'healthview', 'mine', '--type', 'merge', '-p', '{"more":1}']);
        const got = await it.print(['get', 'healthview', '-l', 'x=y', '-o', 'json']);
        const { items } = JSON.parse(got) as { items: UnstructuredObject[] };
        expect(items).to.have.lengthOf(1);
        expect(items[0]).to.include({ value: 3, more: 1 });
        await it.print(['delete', 'healthview', 'mine']);
        expect((await it.run(['get', 'healthview', 'mine'])).stderr).to.equal(
          `Error from server (NotFound): healthview.${group} "mine" not found\n`,
        );
      });

      it('are the only resources that their server serves', async () => {
        const { stderr } = await (await open()).run(['get', 'secrets']);
        expect(stderr).to.contain('the server doesn\'t have a resource type "secrets"');
      });
    });
  }

  it('are not accessible with an invalid token', async () => {
    const { code, stderr } = await (await overHttps({}, 'x.y.z')).run(['get', 'healthview']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('error: You must be logged in to the server');
  });

  it('are limited to the namespaces and verbs of a token', async () => {
    const rules = [{ ...everything, verbs: ['get', 'list'] }];
    const it = await overHttps({ rules });
    expect(await it.print(['get', 'healthview', '-o', 'name'])).to.equal(
      `healthview.${group}/web\n`,
    );
    const who = `User "alice" cannot`;
    const what = `resource "healthview" in API group "${group}"`;
    const all = await it.run(['get', 'healthview', '--all-namespaces']);
    expect(all.stderr).to.match(/^Error from server \(Forbidden\): /);
    expect(all.stderr).to.contain(`${who} list ${what} at the cluster scope`);
    const elsewhere = await it.run(['get', 'healthview', '-n', 'other']);
    expect(elsewhere.stderr).to.contain(`${who} list ${what} in the namespace "other"`);
    const deleted = await it.run(['delete', 'healthview', 'web']);
    expect(deleted.stderr).to.contain(`${who} delete ${what} in the namespace "default"`);
    expect((await it.run(['get', 'healthview', '--as', 'bob'])).stderr).to.contain(
      `${who} impersonate resource "users"`,
    );
  });

  it('answer `kubectl auth can-i` by the rules in the token', async () => {
    const rules = [{ ...everything, verbs: ['get', 'list'] }];
    const it = await overHttps({ rules });
    const canI = async (...args: string[]): Promise<readonly [string, number | null]> => {
      const { stdout, code } = await it.run(['auth', 'can-i', ...args]);
      return [stdout.trim(), code];
    };
    expect(await canI('get', 'healthview')).to.deep.equal(['yes', 0]);
    expect(await canI('delete', 'healthview')).to.deep.equal(['no', 1]);
    const [elsewhere] = await canI('list', 'healthview', '-n', 'other');
    expect(elsewhere).to.equal('no - the token is for the namespaces "default"');
    expect((await canI('get', 'healthview', '--all-namespaces'))[0]).to.match(/^no/);
    const list = await it.print(['auth', 'can-i', '--list']);
    expect(list).to.match(/^\*\.\* +\[\] +\[\] +\[get list\]$/m);
    expect(list).to.match(/selfsubjectaccessreviews\.authorization\.k8s\.io.*\[create\]/);
    expect(await it.print(['auth', 'whoami'])).to.match(/Username +alice/);
    const free = await overHttp();
    expect(await free.print(['auth', 'can-i', 'delete', 'healthview'])).to.equal('yes\n');
  });

  it('can be watched until the token expires', async () => {
    const claims = { username: 'alice', namespaces: ['default'], rules: [everything] };
    const key = await readFile(files.signingKey, 'utf8');
    const it = await overHttps({}, await createToken(claims, key, { validForMs: 4_000 }));
    const lines = it.follow(['get', 'healthview', '--watch', '--no-headers']);
    expect(shownName(await lines.next())).to.equal('web');
    expect(await lines.next()).to.equal(undefined);
    await lines.stop();
  });

  it('can be watched while an operator computes them from objects of a cluster', async () => {
    const target = await clusterTarget();
    const namespace = await target.namespace();
    const { client } = await target.operator();
    const manager = await DeclarativeManager.create({ client });
    // From here on the server serves the operator's views.
    await views.stop();
    ({ views } = manager);
    const it = await overHttps({ namespaces: [namespace] });
    const group = new Group({ manager });
    for (const loaded of loadOperators(flags(namespace), 'flags.yaml')) {
      await group.addOperator('shop', loaded);
    }
    const over = new AbortController();
    const running = group.start(over.signal);
    opened.push({
      close: async () => {
        over.abort();
        await running;
        await target.close();
      },
    });
    const data = { state: 'off' };
    const flag = await client.create(configMap('flag', namespace, data));
    await eventually(() => it.print(['get', 'flagview', 'flag', '-n', namespace]));
    const columns = 'custom-columns=NAME:.metadata.name,STATE:.state';
    const lines = it.follow(['get', 'flagview', '-n', namespace, '-o', columns, '--watch']);
    const next = async (): Promise<unknown> => (await lines.next())?.split(/\s+/);
    expect(await next()).to.deep.equal(['NAME', 'STATE']);
    expect(await next()).to.deep.equal(['flag', 'off']);
    await client.update({ ...flag, data: { state: 'on' } });
    expect(await next()).to.deep.equal(['flag', 'on']);
    await lines.stop();
    await client.delete(ConfigMap, { namespace, name: 'flag' });
    await eventually(async () => {
      expect(await it.print(['get', 'flagview', '-n', namespace])).to.equal('');
    });
  });
});

function configMap(name: string, namespace: string, data: Record<string, string>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** Operator that shows the state of ConfigMaps as views. */
function flags(namespace: string): string {
  return `
controllers:
- name: flags
  sources:
  - { apiGroup: "", kind: ConfigMap, namespace: ${namespace} }
  pipeline:
  - "@select": { "@exists": $.data.state }
  - "@project":
      metadata: { name: $.metadata.name, namespace: $.metadata.namespace }
      state: $.data.state
  target: { kind: FlagView }
`;
}

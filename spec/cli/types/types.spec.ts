import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { KubernetesObject } from '../../../lib/object/index.js';
import { Operator } from '../../../lib/operator/index.js';
import { silentLogger } from '../../../lib/system/index.js';
import { cli, scratchDirectory } from '../cli.js';
import { Gadget } from './generated/factory.example.com/v1/gadget.js';
import { Gadget as OldGadget } from './generated/factory.example.com/v1alpha1/gadget.js';

const definitions = 'spec/cli/types/definitions';
const generated = 'spec/cli/types/generated';

const robot: Gadget = {
  ...{ apiVersion: 'factory.example.com/v1', kind: 'Gadget' },
  metadata: { name: 'robot', namespace: 'default' },
  spec: { model: 'r2', supplier: { name: 'kuat' }, mode: 'Fast', port: 'http' },
};

describe('operator-builder types', () => {
  const file = scratchDirectory();

  it('generates the recorded modules, one module for each served version', async () => {
    const { code, stderr } = await cli(['types', definitions, '--out', generated, '--check']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(OldGadget.versions).to.deep.equal(['v1alpha1']);
  });

  it('names modules that are not up to date with --check, and writes nothing', async () => {
    const { code, stderr } = await cli(['types', definitions, '--out', file('none'), '--check']);
    expect(code).to.equal(1);
    expect(stderr).to.include('factory.example.com/v1/gadget.ts');
    expect((await cli(['types', definitions, '--out', file('none'), '--check'])).code).to.equal(1);
  });

  it('updates its own modules, and overwrites other files only with --force', async () => {
    const run = (...args: string[]) => cli(['types', definitions, '--out', file('out'), ...args]);
    expect((await run()).stdout.split('\n')).to.have.length(3);
    expect((await run()).stdout).to.equal('The types are up to date.\n');
    const path = file('out/factory.example.com/v1/gadget.ts');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('replicas', 'copies'));
    expect((await run()).stdout).to.match(/^changed .*v1\/gadget\.ts\n$/);
    await writeFile(path, 'export const mine = 1;\n');
    expect((await run()).stderr).to.include('already exist (--force overwrites them)');
    expect((await run('--force')).stdout).to.match(/^overwrote .*v1\/gadget\.ts\n$/);
    expect(await readFile(path, 'utf8')).to.equal(text);
  });

  it('recognizes its own modules when they have the line endings of Windows', async () => {
    const run = (...args: string[]) => cli(['types', definitions, '--out', file('win'), ...args]);
    await run();
    const path = file('win/factory.example.com/v1/gadget.ts');
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('\n', '\r\n'));
    expect(await run('--check')).to.include({ code: 0, stderr: '' });
  });

  it('reads a definition only once from several sources, and refuses a different definition of the same name', async () => {
    const [path, out] = [`${definitions}/gadgets.yaml`, file('once')];
    const twice = await cli(['types', path, path, '--out', out]);
    expect(twice).to.include({ code: 0, stderr: '' });
    await writeFile(file('other.yaml'), (await readFile(path, 'utf8')).replace('model', 'models'));
    const { code, stderr } = await cli(['types', path, file('other.yaml'), '--out', out]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/two different definitions of factory\.example\.com\/v1\S*; leave/);
  });

  it('reads definitions from a URL, and from a cluster', async () => {
    const yaml = await readFile(`${definitions}/gadgets.yaml`, 'utf8');
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/gadgets.yaml' ? 200 : 404;
      response.end(yaml);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const cluster = await EmbeddedCluster.start({ crds: [Gadget], port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const fromUrl = await cli(['types', `${url}/gadgets.yaml`, '--out', generated, '--check']);
      expect(fromUrl).to.deep.include({ code: 0, stderr: '' });
      const missing = await cli(['types', `${url}/none.yaml`, '--out', generated]);
      expect(missing.stderr).to.include("/none.yaml can't be read: the server answered 404");
      const args = ['--cluster', '--kubeconfig', file('kubeconfig')];
      const { stdout } = await cli(['types', ...args, '--out', file('cluster')]);
      expect(stdout).to.match(/^created .*factory\.example\.com\/v1\/gadget\.ts\n$/);
    } finally {
      server.close();
      await cluster.stop();
    }
  });

  it('refuses names that would write outside of the folder or change the generated code', async () => {
    const yaml = await readFile(`${definitions}/gadgets.yaml`, 'utf8');
    for (const [from, to, says] of [
      ['kind: Gadget\n', 'kind: ../../Evil\n', `spec.names.kind: can't name a type: "../../Evil"`],
      ['group: factory.example.com', 'group: ../factory', 'spec.group: "../factory" must'],
      ['- name: v1\n', '- name: v1/../v2\n', 'spec.versions[0].name: "v1/../v2" must'],
      ['gadgets.factory.example.com', '"a\\nb"', 'metadata.name: "a\\nb" must'],
    ] as const) {
      await writeFile(file('foreign.yaml'), yaml.replace(from, to));
      const { code, stderr } = await cli(['types', file('foreign.yaml'), '--out', file('foreign')]);
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/^error: CustomResourceDefinition ".*": /)
        .and.include(says);
    }
  });

  it('refuses an incomplete definition, and a definition that serves no version', async () => {
    const yaml = await readFile(`${definitions}/gadgets.yaml`, 'utf8');
    const path = file('part.yaml');
    const types = async (text: string): Promise<string> => {
      await writeFile(path, text);
      const { code, stderr } = await cli(['types', path, '--out', file('part')]);
      expect(code).to.equal(1);
      return stderr;
    };
    for (const [end, missing] of [
      ['  group: ', 'spec.group: is missing or invalid; complete the definition'],
      ['    kind: ', 'spec.names.kind: is missing or invalid; complete the definition'],
      ['  versions:', 'spec.versions[0].name: is missing or invalid; complete the definition'],
      [
        '      schema:',
        'spec.versions[0].schema.openAPIV3Schema: is missing; correct the definition',
      ],
    ] as const) {
      expect(await types(yaml.slice(0, yaml.indexOf(`\n${end}`))), end).to.equal(
        `error: CustomResourceDefinition "gadgets.factory.example.com": ${missing}\n`,
      );
    }
    expect(await types(yaml.replaceAll('served: true', 'served: false'))).to.equal(
      'error: gadgets.factory.example.com: no version is served; set served: true\n',
    );
  });

  it('writes a module for a definition without schemas, as v1beta1 allowed', async () => {
    const names = { kind: 'Old', plural: 'olds' };
    const versions = [{ name: 'v1', served: true, storage: true }];
    const crd = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'olds.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names, versions },
        preserveUnknownFields: true,
      },
    };
    await writeFile(file('old.json'), JSON.stringify(crd));
    const { code, stderr } = await cli(['types', file('old.json'), '--out', file('old')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await readFile(file('old', 'example.com/v1/old.ts'), 'utf8')).to.include('Old');
  });

  for (const kind of [
    ...['CustomResource', 'ObjectMeta', 'ResourceType', 'Schema'],
    ...['Fields', 'Input', 'NonNullable', 'Omit', 'Record'],
  ]) {
    it(`writes a module of the kind ${kind}, whose name is also used within the module`, async () => {
      const yaml = await readFile(`${definitions}/gadgets.yaml`, 'utf8');
      await writeFile(file('named.yaml'), yaml.replace('kind: Gadget\n', `kind: ${kind}\n`));
      const { code, stderr } = await cli(['types', file('named.yaml'), '--out', file('named')]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const name = kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
      const path = file(`named/factory.example.com/v1/${name}.ts`);
      const text = await readFile(path, 'utf8');
      expect(text).to.include(`\nexport { ${kind}Kind as ${kind} };\n`);
      expect(text).to.include(`\ninterface ${kind}Kind {\n`);
      expect(text).to.include(`CustomResource<${kind}Kind, Input> &`);
      expect(text).to.include('labels?: Record<string, string>;');
    });
  }

  it('replaces characters in comments that linters do not allow', async () => {
    const text = await readFile(`${generated}/factory.example.com/v1/gadget.ts`, 'utf8');
    expect(text).to.include('   * and a description with characters that linters refuse.\n');
  });

  it('refuses a call without definitions', async () => {
    const none = await cli(['types', '--out', file('out')]);
    expect(none.stderr).to.include('no definitions: pass files, folders or URLs, or --cluster');
    await writeFile(
      file('namespace.yaml'),
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n',
    );
    const wrong = await cli(['types', file('namespace.yaml'), '--out', file('out')]);
    expect(wrong.stderr).to.include(
      'no CustomResourceDefinitions of apiextensions.k8s.io/v1 found',
    );
  });

  describe('a generated module', () => {
    it('has types that refuse wrong objects', () => {
      // @ts-expect-error a version that the module is not of
      const version: Gadget['apiVersion'] = 'factory.example.com/v2';
      // @ts-expect-error not in the enum
      const mode: Gadget['spec']['mode'] = 'Slow';
      // @ts-expect-error the supplier is required
      const spec: Gadget['spec'] = { model: 'r2' };
      expect([version, mode, spec]).to.have.length(3);
    });

    it('validates as the API server does, including CEL rules', () => {
      expect(Gadget.validate(robot)).to.deep.equal([]);
      const fieldsOf = (spec: object) =>
        Gadget.validate({ ...robot, spec: { ...robot.spec, ...spec } } as KubernetesObject).map(
          ({ field }) => field,
        );
      expect(fieldsOf({ size: 3 })).to.include('spec.size');
      expect(fieldsOf({ model: 'none', replicas: 2 })).to.deep.equal(['spec']);
      expect(fieldsOf({ model: 'none', replicas: 0 })).to.deep.equal([]);
      expect(Gadget.withDefaults(robot).spec).to.include({ replicas: 1, mode: 'Fast' });
    });

    it('keeps fields with the names description and title, although it omits the descriptions of the definition', () => {
      const texts = { description: 'short', properties: { description: 'deep' } };
      const given = { ...robot, spec: { ...robot.spec, origin: texts } };
      expect(Gadget.validate(given)).to.deep.equal([]);
      expect(Gadget.withDefaults(given).spec.origin).to.deep.equal(texts);
      expect(Gadget.withDefaults(robot).spec.origin).to.deep.equal({ title: 'home' });
      const long = { ...robot, spec: { ...robot.spec, origin: { description: 'far too long' } } };
      expect(Gadget.validate(long).map(({ field }) => field)).to.include('spec.origin.description');
    });

    it('allows other fields than those of the schema if the definition preserves unknown fields', () => {
      const old: OldGadget = {
        ...{ apiVersion: 'factory.example.com/v1alpha1', kind: 'Gadget' },
        ...{ metadata: { name: 'robot' }, spec: { model: 'r2' }, extra: { wheels: 3 } },
      };
      expect(OldGadget.validate(old)).to.deep.equal([]);
      expect(old['extra']).to.deep.equal({ wheels: 3 });
    });

    it('is served by an embedded cluster, and reconciled by an operator', async () => {
      const cluster = await EmbeddedCluster.start({ crds: [Gadget] });
      const operator = new Operator('factory-operator');
      const built = new Promise<Gadget>((resolve) => {
        operator.for(Gadget).reconciles(({ object }) => {
          resolve(object);
        });
      });
      const stop = new AbortController();
      const [client, logger] = [cluster.client(), silentLogger];
      const running = operator.run({ client, logger, signal: stop.signal });
      await client.create<Gadget>(robot);
      expect((await built).spec).to.deep.include({ ...robot.spec, replicas: 1 });
      stop.abort();
      await running;
      await cluster.stop();
    });
  });
});

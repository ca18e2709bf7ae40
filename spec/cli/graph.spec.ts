import { expect } from 'chai';
import { lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { controllerDrawing } from '../../lib/cli/controller-graph.js';
import type { ControllerGraph } from '../../lib/cli/controller-graph.js';
import { cli, scratchDirectory } from './cli.js';
import { linkPackages } from './project/project-copy.js';
import { shopProject } from './project/shop-project.js';
import { makeProject } from './scaffold/project.js';

const bare = 'controllers: [{ name: copy, sources: [{ kind: A }], target: { kind: B } }]';
const named = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: shop }
spec: { ${bare} }
`;

describe('operator-builder graph', () => {
  const file = scratchDirectory();

  for (const [format, beginning] of [
    ['mermaid', 'flowchart LR\n'],
    ['dot', 'digraph {\n'],
    ['svg', '<?xml '],
    ['json', '{\n'],
  ] as const) {
    it(`writes ${format}`, async () => {
      const { code, stdout, stderr } = await cli(['graph', '-', '-f', format], { stdin: named });
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout.startsWith(beginning)).to.equal(true);
      expect(stdout).to.include('shop').and.include('copy');
    });
  }

  it('draws several files, and gives an operator without a name the name of its file', async () => {
    await writeFile(file('copies.yaml'), bare);
    await writeFile(file('shop.yaml'), named);
    const args = ['graph', file('copies.yaml'), file('shop.yaml'), '--format', 'json'];
    const { stdout } = await cli(args);
    const { operators } = JSON.parse(stdout) as { operators: { name: string }[] };
    expect(operators.map(({ name }) => name)).to.deep.equal(['copies', 'shop']);
  });

  it('writes the graph to a file, and nothing to the standard output', async () => {
    const args = ['graph', '-', '-f', 'svg', '-o', file('shop.svg')];
    expect(await cli(args, { stdin: named })).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(await readFile(file('shop.svg'), 'utf8')).to.include('</svg>');
  });

  it('writes to the target of a link, keeps the mode of the file, and does not replace a device', async () => {
    await writeFile(file('linked.svg'), 'old', { mode: 0o600 });
    await symlink(file('linked.svg'), file('link.svg'));
    for (const out of [file('link.svg'), '/dev/null']) {
      const drawn = await cli(['graph', '-', '-f', 'svg', '-o', out], { stdin: named });
      expect(drawn).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    }
    expect(await readFile(file('linked.svg'), 'utf8')).to.include('</svg>');
    expect((await stat(file('linked.svg'))).mode & 0o777).to.equal(0o600);
    expect((await lstat(file('link.svg'))).isSymbolicLink()).to.equal(true);
    expect((await stat('/dev/null')).isCharacterDevice()).to.equal(true);
  });

  it('reports a file that cannot be written', async () => {
    const out = file('no', 'where.svg');
    const { code, stderr } = await cli(['graph', '-', '-o', out], { stdin: named });
    expect(code).to.equal(1);
    expect(stderr).to.equal(`error: ${out} can't be written: there is no such file or directory\n`);
  });

  it('lists the problems of all files with their positions, also those in pipelines', async () => {
    await writeFile(file('one.yaml'), bare.replace('kind: A', 'knd: A'));
    await writeFile(
      file('two.yaml'),
      bare.replace(', target', ", pipeline: { '@selct': 1 }, target"),
    );
    const { code, stderr, stdout } = await cli(['graph', file('one.yaml'), file('two.yaml')]);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr)
      .to.include(`${file('one.yaml')}:1:`)
      .and.include('did you mean kind?');
    expect(stderr)
      .to.include(`${file('two.yaml')}:1:`)
      .and.include('did you mean @select?');
  });

  it('limits the number of listed problems', async () => {
    const controllers = Array.from({ length: 30 }, (_, place) => ({ name: `c${place}` }));
    const { stderr } = await cli(['graph', '-'], { stdin: JSON.stringify({ controllers }) });
    expect(stderr.trimEnd().split('\n')).to.have.length(21);
    expect(stderr).to.match(/and \d+ more\n$/);
  });

  it('draws the operators of a kubectl list, and reports an invalid operator with its index', async () => {
    const items = ['one', 'two'].map((name) => ({
      apiVersion: 'dcontroller.io/v1alpha1',
      kind: 'Operator',
      metadata: { name },
      spec: { controllers: [{ name: 'c', sources: [{ kind: 'A' }], target: { kind: 'B' } }] },
    }));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stdout } = await cli(['graph', '-'], { stdin: list });
    expect(code).to.equal(0);
    expect(stdout).to.include('["one"]').and.include('["two"]');
    const wrong = await cli(['graph', '-'], { stdin: list.replace('target', 'targt') });
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.include('items[0].spec.controllers[0].targt');
  });

  it('reports an alias without an anchor as an error in the file', async () => {
    const { code, stderr } = await cli(['graph', '-'], { stdin: 'controllers: *none' });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^error: standard input: Unresolved alias/);
    expect(stderr).to.not.include('DEBUG');
  });

  it('refuses two operators of the same name with code 1', async () => {
    const { code, stderr } = await cli(['graph', '-', '-'], { stdin: named });
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'standard input has two operators named shop; change the metadata.name of one of them',
    );
  });

  it('draws the controllers of a project, and the kinds that they reconcile, own and watch', async () => {
    const { code, stdout, stderr } = await cli(['graph', '--project', shopProject, '-f', 'json']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const reconciles = { group: 'shops.example', kind: 'Shop' };
    const owns = [
      { group: 'apps', kind: 'Deployment' },
      { group: '', kind: 'ConfigMap' },
    ];
    expect(JSON.parse(stdout)).to.deep.equal({
      operator: 'shops',
      controllers: [{ name: 'shop', reconciles, owns, watches: [] }],
      webhooks: [],
    });
    const drawn = await cli(['graph', '--project', shopProject]);
    expect(drawn.stdout).to.match(
      /(n\d)\["Shop<br>shops\.example"\][^]*\1 -->\|"is reconciled by"\|/,
    );
    expect(drawn.stdout.match(/-->\|"owns"\|/g)).to.have.length(2);
    const svg = await cli(['graph', '--project', shopProject, '-f', 'svg']);
    expect(svg.stdout).to.include('</svg>').and.include('Deployment');
  });

  it('draws the kinds owned by a lifecycle controller', async () => {
    await makeProject(file('plants'), ['Plant', 'v1', '--style', 'lifecycle']);
    linkPackages(file('plants'));
    const { stdout, stderr } = await cli(['graph', '--project', file('plants'), '-f', 'json']);
    expect(stderr).to.equal('');
    const { controllers } = JSON.parse(stdout) as ControllerGraph;
    expect(controllers.map(({ owns }) => owns)).to.deep.equal([
      [
        { group: 'apps', kind: 'Deployment' },
        { group: '', kind: 'Service' },
      ],
    ]);
  });

  it('draws webhooks', () => {
    const shop = { group: 'shops.example', kind: 'Shop' };
    const { frames, arrows } = controllerDrawing({
      ...{ operator: 'shops', controllers: [] },
      webhooks: [
        { name: 'vshop', type: 'validating', of: shop },
        { name: 'mshop', type: 'mutating', of: shop },
        { name: 'cshop', type: 'conversion', of: shop },
      ],
    });
    const nodes = frames[0]?.nodes ?? [];
    expect(nodes.map(({ lines }) => lines)).to.deep.equal([
      ['vshop', 'validating webhook'],
      ['mshop', 'mutating webhook'],
      ['cshop', 'conversion webhook'],
    ]);
    expect(arrows.map(({ to }) => to)).to.deep.equal(nodes.map(({ id }) => id));
    expect(new Set(nodes.map(({ id }) => id)).size).to.equal(3);
    expect(arrows.map(({ from, lines }) => [from, ...lines])).to.deep.equal([
      ['kind shops.example/Shop', 'is checked by'],
      ['kind shops.example/Shop', 'is completed by'],
      ['kind shops.example/Shop', 'is converted by'],
    ]);
  });

  it('draws each kind only once, with an arrow for each use by a controller', () => {
    const shop = { group: 'shops.example', kind: 'Shop' };
    const secret = { group: '', kind: 'Secret' };
    const { nodes, arrows, frames } = controllerDrawing({
      ...{ operator: 'shops', webhooks: [] },
      controllers: [{ name: 'shop', reconciles: shop, owns: [secret], watches: [secret] }],
    });
    expect(nodes.map(({ lines }) => lines)).to.deep.equal([['Shop', 'shops.example'], ['Secret']]);
    expect(frames.map(({ title }) => title)).to.deep.equal(['shops']);
    expect(arrows.map(({ from, to, lines }) => [from, ...lines, to])).to.deep.equal([
      ['kind shops.example/Shop', 'is reconciled by', 'shop'],
      ['kind /Secret', 'is watched by', 'shop'],
      ['shop', 'owns', 'kind /Secret'],
    ]);
  });

  it('draws an empty graph for an operator without controllers and webhooks', () => {
    expect(controllerDrawing({ operator: 'none', controllers: [], webhooks: [] })).to.deep.equal({
      ...{ nodes: [], frames: [], arrows: [] },
    });
  });

  it('refuses files together with a project', async () => {
    const { code, stderr } = await cli(['graph', '-', '--project', '.'], { stdin: named });
    expect(code).to.equal(1);
    expect(stderr).to.include('--project: not possible with files');
  });
});

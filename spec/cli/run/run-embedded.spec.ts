import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { clientFromKubeConfig, isInvalid } from '../../../lib/index.js';
import { Deployment } from '../../../lib/object/kinds.js';
import { eventually } from '../../../lib/testing/index.js';
import { cli, freePort, scratchDirectory, startCli } from '../cli.js';
import type { CliResult, RunningCli } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { shopProject } from '../project/shop-project.js';
import { Shop } from '../project/shop/src/shop.js';
import { makeProject } from '../scaffold/project.js';
import {
  copyShopProject,
  operatorWithEvents,
  operatorWithWebhook,
  replaceFile,
} from './project.js';

const shop = (spec: object): string =>
  JSON.stringify({
    ...{ apiVersion: 'shops.example/v1', kind: 'Shop' },
    metadata: { name: 'a' },
    spec,
  });

describe('operator-builder run --embedded', () => {
  const file = scratchDirectory();
  let running: RunningCli | undefined;

  before(async () => {
    await writeFile(file('shop.yaml'), shop({ image: 'shop:1' }));
  });

  afterEach(async () => {
    running?.stop();
    await running?.ended;
    running = undefined;
  });

  const argsOf = (project: string, ...more: readonly string[]): readonly string[] => [
    ...['run', '--embedded', '--project', project, '-f', file('shop.yaml')],
    ...['--kubeconfig-out', file('kubeconfig'), ...more],
  ];

  function run(...more: readonly string[]): Promise<CliResult> {
    return cli(argsOf(shopProject, ...more));
  }

  function start(project: string, ...more: readonly string[]): RunningCli {
    return (running = startCli(argsOf(project, ...more)));
  }

  it('prints what the operator does with a resource, and exits when the operator settles', async () => {
    const { code, stdout, stderr } = await run('--until-settled');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[1]).to.include('kubectl --kubeconfig ').and.include('kubeconfig get all');
    expect(lines).to.include.members([
      '+ CustomResourceDefinition shops.shops.example',
      '+ Shop default/a',
      '~ Shop default/a  metadata.finalizers: ["shops.example/till"]',
      '~ Shop default/a  status.image: "shop:1"',
      '+ Deployment default/web',
      '~ Deployment default/web  1 of 1 ready',
      'settled: Shop default/a',
    ]);
    expect(stdout).to.match(/~ Pod default\/web-\S+ {2}ready/);
    expect(stdout).to.not.match(/kube-|Lease|EndpointSlice/);
    await gone(file('kubeconfig'));
  });

  it('prints the Events before it reports that the operator has settled', async () => {
    const project = file('telling');
    await copyShopProject(project);
    await writeFile(file('telling/src/operator.ts'), operatorWithEvents);
    const { code, stdout, stderr } = await cli(argsOf(project, '--until-settled'));
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/\n· Shop default\/a {2}Opened: .*\n\nsettled: Shop default\/a\n$/);
  });

  it('exits with 1 and the reason if the operator does not settle', async () => {
    await writeFile(file('broken.yaml'), shop({ image: 'broken' }));
    const broken = ['-f', file('broken.yaml'), '--until-settled', '--settle-timeout', '1s'];
    const { code, stdout, stderr } = await run(...broken, '--log-level', 'silent');
    expect(code).to.equal(1);
    const failures = stdout.split('\n').filter((line) => line.startsWith('! '));
    // The change to this image may come between the read and the write of the first attempt, which then conflicts.
    expect(failures[0]).to.match(/^! Shop default\/a: the image is broken \(again in (5|10) ms\)$/);
    expect(failures.length, stdout).to.be.at.most(2);
    expect(stderr).to.equal(
      'error: the operator has not settled in 1 s: shop fails at default/a: the image is broken\n',
    );
  });

  it('exits with 1 and the error of the server if the server refuses the resource', async () => {
    await writeFile(file('wrong.yaml'), shop({ replicas: -1 }));
    const { code, stderr } = await run('-f', file('wrong.yaml'));
    expect(code).to.equal(1);
    expect(stderr).to.match(/^error: .*spec\.replicas/);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
  });

  it('restarts the operator when its sources change, after the previous operator has stopped', async () => {
    const project = file('changing');
    await copyShopProject(project);
    const controller = file('changing/src/controllers/shop-controller.ts');
    const source = await readFile(controller, 'utf8');
    // Each restart uses the same port, which must be free again.
    const cli = start(project, '--health-port', await freePort());
    const replicas = (count: number) =>
      eventually(async () => {
        const web = await cluster((client) => client.get(Deployment, key('web')));
        expect(
          web.spec?.template.spec?.terminationGracePeriodSeconds,
          cli.written().stderr,
        ).to.equal(count);
      });
    const graced = (seconds: number): string =>
      source.replace('containers: [', `terminationGracePeriodSeconds: ${seconds}, containers: [`);
    await eventually(() => expect(cli.written().stdout).to.include('Deployment default/web'));
    await replaceFile(controller, graced(7));
    await replicas(7);

    await replaceFile(controller, graced(8).replace('controllerFor(Shop)', 'controllerFor(('));
    await eventually(() => expect(cli.written().stderr).to.include('does not compile'));
    const { stderr } = cli.written();
    expect(stderr).to.include('the running operator continues').and.include('shop-controller.ts:');
    expect(stderr.match(/change not applied/g)).to.have.length(1);
    await cluster((client) => client.delete(Deployment, key('web')));
    await replicas(7);

    // Dependencies may be new, and written after the files that import them.
    const moved = graced(9).replace('../shop.js', '../goods/shop.js');
    await replaceFile(controller, moved);
    await eventually(() => expect(cli.written().stderr).to.include('goods/shop.js'));
    await writeShop(project);
    await replicas(9);
    cli.stop();
    const { code } = await cli.ended;
    expect(code).to.equal(0);
    expect(cli.written().stderr.match(/the operator restarts/g)).to.have.length(2);
  });

  it('exits on SIGTERM although a module of the operator never finishes loading', async () => {
    const project = file('waiting');
    await copyShopProject(project);
    const loaded = 'loaded-a-module-that-waits';
    const waiting = `process.env['${loaded}'] = '1'; await new Promise(() => {});`;
    await writeFile(file('waiting/src/operator.ts'), waiting);
    const cli = start(project);
    try {
      await eventually(() => expect(process.env[loaded]).to.equal('1'));
      cli.stop();
      expect(await cli.ended).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    } finally {
      Reflect.deleteProperty(process.env, loaded);
    }
  });

  it('calls the webhooks of the operator without a certificate', async () => {
    const project = file('asking');
    await copyShopProject(project);
    await writeFile(file('asking/src/operator.ts'), operatorWithWebhook);
    const cli = start(project);
    await eventually(() => expect(cli.written().stdout).to.include('+ Deployment default/web'));
    const refused = await cluster((client) =>
      client
        .create(Shop.object({ metadata: key('b'), spec: { image: 'none' } }))
        .catch((error: unknown) => error),
    );
    expect(isInvalid(refused) || String(refused).includes('no image'), String(refused)).to.equal(
      true,
    );
    cli.stop();
    expect(await cli.ended).to.include({ code: 0 });
  });

  it('serves foreign kinds whose definitions are in the tests of the project', async () => {
    const project = file('foreign');
    await makeProject(project);
    const named = ['--group', 'open.example.io', '--version', 'v1', '--kind', 'Widget'];
    await cli(['create', 'api', ...named, '--no-resource', '-C', project]);
    linkPackages(project);
    const widget = { apiVersion: 'open.example.io/v1', kind: 'Widget', metadata: { name: 'a' } };
    await writeFile(file('widget.yaml'), JSON.stringify(widget));
    const args = ['run', '--embedded', '--project', project, '-f', file('widget.yaml')];
    const { code, stdout, stderr } = await cli([...args, '--until-settled']);
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('+ CustomResourceDefinition widgets.open.example.io\n');
    expect(stdout).to.include('settled: Widget default/a');
  });

  it('does not overwrite the kubeconfig of another run in the project', async () => {
    const project = file('twice');
    await copyShopProject(project);
    const args = ['run', '--embedded', '--project', project, '-f', file('shop.yaml')];
    const first = (running = startCli(args));
    const kubeConfig = join(project, 'node_modules/.cache/operator-builder/kubeconfig');
    await eventually(() => expect(first.written().stdout).to.include('get all'));
    const text = await readFile(kubeConfig, 'utf8');
    const second = await cli([...args, '--until-settled']);
    expect(second.code, second.stderr).to.equal(0);
    expect(second.stdout).to.match(/operator-builder\/kubeconfig-\d+ get all/);
    expect(await readFile(kubeConfig, 'utf8')).to.equal(text);
  });

  it('refuses to overwrite a kubeconfig that it did not write, and refuses ports in use', async () => {
    await writeFile(file('mine'), 'contexts: [{ name: a }, { name: b }]');
    const mine = await run('--kubeconfig-out', file('mine'));
    expect(mine.code).to.equal(1);
    expect(mine.stderr).to.include('mine exists').and.include('pass another file');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const busy = await run('--port', String(port));
      expect(busy.code).to.equal(1);
      expect(busy.stderr).to.include(`127.0.0.1:${port}: the port is in use`).and.include('--port');
      const health = await run('--health-port', String(port));
      expect(health.code).to.equal(1);
      expect(health.stderr).to.include(`${port}: the port is in use`);
    } finally {
      server.close();
    }
  });

  for (const [what, args, says] of [
    [
      'options of a cluster with --embedded',
      ['--embedded', '--context', 'a'],
      '--context: not possible with --embedded',
    ],
    [
      'options of an embedded cluster without --embedded',
      ['--until-settled'],
      '--until-settled: only possible with --embedded',
    ],
    ['a webhook port without certificates', ['--webhook-port', '1'], '--webhook-certs'],
    ['missing files', ['--embedded', '-f', 'none.yaml'], "none.yaml can't be read"],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await cli(['run', '--project', shopProject, ...args]);
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
    });
  }

  it('exits with 0 on SIGTERM during its start', async () => {
    const cli = start(shopProject);
    cli.stop();
    expect(await cli.ended).to.include({ code: 0 });
    await gone(file('kubeconfig'));
  });

  const key = (name: string) => ({ name, namespace: 'default' });

  /** Uses the kubeconfig that the command writes for kubectl. */
  async function cluster<T>(
    use: (client: Awaited<ReturnType<typeof clientFromKubeConfig>>) => Promise<T>,
  ): Promise<T> {
    const client = await clientFromKubeConfig({ path: file('kubeconfig') });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }
});

async function gone(path: string): Promise<void> {
  const error = await readFile(path).catch((thrown: unknown) => thrown);
  expect(error).to.include({ code: 'ENOENT' });
}

async function writeShop(project: string): Promise<void> {
  const { mkdir } = await import('node:fs/promises');
  const text = await readFile(`${project}/src/shop.ts`, 'utf8');
  await mkdir(`${project}/src/goods`);
  await replaceFile(`${project}/src/goods/shop.ts`, text);
  await rm(`${project}/src/shop.ts`);
  const operator = await readFile(`${project}/src/operator.ts`, 'utf8');
  await replaceFile(`${project}/src/operator.ts`, operator.replace('./shop.js', './goods/shop.js'));
}

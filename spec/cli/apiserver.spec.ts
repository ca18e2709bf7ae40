import { expect } from 'chai';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import { Deployment } from '../../lib/object/kinds.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory, startCli } from './cli.js';
import type { RunningCli } from './cli.js';
import { Shop } from './project/shop/src/shop.js';

const labels = { app: 'web' };
const web: Deployment = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
};

/** The line that the server prints when it is ready. */
interface Ready {
  readonly url: string;
  readonly kubeconfig: string;
  readonly control: { readonly url: string; readonly token: string };
}

describe('operator-builder apiserver', () => {
  const file = scratchDirectory();
  let running: RunningCli | undefined;

  afterEach(async () => {
    running?.stop();
    await running?.ended;
    running = undefined;
  });

  async function start(...args: readonly string[]): Promise<RunningCli> {
    const own = (running = startCli(['apiserver', '--kubeconfig', file('kubeconfig'), ...args]));
    await eventually(() => expect(own.written().stdout).to.include('kubectl --kubeconfig '));
    return own;
  }

  it('serves custom resources from files and directories, with workloads, until SIGTERM', async () => {
    await mkdir(file('crds'));
    await writeFile(file('crds/shops.yaml'), stringify(Shop.crd));
    const kustomization = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization';
    await writeFile(file('crds/kustomization.yaml'), kustomization);
    const paths = [file('crds'), file('crds/kustomization.yaml')];
    const own = await start('--crds', ...paths, '--workloads', '--rbac');
    expect(own.written().stdout).to.match(/^the API server is at https:\/\/127\.0\.0\.1:\d+,/);
    const client = await clientFromKubeConfig({ path: file('kubeconfig') });
    try {
      const metadata = { name: 'a', namespace: 'default' };
      expect(await client.create(Shop.object({ metadata, spec: {} }))).to.have.property('spec');
      await client.create(web);
      await eventually(async () => {
        const { status } = await client.get(Deployment, { name: 'web', namespace: 'default' });
        expect(status?.readyReplicas).to.equal(1);
      });
    } finally {
      await client.close();
    }
    own.stop();
    expect(await own.ended).to.include({ code: 0, stderr: '' });
    const error = await readFile(file('kubeconfig')).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'ENOENT' });
  });

  it('reports the server and its control API as JSON, and removes the ready file', async () => {
    const running = startCli(
      [
        ...['apiserver', '--output', 'json', '--ready-file', file('ready'), '--virtual-clock'],
        ...['--host', '0.0.0.0', '--kubeconfig', file('kubeconfig')],
      ],
      { env: { OPERATOR_BUILDER_CONTROL_TOKEN: 'known' } },
    );
    await eventually(() => expect(running.written().stdout).to.include('\n'));
    const { stdout } = running.written();
    expect(await readFile(file('ready'), 'utf8')).to.equal(stdout);
    expect((await stat(file('ready'))).mode & 0o777).to.equal(0o600);
    const ready = JSON.parse(stdout) as Ready;
    expect(ready.kubeconfig).to.equal(file('kubeconfig'));
    expect(ready.control).to.deep.equal({ url: `${ready.url}/_control/v1`, token: 'known' });
    const headers = { authorization: 'Bearer known' };
    const clock = await (await fetch(`${ready.control.url}/clock`, { headers })).json();
    expect(clock).to.include({ virtual: true });
    running.stop();
    expect(await running.ended).to.include({ code: 0 });
    const error = await readFile(file('ready')).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'ENOENT' });
  });

  it('starts with the command of the Dockerfile', async () => {
    const dockerfile = await readFile('samples/apiserver-image/Dockerfile', 'utf8');
    const words = ['ENTRYPOINT', 'CMD'].flatMap((keyword) => {
      const [, list = ''] = new RegExp(`^${keyword} (\\[.*\\])$`, 'm').exec(dockerfile) ?? [];
      return JSON.parse(list) as string[];
    });
    expect(words[0]).to.equal('operator-builder');
    const own = ['--kubeconfig', file('kubeconfig'), '--port', '0'];
    const running = startCli([...words.slice(1), ...own]);
    await eventually(() => expect(running.written().stdout).to.include('"control"'));
    running.stop();
    expect(await running.ended).to.include({ code: 0 });
  });

  it('keeps the kubeconfig of a running server, and replaces the kubeconfig of a killed server', async () => {
    await start();
    const text = await readFile(file('kubeconfig'), 'utf8');
    const { code, stderr } = await cli(['apiserver', '--kubeconfig', file('kubeconfig')]);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      / is the kubeconfig of an embedded cluster that runs at http:\S+; stop/,
    );
    expect(await readFile(file('kubeconfig'), 'utf8')).to.equal(text);
    running?.stop();
    await running?.ended;
    await writeFile(file('kubeconfig'), text);
    await start();
    expect(await readFile(file('kubeconfig'), 'utf8')).not.to.equal(text);
  });

  it('replaces the kubeconfig of a killed server that had the same port, and a kubeconfig without an address', async () => {
    const first = await start();
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(first.written().stdout) ?? [];
    const text = await readFile(file('kubeconfig'), 'utf8');
    first.stop();
    await first.ended;
    await writeFile(file('kubeconfig'), text);
    const second = await start('--port', port);
    expect(second.written().stdout).to.include(`127.0.0.1:${port}`);
    second.stop();
    await second.ended;
    await writeFile(file('kubeconfig'), text.replaceAll(/server: .*/g, 'server: nowhere'));
    await start();
    expect(await readFile(file('kubeconfig'), 'utf8')).to.match(/server: http/);
  });

  it('does not overwrite files that are not the kubeconfig of an embedded cluster', async () => {
    const own = stringify({
      contexts: [{ name: 'embedded' }, { name: 'prod' }],
      clusters: [],
    });
    for (const text of [own, 'a: [', 'just text', stringify({ contexts: [{ name: 'prod' }] })]) {
      await writeFile(file('own'), text);
      const { code, stderr } = await cli(['apiserver', '--kubeconfig', file('own')]);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        `error: ${file('own')} exists, and is not the kubeconfig of an embedded cluster; pass another file, or remove it\n`,
      );
      expect(await readFile(file('own'), 'utf8')).to.equal(text);
    }
  });

  it('does not remove a kubeconfig that the user has replaced', async () => {
    const own = await start();
    await writeFile(file('kubeconfig'), 'mine');
    own.stop();
    expect(await own.ended).to.include({ code: 0 });
    expect(await readFile(file('kubeconfig'), 'utf8')).to.equal('mine');
    await rm(file('kubeconfig'));
  });

  it('refuses objects other than CRDs, missing paths and ports in use', async () => {
    await writeFile(file('web.yaml'), stringify(web));
    const other = await cli(['apiserver', '--crds', file('web.yaml')]);
    expect(other).to.include({ code: 1 });
    expect(other.stderr).to.include('got a Deployment').and.include('apply it once');
    const none = await cli(['apiserver', '--crds', file('none')]);
    expect(none.stderr).to.include("none can't be read: there is no such file");
    const own = await start();
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(own.written().stdout) ?? [];
    const busy = await cli(['apiserver', '--port', port, '--kubeconfig', file('other')]);
    expect(busy).to.include({ code: 1 });
    expect(busy.stderr).to.include(`${port}: the port is in use (pass another --port`);
  });
});

import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { build } from 'esbuild';
import { promisify } from 'node:util';

/** Module of undici that the transport loads. */
const undici = 'undici/lib/dispatcher/pool.js';

const run = promisify(execFile);
const client = new URL('../../lib/client/index.ts', import.meta.url).href;
const transport = new URL('../../lib/system/undici-transport.ts', import.meta.url).href;

/** Runs JavaScript in a new process in which these packages cannot be loaded. */
async function without(packages: readonly string[], script: string): Promise<string> {
  const hook = `export async function resolve(specifier, context, next) {
    if (${JSON.stringify(packages)}.includes(specifier)) throw new Error('loaded ' + specifier);
    return next(specifier, context);
  }`;
  const url = `data:text/javascript,${encodeURIComponent(hook)}`;
  const text = `
    import { register } from 'node:module';
    register(${JSON.stringify(url)});
    ${script}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', text];
  return (await run(process.execPath, args)).stdout.trim();
}

/** Script that prints the namespace of a client, or the code and message of its error. */
function connecting(user: object): string {
  const text = JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: 'https://a' } }],
    users: [{ name: 'a', user }],
  });
  return `
    const { clientFromKubeConfig } = await import(${JSON.stringify(client)});
    await clientFromKubeConfig({ text: ${JSON.stringify(text)} }).then(
      ({ defaultNamespace }) => console.log(defaultNamespace),
      ({ code, message }) => console.log(code, message),
    );`;
}

describe('a process that imports the client', () => {
  it('loads undici only at the first request', async () => {
    const script = `
      const { UndiciTransport } = await import(${JSON.stringify(transport)});
      const transport = new UndiciTransport({ server: 'http://127.0.0.1:1' });
      const request = { method: 'GET', path: '/', headers: {} };
      await transport.request(request).catch((error) => console.log(error.message));`;
    expect(await without([undici], script)).to.contain(`loaded ${undici}`);
  });

  const users: readonly (readonly [title: string, user: object])[] = [
    ['a token', { token: 'abc' }],
    ['a password', { username: 'a', password: 'b' }],
    ['an exec plugin', { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'a' } }],
    ['no credentials', {}],
  ];
  for (const [title, user] of users) {
    it(`does not load client-node for a kubeconfig with ${title}`, async () => {
      expect(await without(['@kubernetes/client-node'], connecting(user))).to.equal('default');
    });
  }

  it('says how to solve it when an auth-provider needs client-node, which is not installed', async () => {
    const script = connecting({ 'auth-provider': { name: 'oidc', config: {} } });
    expect(await without(['@kubernetes/client-node'], script)).to.match(
      /^InvalidKubeConfig .*auth-provider oidc needs the package @kubernetes\/client-node.*\(use .*exec plugin, or install the package where the program can import it/,
    );
  });

  it('imports client-node in a way that bundlers do not follow', async () => {
    const { metafile } = await build({
      ...{ entryPoints: ['lib/client/index.ts'], bundle: true, platform: 'node', format: 'esm' },
      ...{ metafile: true, write: false, external: ['@opentelemetry/api'] },
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.some((path) => path.includes('node_modules/undici/'))).to.equal(true);
    expect(inputs.filter((path) => path.includes('@kubernetes'))).to.deep.equal([]);
  });
});
